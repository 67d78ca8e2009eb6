//! Picks an accepted and a violating example of each rule from `corpora/rules`, so that `foldproof rules` can show them
//! wherever the program runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../corpora/rules");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut best: BTreeMap<(String, bool), (u64, PathBuf)> = BTreeMap::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((rule, rest)) = name.split_once('.') else { continue };
        let accepts = rest.starts_with("accept-");
        // Files that pin which of two faults is reported explain less than their size promises.
        if !(accepts || rest.starts_with("violate-") && !rest.starts_with("violate-wins-over-")) {
            continue;
        }
        let size = entry.metadata().map_or(u64::MAX, |data| data.len());
        let found = (size, entry.path());
        best.entry((rule.to_owned(), accepts))
            .and_modify(|known| {
                if found < *known {
                    *known = found.clone();
                }
            })
            .or_insert(found);
    }
    let mut code = String::from("&[\n");
    for ((rule, accepts), (_, path)) in best {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.canonicalize().unwrap_or(path);
        let _ = writeln!(
            code,
            "Example {{ rule: {rule:?}, accepts: {accepts}, name: {name:?}, bytes: include_bytes!({:?}) }},",
            path.display().to_string()
        );
    }
    code.push(']');
    let out = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("examples.rs");
    if let Err(error) = fs::write(&out, code) {
        panic!("cannot write {}: {error}", out.display());
    }
}
