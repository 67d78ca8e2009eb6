//! Laws of packed and compressed logs (CODEC).

use super::{Applied, Context, Violation};
use crate::case::{Encoding, dumped};
use crate::systems::{Outcome, compare};

/// Whatever way a session is written, the same events are read.
pub(super) fn pack_roundtrip(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut chances = 0;
    for finale in &epilogue.sessions {
        let Some(plain) = epilogue.ok(finale.plain.dump) else { continue };
        let decoded = compare::decoded(dumped(plain).bytes(), Encoding::Plain);
        let ways = [(&finale.packed, Encoding::Plain, "CODEC-2"), (&finale.zstd, Encoding::Zstd, "CODEC-3")];
        for (way, encoding, rule) in ways {
            let wrong = |message: &str| Violation::new(finale.ended.last, rule, message);
            let Some(written) = epilogue.ok(way.dump) else { continue };
            chances += u64::from(written != plain);
            let read = compare::decoded(dumped(written).bytes(), encoding);
            if read != decoded {
                return Err(
                    wrong("a packed log holds other events than the plain one").between(decoded, read)
                );
            }
            if epilogue.ok(finale.plain.restore).is_none() {
                continue;
            }
            match &epilogue.trace.steps[way.restore].outcome {
                Outcome::Ok(_) => {}
                Outcome::NotSent { .. } => continue,
                refusal => {
                    let got = compare::show(epilogue.op(way.restore), refusal);
                    return Err(
                        wrong("a packed log does not load, the plain one does").between("loaded", got)
                    );
                }
            }
            if let Some(again) = epilogue.ok(way.again)
                && again != plain
            {
                return Err(wrong("unpack(pack(x)) is not x").between(plain, again));
            }
        }
    }
    Ok(Applied(chances))
}
