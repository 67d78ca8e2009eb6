//! See [`foldproof_fuzz::load_log`].
#![cfg_attr(fuzzing, no_main)]

foldproof_fuzz::target!(foldproof_fuzz::load_log);
