//! See [`foldproof_fuzz::json_bytes`].
#![cfg_attr(fuzzing, no_main)]

foldproof_fuzz::target!(foldproof_fuzz::json_bytes);
