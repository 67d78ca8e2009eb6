//! The log contract of an event-sourced agent session.
