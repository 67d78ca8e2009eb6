//! Number tokens: which are lossless, and how they print (JSON-1, JSON-2, JSON-3; ECMAScript Number-to-String).

use crate::rule::Rule;

/// What a number token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Its text is the canonical spelling.
    Canonical,
    /// Lossless in another spelling.
    Spelled,
    /// Not lossless: the rule broken.
    Lossy(Rule),
}

/// The largest integer that every double below it represents: 2^53 - 1.
pub const MAX_SAFE: i64 = 9_007_199_254_740_991;

/// The value of a run of 1 to 15 digits; nothing for any other token.
#[inline]
pub fn short(token: &[u8]) -> Option<u64> {
    match token.len() {
        1..=8 => eight(token),
        9..=15 => Some(eight(&token[..8])? * POWERS[token.len() - 8] + eight(&token[8..])?),
        _ => None,
    }
}

/// The same of the token between two offsets of a text.
#[inline]
pub(super) fn short_in(text: &[u8], at: usize, end: usize) -> Option<u64> {
    let last = |end: usize| text[..end].last_chunk::<8>().map(|word| u64::from_le_bytes(*word));
    match end - at {
        length @ 1..=8 if end >= 8 => value_of(kept(last(end)?, length)),
        length @ 9..=15 if end >= 16 => {
            let high = value_of(kept(last(end - 8)?, length - 8))?;
            Some(high * 100_000_000 + value_of(last(end)?)?)
        }
        _ => short(&text[at..end]),
    }
}

/// A word of which only the last `length` bytes of its text count; the others become zeros in front.
#[inline]
fn kept(word: u64, length: usize) -> u64 {
    let mask = u64::MAX << (8 * (8 - length));
    word & mask | ZEROS & !mask
}

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The value of a run of up to 8 digits: all of them at once in a word, neighbours joined to pairs, fours and eight.
#[inline]
fn eight(token: &[u8]) -> Option<u64> {
    let mut digits = [b'0'; 8];
    digits[8 - token.len()..].copy_from_slice(token);
    value_of(u64::from_le_bytes(digits))
}

const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The value of eight digits, the first in the lowest byte.
#[inline]
fn value_of(word: u64) -> Option<u64> {
    // A digit has a high half of 3, also when 6 is added; no byte carries into the next while the first holds.
    if word & HIGH != ZEROS || word.wrapping_add(0x0606_0606_0606_0606) & HIGH != ZEROS {
        return None;
    }
    let ones = word & !HIGH;
    let pairs = (ones.wrapping_mul(2561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(6_553_601) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(42_949_672_960_001) >> 32)
}

/// How many digits a text begins with.
#[inline]
pub(super) fn digits(text: &[u8]) -> usize {
    let mut count = 0;
    while let Some((word, _)) = text.get(count..).and_then(|rest| rest.split_first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let low = word & LOW;
        // The top bit of every byte that is no digit: above `9`, below `0`, or not ASCII.
        let above = low + 0x4646_4646_4646_4646;
        let below = !(low + 0x5050_5050_5050_5050);
        let others = (above | below | word) & !LOW;
        if others != 0 {
            return count + others.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    count + text[count..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Prints a number that is not negative.
pub fn print_int(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Classifies a token that follows the JSON grammar for numbers.
pub fn classify(token: &[u8]) -> Class {
    let negative = token.first() == Some(&b'-');
    let digits = if negative { &token[1..] } else { token };
    // Up to 15 digits every integer is a double and prints as itself.
    if digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) {
        return match (negative, digits == b"0") {
            (true, true) => Class::Lossy(Rule::Json2),
            _ => Class::Canonical,
        };
    }
    let value = to_double(token);
    if value.is_infinite() {
        return Class::Lossy(Rule::Json1);
    }
    let (mantissa, exponent) = decimal(digits);
    if mantissa.is_empty() {
        return if negative { Class::Lossy(Rule::Json2) } else { Class::Spelled };
    }
    if value == 0.0 {
        return Class::Lossy(Rule::Json3);
    }
    let mut buffer = ryu_js::Buffer::new();
    let shortest = buffer.format_finite(value).as_bytes();
    if shortest == token {
        return Class::Canonical;
    }
    let (other, power) = decimal(if negative { &shortest[1..] } else { shortest });
    if power == exponent && other.eq(&mantissa) { Class::Spelled } else { Class::Lossy(Rule::Json3) }
}

/// The nearest double of a token that follows the JSON grammar, as every parser in use takes it.
pub fn to_double(token: &[u8]) -> f64 {
    std::str::from_utf8(token).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// The token's value when it is a safe integer (ECMAScript `Number.isSafeInteger`); `1.0` and `-0` are.
pub fn safe_integer(token: &[u8]) -> Option<i64> {
    let negative = token.first() == Some(&b'-');
    let digits = if negative { &token[1..] } else { token };
    if !digits.is_empty() && digits.len() <= 15 {
        let mut value = 0i64;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return safe_double(to_double(token));
            }
            value = value * 10 + i64::from(digit - b'0');
        }
        return Some(if negative { -value } else { value });
    }
    safe_double(to_double(token))
}

fn safe_double(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= MAX_SAFE as f64).then_some(value as i64)
}

/// Prints a token in its canonical spelling; what has none prints as ECMAScript prints the double that a parser
/// makes of it (`1e400` is infinite and prints as `null`, `-0` prints as `0`).
pub fn print(token: &[u8], out: &mut Vec<u8>) {
    if classify(token) == Class::Canonical {
        out.extend_from_slice(token);
        return;
    }
    let value = to_double(token);
    if value == 0.0 {
        out.push(b'0');
    } else if value.is_finite() {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// The token without sign as digits without leading or trailing zeros, and the power of ten of the last digit.
/// Zero has no digits.
fn decimal(token: &[u8]) -> (Vec<u8>, i64) {
    let (number, exponent) = match token.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&token[..at], power(&token[at + 1..])),
        None => (token, 0),
    };
    let (whole, fraction) = match number.iter().position(|&byte| byte == b'.') {
        Some(at) => (&number[..at], &number[at + 1..]),
        None => (number, &number[..0]),
    };
    let mut digits: Vec<u8> =
        whole.iter().chain(fraction).copied().skip_while(|&digit| digit == b'0').collect();
    let mut exponent = exponent - fraction.len() as i64;
    while digits.last() == Some(&b'0') {
        digits.pop();
        exponent += 1;
    }
    if digits.is_empty() { (digits, 0) } else { (digits, exponent) }
}

/// An exponent's digits; saturates far beyond what a line's length could make up for.
fn power(token: &[u8]) -> i64 {
    let (negative, digits) = match token.first() {
        Some(b'-') => (true, &token[1..]),
        Some(b'+') => (false, &token[1..]),
        _ => (false, token),
    };
    let value = digits.iter().fold(0i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(1 << 50));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_the_contract() {
        for token in
            ["0", "-1", "100000000000000000000", "1e+21", "5e-324", "0.1", "1e-7", "9007199254740992"]
        {
            assert_eq!(classify(token.as_bytes()), Class::Canonical, "{token}");
        }
        for token in ["1.0", "1e3", "1E21", "1e21", "0.10", "0.0", "0e99999999999999999999", "10e-1", "1e-07"]
        {
            assert_eq!(classify(token.as_bytes()), Class::Spelled, "{token}");
        }
        for (token, rule) in [
            ("1e400", Rule::Json1),
            ("-1e99999999999999999999999", Rule::Json1),
            ("-0", Rule::Json2),
            ("-0.0", Rule::Json2),
            ("-0e5", Rule::Json2),
            ("9007199254740993", Rule::Json3),
            ("0.1000000000000000055", Rule::Json3),
            ("1e-400", Rule::Json3),
            ("-1e-400", Rule::Json3),
            ("5e-325", Rule::Json3),
        ] {
            assert_eq!(classify(token.as_bytes()), Class::Lossy(rule), "{token}");
        }
    }

    #[test]
    fn printing_follows_ecmascript() {
        for (token, want) in [
            ("1e21", "1e+21"),
            ("1.0", "1"),
            ("1e400", "null"),
            ("-0.0", "0"),
            ("123456789012345680000", "123456789012345680000"),
            ("0.0000001", "1e-7"),
            ("9007199254740993", "9007199254740992"),
        ] {
            let mut out = Vec::new();
            print(token.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn digits_at_once_are_what_they_are_one_by_one() {
        let mut state = 7u64;
        for round in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let length = (state >> 59) as usize % 20;
            let mut token: Vec<u8> =
                (0..length).map(|at| b'0' + (state >> (at * 3 + 2)) as u8 % 10).collect();
            if round % 3 == 0 && length > 0 {
                token[(state >> 33) as usize % length] = (state >> 40) as u8;
            }
            let plain = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
            assert_eq!(digits(&token), plain, "{token:?}");
            let text =
                std::str::from_utf8(&token).ok().filter(|_| plain == length && (1..=15).contains(&length));
            assert_eq!(short(&token), text.and_then(|text| text.parse().ok()), "{token:?}");
            for before in [0, 1, 3, 7, 8, 20] {
                let line = [&b"0987654321,\":{}123456"[..before], &token, b",5"].concat();
                assert_eq!(
                    short_in(&line, before, before + length),
                    short(&token),
                    "{token:?} behind {before}"
                );
            }
        }
        for byte in 0..=255u8 {
            let text = [b'1', byte, b'3', b'4', b'5', b'6', b'7', b'8', b'9'];
            let want = if byte.is_ascii_digit() { 9 } else { 1 };
            assert_eq!(digits(&text), want, "{byte:#x}");
            assert_eq!(short(&text).is_some(), byte.is_ascii_digit(), "{byte:#x}");
        }
    }

    #[test]
    fn integers_print_as_they_do_elsewhere() {
        for value in [0, 1, 9, 10, 99, 100, 1_787_000_000_000, u64::MAX] {
            let mut out = vec![];
            print_int(value, &mut out);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }

    #[test]
    fn safe_integers() {
        assert_eq!(safe_integer(b"9007199254740991"), Some(MAX_SAFE));
        assert_eq!(safe_integer(b"9007199254740992"), None);
        assert_eq!(safe_integer(b"1.0"), Some(1));
        assert_eq!(safe_integer(b"-0"), Some(0));
        assert_eq!(safe_integer(b"1.5"), None);
        assert_eq!(safe_integer(b"1e400"), None);
    }
}
