//! Where two events differ.

use foldproof::json::{Kind, Str, Value};

/// Levels of a value that a path names; what lies deeper is within it.
const LEVELS: usize = 32;

/// The path to the first value that differs between two events in canonical form; nothing when none does. `times`: the time
/// of the event counts too.
pub(super) fn path(a: Value<'_>, b: Value<'_>, times: bool) -> Option<String> {
    let (mut x, mut y) = (a, b);
    let mut path = String::new();
    for level in 0..LEVELS {
        if x.kind() != y.kind() {
            break;
        }
        // What both have at this level, up to the first that differs.
        let (name, next) = match x.kind() {
            Kind::Object => {
                let counts = |(name, _): &(Str<'_>, Value<'_>)| level > 0 || times || !name.is("time");
                let (mut ours, mut theirs) = (x.members().filter(counts), y.members().filter(counts));
                loop {
                    match (ours.next(), theirs.next()) {
                        (None, None) if level == 0 => return None,
                        (None, None) => return Some(path),
                        (Some((name, p)), Some((other, q))) if name.raw() == other.raw() => {
                            if p.bytes() != q.bytes() {
                                break (name.display(), Some((p, q)));
                            }
                        }
                        (our, their) => {
                            let name = our.or(their).map_or(String::new(), |(name, _)| name.display());
                            break (name, None);
                        }
                    }
                }
            }
            Kind::Array => {
                let (mut ours, mut theirs) = (x.elements(), y.elements());
                let mut place = 0;
                loop {
                    match (ours.next(), theirs.next()) {
                        (None, None) => return Some(path),
                        (Some(p), Some(q)) if p.bytes() == q.bytes() => place += 1,
                        (p, q) => break (place.to_string(), p.zip(q)),
                    }
                }
            }
            _ => break,
        };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&name);
        match next {
            Some((p, q)) => (x, y) = (p, q),
            None => break,
        }
    }
    Some(path)
}
