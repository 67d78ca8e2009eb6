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
    fn safe_integers() {
        assert_eq!(safe_integer(b"9007199254740991"), Some(MAX_SAFE));
        assert_eq!(safe_integer(b"9007199254740992"), None);
        assert_eq!(safe_integer(b"1.0"), Some(1));
        assert_eq!(safe_integer(b"-0"), Some(0));
        assert_eq!(safe_integer(b"1.5"), None);
        assert_eq!(safe_integer(b"1e400"), None);
    }
}
