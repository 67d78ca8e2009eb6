//! One change to a request, as text.

use super::op::Tampering;
use foldproof::json::{Kind, Scanner, Value, print};

/// A request with one change. What cannot be changed that way comes back as it is.
///
/// ```
/// use foldproof_harness::case::{Tampering, tamper};
/// let request = br#"{"model":"m","messages":[1,2]}"#;
/// assert_eq!(tamper(request, Tampering::SwapMessages(0)), br#"{"model":"m","messages":[2,1]}"#);
/// assert_eq!(tamper(request, Tampering::RemoveMember(2)), br#"{"messages":[1,2]}"#);
/// assert_eq!(tamper(b"null", Tampering::RemoveMember(0)), b"null");
/// ```
pub fn tamper(request: &[u8], how: Tampering) -> Vec<u8> {
    let mut scanner = Scanner::new(u64::MAX);
    let scan = std::str::from_utf8(request).ok().and_then(|text| scanner.scan(text.as_bytes()).ok());
    let Some(root) = scan.map(|scan| scan.root()).filter(|root| root.is_object()) else {
        return request.to_vec();
    };
    let mut members: Vec<(Vec<u8>, Vec<u8>)> =
        root.members().map(|(key, value)| (key.canonical().into_owned(), canonical(value))).collect();
    if change(&mut members, root, how).is_none() {
        return request.to_vec();
    }
    let parts: Vec<Vec<u8>> =
        members.into_iter().map(|(key, value)| [b"\"", &key[..], b"\":", &value[..]].concat()).collect();
    [b"{", &parts.join(&b',')[..], b"}"].concat()
}

fn canonical(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    print::canonical(value, &mut out);
    out
}

/// The place that a number names among so many; nothing among none.
fn place(at: u64, count: usize) -> Option<usize> {
    at.checked_rem(count as u64).map(|place| place as usize)
}

fn change(members: &mut Vec<(Vec<u8>, Vec<u8>)>, root: Value<'_>, how: Tampering) -> Option<()> {
    match how {
        Tampering::None => None,
        Tampering::ChangeMember(at) => {
            let place = place(at, members.len()).filter(|place| members[*place].0 != b"messages")?;
            members[place].1 = other(&members[place].1);
            Some(())
        }
        Tampering::RemoveMember(at) => {
            members.remove(place(at, members.len())?);
            Some(())
        }
        Tampering::AddMember(at) => {
            let mut name = b"added".to_vec();
            while members.iter().any(|(known, _)| *known == name) {
                name.push(b'+');
            }
            members.insert(place(at, members.len() + 1)?, (name, b"null".to_vec()));
            Some(())
        }
        Tampering::MoveMember(at) => {
            let first = place(at, members.len().checked_sub(1)?)?;
            members.swap(first, first + 1);
            Some(())
        }
        Tampering::RenameMember(at) => {
            let place = place(at, members.len())?;
            let mut name = members[place].0.clone();
            while members.iter().any(|(known, _)| *known == name) {
                name.push(b'_');
            }
            members[place].0 = name;
            Some(())
        }
        Tampering::ChangeMessage(at, _)
        | Tampering::DropMessage(at)
        | Tampering::DoubleMessage(at)
        | Tampering::SwapMessages(at) => {
            let messages = root.get("messages").filter(|messages| messages.kind() == Kind::Array)?;
            let mut list: Vec<Vec<u8>> = messages.elements().map(canonical).collect();
            change_list(&mut list, at, how)?;
            let member = members.iter_mut().rev().find(|(name, _)| name == b"messages")?;
            member.1 = [b"[", &list.join(&b',')[..], b"]"].concat();
            Some(())
        }
    }
}

fn change_list(list: &mut Vec<Vec<u8>>, at: u64, how: Tampering) -> Option<()> {
    match how {
        Tampering::ChangeMessage(_, byte) => {
            let place = place(at, list.len())?;
            flip(&mut list[place], byte)
        }
        Tampering::DropMessage(_) => {
            list.remove(place(at, list.len())?);
            Some(())
        }
        Tampering::DoubleMessage(_) => {
            let place = place(at, list.len())?;
            list.insert(place, list[place].clone());
            Some(())
        }
        Tampering::SwapMessages(_) => {
            let first = place(at, list.len().checked_sub(1)?)?;
            list.swap(first, first + 1);
            Some(())
        }
        _ => None,
    }
}

/// Another value.
fn other(value: &[u8]) -> Vec<u8> {
    match value {
        [b'"', ..] => [&value[..value.len() - 1], b"'\""].concat(),
        b"true" => b"false".to_vec(),
        b"0" => b"1".to_vec(),
        _ => b"0".to_vec(),
    }
}

/// Exchanges one letter or digit, so that the text stays JSON but another value.
///
/// Only letters behind no backslash count, and not those of `true`, `false`, `null`: a name or text is changed.
fn flip(text: &mut [u8], byte: u64) -> Option<()> {
    let mut places = vec![];
    let (mut inside, mut escaped) = (false, 0);
    for (at, byte) in text.iter().enumerate() {
        match (inside, byte) {
            _ if escaped > 0 => escaped -= 1,
            (true, b'\\') => escaped = if text.get(at + 1) == Some(&b'u') { 5 } else { 1 },
            (_, b'"') => inside = !inside,
            (true, letter) if letter.is_ascii_alphanumeric() => places.push(at),
            _ => {}
        }
    }
    let at = places[place(byte, places.len())?];
    text[at] = match text[at] {
        b'z' => b'a',
        b'Z' => b'A',
        b'9' => b'0',
        byte => byte + 1,
    };
    Some(())
}
