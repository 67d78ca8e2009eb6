//! What a campaign counted, and its JSON. Counts only, in the order of the interface; nothing in it depends on the
//! clock, the machine or the number of jobs.

use crate::campaign::{Budget, Plan};
use crate::properties::TABLE;
use foldproof::json::text::quote;
use std::collections::BTreeMap;

/// Why a campaign stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All cases ran.
    Cases,
    /// The time was up.
    Time,
    /// A person asked to.
    Interrupt,
    /// There were enough failures.
    Failures,
}

impl Stopped {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::Cases => "cases",
            Stopped::Time => "time",
            Stopped::Interrupt => "interrupt",
            Stopped::Failures => "failures",
        }
    }
}

/// How a property stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It never had a chance.
    Skipped,
    /// It held.
    Passed,
    /// Something was refused under another rule than it should.
    RefusedOtherwise,
    /// It was falsified.
    Failed,
}

impl Outcome {
    /// The stronger of both.
    #[must_use]
    pub fn and(self, other: Outcome) -> Outcome {
        self.max(other)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Skipped => "skipped",
            Outcome::Passed => "passed",
            Outcome::RefusedOtherwise => "refused-otherwise",
            Outcome::Failed => "failed",
        }
    }

    /// The outcome with this name.
    pub fn from_name(name: &str) -> Option<Outcome> {
        let all = [Outcome::Skipped, Outcome::Passed, Outcome::RefusedOtherwise, Outcome::Failed];
        all.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// One failure, told apart from others by property and rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The case's number.
    pub index: u64,
    /// The rule.
    pub rule: String,
    /// Where the case is saved.
    pub case: String,
    /// Ops that remain.
    pub size: u64,
    /// Cases run to shrink it.
    pub shrinks: u64,
    /// Whether a person stopped the shrinking.
    pub interrupted: bool,
    /// What is wrong.
    pub message: String,
}

/// One property, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its id.
    pub id: String,
    /// Cases in which it had a chance.
    pub cases: u64,
    /// How it stands.
    pub status: Outcome,
    /// Its failures, in case order.
    pub failures: Vec<Failure>,
}

/// What a campaign counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The campaign's seed.
    pub seed: String,
    /// Name and version of the system.
    pub system: (String, String),
    /// The dialect.
    pub dialect: String,
    /// What was asked for, as a JSON object.
    pub options: String,
    /// Which of how many parts.
    pub shard: (u64, u64),
    /// Cases that ran.
    pub cases: u64,
    /// Cases that were generated out of domain: none, since cases are valid by construction.
    pub discarded: u64,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Saved cases: how many ran, how many failed.
    pub replayed: (u64, u64),
    /// The properties, in table order.
    pub properties: Vec<Counted>,
    /// How many cases have each label.
    pub labels: BTreeMap<String, u64>,
    /// How many cases broke each rule on purpose.
    pub rules: BTreeMap<String, u64>,
}

impl Results {
    /// Nothing counted yet.
    pub fn new(plan: &Plan) -> Results {
        let system = plan.kind.make();
        let asked = |id: &&str| plan.properties.is_empty() || plan.properties.iter().any(|asked| asked == id);
        let properties = TABLE.iter().map(|property| property.id).filter(asked).map(|id| Counted {
            id: id.to_owned(),
            cases: 0,
            status: Outcome::Skipped,
            failures: vec![],
        });
        let labels = crate::properties::LABELS.iter().map(|label| ((*label).to_owned(), 0)).collect();
        Results {
            seed: plan.seed.to_string(),
            system: (system.name(), system.version()),
            dialect: "dsh-v0".to_owned(),
            options: options(plan),
            shard: plan.shard,
            cases: 0,
            discarded: 0,
            stopped: Stopped::Cases,
            replayed: (0, 0),
            properties: properties.collect(),
            labels,
            rules: BTreeMap::new(),
        }
    }

    /// The entry of a property.
    pub fn property(&mut self, id: &str) -> &mut Counted {
        let place = self.properties.iter().position(|counted| counted.id == id).unwrap_or_else(|| {
            let fresh = Counted { id: id.to_owned(), cases: 0, status: Outcome::Skipped, failures: vec![] };
            self.properties.push(fresh);
            self.properties.len() - 1
        });
        let counted = &mut self.properties[place];
        counted.status = counted.status.and(Outcome::Passed);
        counted
    }

    /// Keeps a failure.
    pub fn failed(&mut self, id: &str, failure: Failure) {
        self.property(id).failures.push(failure);
    }

    /// All failures with their property, in table order.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Failure)> {
        self.properties
            .iter()
            .flat_map(|counted| counted.failures.iter().map(|failure| (counted.id.as_str(), failure)))
    }

    /// The stable JSON.
    pub fn to_json(&self) -> String {
        let mut out = b"{\"foldproof\":1,\"contract\":1,\"seed\":".to_vec();
        quote(&self.seed, &mut out);
        out.extend_from_slice(b",\"system\":{\"name\":");
        quote(&self.system.0, &mut out);
        out.extend_from_slice(b",\"version\":");
        quote(&self.system.1, &mut out);
        out.extend_from_slice(b"},\"dialect\":");
        quote(&self.dialect, &mut out);
        let (shard, replayed) = (self.shard, self.replayed);
        out.extend_from_slice(
            format!(
                ",\"options\":{},\"shard\":[{},{}],\"cases\":{},\"discarded\":{},\"stopped\":\"{}\",\
                 \"replayed\":{{\"run\":{},\"failed\":{}}},\"properties\":[",
                self.options,
                shard.0,
                shard.1,
                self.cases,
                self.discarded,
                self.stopped.name(),
                replayed.0,
                replayed.1
            )
            .as_bytes(),
        );
        for (place, counted) in self.properties.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            counted.print(&mut out);
        }
        out.push(b']');
        for (name, counts) in [("labels", &self.labels), ("rules", &self.rules)] {
            out.extend_from_slice(format!(",\"{name}\":{{").as_bytes());
            for (place, (key, count)) in counts.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                quote(key, &mut out);
                out.extend_from_slice(format!(":{count}").as_bytes());
            }
            out.push(b'}');
        }
        out.push(b'}');
        // Everything in it is text or was quoted as text.
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Counted {
    fn print(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        quote(&self.id, out);
        let head = format!(",\"cases\":{},\"status\":\"{}\",\"failures\":[", self.cases, self.status.name());
        out.extend_from_slice(head.as_bytes());
        for (place, failure) in self.failures.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(format!("{{\"index\":{},\"rule\":", failure.index).as_bytes());
            quote(&failure.rule, out);
            out.extend_from_slice(b",\"case\":");
            quote(&failure.case, out);
            let counts = format!(",\"size\":{},\"shrinks\":{},\"message\":", failure.size, failure.shrinks);
            out.extend_from_slice(counts.as_bytes());
            quote(&failure.message, out);
            if failure.interrupted {
                out.extend_from_slice(b",\"interrupted\":true");
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
}

/// What was asked for. The number of jobs is not in it, because nothing depends on it.
fn options(plan: &Plan) -> String {
    let budget = match plan.budget {
        Budget::Cases(cases) => format!("\"cases\":{cases}"),
        Budget::Time(time) => format!("\"seconds\":{}", time.as_secs()),
    };
    let mut out = format!(
        "{{{budget},\"maxSize\":{},\"maxFailures\":{},\"maxShrinks\":{},\"from\":{},\"properties\":[",
        plan.max_size,
        plan.max_failures,
        plan.max_shrinks,
        plan.from.len()
    )
    .into_bytes();
    for (place, id) in plan.properties.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        quote(id, &mut out);
    }
    out.extend_from_slice(b"]}");
    String::from_utf8(out).unwrap_or_default()
}
