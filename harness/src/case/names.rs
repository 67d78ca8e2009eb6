//! The names that the adapter protocol and case files have for things.

use super::op::{Behaviour, Encoding, Mutation, Tampering};

impl Encoding {
    /// The name in the adapter protocol.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Plain => "plain",
            Encoding::Zstd => "zstd",
        }
    }
}

impl Behaviour {
    /// The name in the adapter protocol.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::Record => "record",
            Behaviour::Throw => "throw",
            Behaviour::Reenter => "reenter",
        }
    }
}

impl Mutation {
    /// The name in the adapter protocol.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::Input => "input",
            Mutation::Events => "events",
            Mutation::Messages => "messages",
        }
    }
}

impl Tampering {
    /// The name, the place and the byte, as a case file has them.
    pub fn parts(self) -> (&'static str, Option<u64>, Option<u64>) {
        match self {
            Tampering::None => ("none", None, None),
            Tampering::ChangeMember(at) => ("change-member", Some(at), None),
            Tampering::RemoveMember(at) => ("remove-member", Some(at), None),
            Tampering::AddMember(at) => ("add-member", Some(at), None),
            Tampering::MoveMember(at) => ("move-member", Some(at), None),
            Tampering::RenameMember(at) => ("rename-member", Some(at), None),
            Tampering::ChangeMessage(at, byte) => ("change-message", Some(at), Some(byte)),
            Tampering::DropMessage(at) => ("drop-message", Some(at), None),
            Tampering::DoubleMessage(at) => ("double-message", Some(at), None),
            Tampering::SwapMessages(at) => ("swap-messages", Some(at), None),
        }
    }

    /// From its parts; nothing when the name is not known or a part is missing or too many.
    pub fn from_parts(name: &str, at: Option<u64>, byte: Option<u64>) -> Option<Tampering> {
        let how = match (name, at) {
            ("none", None) => Tampering::None,
            ("change-member", Some(at)) => Tampering::ChangeMember(at),
            ("remove-member", Some(at)) => Tampering::RemoveMember(at),
            ("add-member", Some(at)) => Tampering::AddMember(at),
            ("move-member", Some(at)) => Tampering::MoveMember(at),
            ("rename-member", Some(at)) => Tampering::RenameMember(at),
            ("change-message", Some(at)) => Tampering::ChangeMessage(at, byte?),
            ("drop-message", Some(at)) => Tampering::DropMessage(at),
            ("double-message", Some(at)) => Tampering::DoubleMessage(at),
            ("swap-messages", Some(at)) => Tampering::SwapMessages(at),
            _ => return None,
        };
        (how.parts() == (how.parts().0, at, byte)).then_some(how)
    }
}
