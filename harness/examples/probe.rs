use foldproof_harness::generators::{bytes, swarm::Bounds};
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::seed::Seed;
use foldproof_harness::systems::{Core, Model, System};
use std::time::Instant;
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let seed = Seed(std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(1));
    let t = Instant::now();
    let cases: Vec<_> = (0..n).map(|k| bytes::from_seed(seed.of_case(k), Bounds { size: 5 + (k % 50) as usize, faults: true })).collect();
    println!("generate {:?} a case", t.elapsed() / n as u32);
    let mut sizes: Vec<usize> = cases.iter().map(|c| c.ops.len()).collect();
    sizes.sort();
    println!("median {} max {}", sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    let t = Instant::now();
    for c in &cases { Core.run(c); }
    println!("core {:?} a case", t.elapsed() / n as u32);
    let t = Instant::now();
    for c in &cases { Model.run(c); }
    println!("model {:?} a case", t.elapsed() / n as u32);
    let t = Instant::now();
    let mut shown = std::collections::BTreeMap::new();
    for (k, c) in cases.iter().enumerate() {
        let j = runner::run(c, &mut Core, Asked::Campaign { index: k as u64 });
        if let Some((p, v)) = j.violation {
            let e = shown.entry((p.id, v.rule)).or_insert(0);
            *e += 1;
            if *e == 1 { println!("case {k} {} {} op {} {}\n exp {:.600}\n got {:.600}", p.id, v.rule, v.op, v.message, v.expected, v.got); }
        }
    }
    println!("judge {:?} a case; {shown:?}", t.elapsed() / n as u32);
}
