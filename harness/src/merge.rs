//! Results of shards, read back and added up.

use crate::result::{Counted, Failure, Outcome, Results, Stopped};
use foldproof::json::{Scanner, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Why results cannot be added up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The text is no result of a campaign.
    #[error("not the result of a campaign: {0}")]
    Shape(String),
    /// The results are of different campaigns.
    #[error("the results differ in {0}: they are not shards of one campaign")]
    Differ(&'static str),
    /// A shard is there twice.
    #[error("shard {0} is there twice")]
    Twice(u64),
    /// There is nothing to add up.
    #[error("there is no result")]
    Nothing,
}

fn text(value: Option<Value<'_>>) -> Option<String> {
    let value = value?.as_str()?;
    let units: Vec<u16> = value.units().collect();
    Some(String::from_utf16_lossy(&units))
}

fn counts(value: Option<Value<'_>>) -> Option<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for (key, count) in value?.members() {
        let units: Vec<u16> = key.units().collect();
        counts.insert(String::from_utf16_lossy(&units), count.as_uint()?);
    }
    Some(counts)
}

/// Reads the JSON of a result.
pub fn read(json: &str) -> Result<Results, MergeError> {
    let mut scanner = Scanner::new(64);
    let scan = scanner.scan(json.trim_end().as_bytes());
    let scan = scan.map_err(|_| MergeError::Shape("not JSON".to_owned()))?;
    let root = scan.root();
    for version in ["foldproof", "contract"] {
        let number = root.get(version).and_then(Value::as_uint);
        if number != Some(1) {
            let found = number.map_or("nothing".to_owned(), |number| number.to_string());
            return Err(MergeError::Shape(format!("{version} is {found}, this build reads 1")));
        }
    }
    whole(root).ok_or_else(|| MergeError::Shape("a member is missing or of another kind".to_owned()))
}

fn whole(root: Value<'_>) -> Option<Results> {
    let number = |path: &[&str]| root.path(path).and_then(Value::as_uint);
    let shard: Vec<u64> = root.get("shard")?.elements().filter_map(Value::as_uint).collect();
    let stopped = text(root.get("stopped"))?;
    let all = [Stopped::Cases, Stopped::Time, Stopped::Interrupt, Stopped::Failures];
    Some(Results {
        seed: text(root.get("seed"))?,
        system: (text(root.path(&["system", "name"]))?, text(root.path(&["system", "version"]))?),
        dialect: text(root.get("dialect"))?,
        options: String::from_utf8(root.get("options")?.bytes().to_vec()).ok()?,
        shard: match shard[..] {
            [shard, shards] if shard < shards => (shard, shards),
            _ => return None,
        },
        cases: number(&["cases"])?,
        discarded: number(&["discarded"])?,
        stopped: all.into_iter().find(|reason| reason.name() == stopped)?,
        replayed: (number(&["replayed", "run"])?, number(&["replayed", "failed"])?),
        properties: root.get("properties")?.elements().map(counted).collect::<Option<_>>()?,
        labels: counts(root.get("labels"))?,
        rules: counts(root.get("rules"))?,
    })
}

fn counted(value: Value<'_>) -> Option<Counted> {
    let failure = |value: Value<'_>| {
        Some(Failure {
            index: value.get("index")?.as_uint()?,
            rule: text(value.get("rule"))?,
            case: text(value.get("case"))?,
            size: value.get("size")?.as_uint()?,
            shrinks: value.get("shrinks")?.as_uint()?,
            interrupted: value.get("interrupted").is_some_and(Value::is_true),
            message: text(value.get("message"))?,
        })
    };
    Some(Counted {
        id: text(value.get("id"))?,
        cases: value.get("cases")?.as_uint()?,
        status: Outcome::from_name(&text(value.get("status"))?)?,
        failures: value.get("failures")?.elements().map(failure).collect::<Option<_>>()?,
    })
}

/// Adds up the results of shards of one campaign.
pub fn merge(results: Vec<Results>) -> Result<Results, MergeError> {
    let mut rest = results.into_iter();
    let mut sum = rest.next().ok_or(MergeError::Nothing)?;
    let mut shards = BTreeSet::from([sum.shard.0]);
    for other in rest {
        let differences = [
            ("seed", sum.seed != other.seed),
            ("system", sum.system != other.system),
            ("dialect", sum.dialect != other.dialect),
            ("options", sum.options != other.options),
            ("shard count", sum.shard.1 != other.shard.1),
        ];
        if let Some((what, _)) = differences.iter().find(|(_, differs)| *differs) {
            return Err(MergeError::Differ(what));
        }
        if !shards.insert(other.shard.0) {
            return Err(MergeError::Twice(other.shard.0));
        }
        add(&mut sum, other);
    }
    let complete = shards.len() as u64 == sum.shard.1;
    sum.shard = if complete { (0, 1) } else { (shards.first().copied().unwrap_or(0), sum.shard.1) };
    Ok(sum)
}

fn add(sum: &mut Results, other: Results) {
    sum.cases += other.cases;
    sum.discarded += other.discarded;
    // Every shard replays the same saved cases, so they are counted once.
    sum.replayed = (sum.replayed.0.max(other.replayed.0), sum.replayed.1.max(other.replayed.1));
    let rank = |stopped: Stopped| match stopped {
        Stopped::Cases => 0,
        Stopped::Time => 1,
        Stopped::Failures => 2,
        Stopped::Interrupt => 3,
    };
    if rank(other.stopped) > rank(sum.stopped) {
        sum.stopped = other.stopped;
    }
    for counted in other.properties {
        let Some(own) = sum.properties.iter_mut().find(|own| own.id == counted.id) else {
            sum.properties.push(counted);
            continue;
        };
        own.cases += counted.cases;
        own.status = own.status.and(counted.status);
        own.failures.extend(counted.failures);
        own.failures.sort_by_key(|failure| failure.index);
        // The same failure found by several shards is the one with the lowest number.
        let mut rules = BTreeSet::new();
        own.failures.retain(|failure| rules.insert(failure.rule.clone()));
    }
    for (into, from) in [(&mut sum.labels, other.labels), (&mut sum.rules, other.rules)] {
        for (key, count) in from {
            *into.entry(key).or_default() += count;
        }
    }
}
