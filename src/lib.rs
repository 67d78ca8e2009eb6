//! The log contract of an event-sourced agent session.

pub mod admit;
pub mod check;
pub mod codec;
pub mod dialect;
pub mod event;
pub mod finding;
pub mod json;
pub mod limits;
pub mod log;
pub mod projection;
pub mod relation;
pub mod repair;
pub mod request;
pub mod rule;
pub mod session;
pub mod shape;
pub mod surface;
