//! Numbers: what a token is worth, how a double is spelled, what is lost (JSON-1, JSON-2, JSON-3).

/// A decimal number, exactly: 0.DIGITS times ten to the exponent; no digits mean zero.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

fn decimal(token: &str) -> Decimal {
    let negative = token.starts_with('-');
    let token = token.trim_start_matches('-');
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // An exponent of more than 38 digits is far outside of every double, whatever the mantissa is.
    let far = if exponent.starts_with('-') { -i128::from(u64::MAX) } else { i128::from(u64::MAX) };
    let exponent = exponent.parse::<i128>().map_or(far, |value| value.clamp(-far.abs(), far.abs()));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0').to_owned();
    let exponent = if digits.is_empty() { 0 } else { exponent + whole.len() as i128 - leading as i128 };
    Decimal { negative, digits, exponent }
}

/// Whether a token is a natural number so short that nothing can be lost. Nearly all are, and they cost least.
fn is_short(token: &str) -> bool {
    token.len() <= 15 && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// The nearest double. The exponent is made small first, because the standard library stops counting long ones.
pub(crate) fn double(token: &str) -> f64 {
    if is_short(token) {
        return token.parse().expect("digits are a number");
    }
    let Decimal { negative, digits, exponent } = decimal(token);
    let size = match exponent {
        _ if digits.is_empty() => 0.0,
        400.. => f64::INFINITY,
        ..=-400 => 0.0,
        _ => {
            format!("0.{digits}e{exponent}").parse().expect("this is how the standard library spells numbers")
        }
    };
    if negative { -size } else { size }
}

/// ECMAScript Number-to-String, as `JSON.stringify` uses it: an infinite number prints as `null`.
pub(crate) fn spelling(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if !number.is_finite() {
        return "null".to_owned();
    }
    ryu_js::Buffer::new().format(number).to_owned()
}

/// JSON-1, JSON-2, JSON-3: what a number token loses.
pub(crate) fn fault(token: &str) -> Option<&'static str> {
    if is_short(token) {
        return None;
    }
    let exact = decimal(token);
    let number = double(token);
    if exact.digits.is_empty() {
        return exact.negative.then_some("JSON-2");
    }
    if number.is_infinite() {
        return Some("JSON-1");
    }
    (number == 0.0 || decimal(&spelling(number)) != exact).then_some("JSON-3")
}
