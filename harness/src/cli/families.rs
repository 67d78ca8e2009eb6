//! How the logs of one run belong together: which was forked from which, and what of that cannot be.
//!
//! What a child's content shows is a finding (FORK-3, FORK-4). What only headers show of other files is a warning: no
//! rule of the contract is about a set of files, so verdicts and exit codes do not depend on what else lies in a folder.

use super::header::{Kin, read};
use super::render::clean;
use super::walk::Log;
use foldproof::limits::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Warnings of one kind that are printed in full.
const SHOWN: usize = 5;

/// A child and the parent that it was forked from, by their places in the list of logs.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The parent's place.
    pub parent: usize,
    /// The child's header.
    pub child: Kin,
    /// The parent's header.
    pub origin: Kin,
}

/// The headers of logs, as far as they can be read, and which log carries which id.
#[derive(Debug, Default)]
pub struct Families {
    kin: Vec<Option<Kin>>,
    /// The places of an id's logs; the same file under two names is one log.
    by_id: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl Families {
    /// Reads the headers; of a single log there is nothing to compare.
    pub fn new(logs: &[Log], limits: Limits) -> Families {
        if logs.len() < 2 {
            return Families::default();
        }
        let kin: Vec<Option<Kin>> = logs.iter().map(|log| read(log, limits)).collect();
        let mut by_id: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (place, kin) in kin.iter().enumerate() {
            let Some(kin) = kin else { continue };
            let places = by_id.entry(kin.id.clone()).or_default();
            if !places.iter().any(|known| canonical(&logs[*known]) == canonical(&logs[place])) {
                places.push(place);
            }
        }
        Families { kin, by_id }
    }

    /// The log with this id, where there is one and no more.
    fn only(&self, id: &[u8]) -> Option<usize> {
        match self.by_id.get(id)?[..] {
            [place] => Some(place),
            _ => None,
        }
    }

    /// The place of a log's parent, where that is known.
    fn parent(&self, place: usize) -> Option<usize> {
        self.only(self.kin.get(place)?.as_ref()?.parent.as_deref()?)
    }

    /// The forks whose parent is there too, by the child's place. A parent whose id is not unique is not compared with,
    /// and a spawned subagent, which has no `seedLength`, is no fork.
    pub fn forks(&self) -> BTreeMap<usize, Fork> {
        let fork = |(place, kin): (usize, &Option<Kin>)| {
            let child = kin.as_ref().filter(|kin| kin.inherited.is_some())?;
            let parent = self.parent(place).filter(|parent| *parent != place)?;
            Some((place, Fork { parent, child: child.clone(), origin: self.kin[parent].clone()? }))
        };
        self.kin.iter().enumerate().filter_map(fork).collect()
    }

    /// What cannot be, one sentence each: an id that two logs of one folder carry, and logs that descend from
    /// themselves. With `notes` also children whose parent is not there.
    pub fn warnings(&self, logs: &[Log], notes: bool) -> Vec<String> {
        let mut warnings =
            shown(self.doubles(logs), "session ids that more than one log of a folder carries");
        warnings.extend(shown(self.cycles(logs), "circles of parents"));
        if notes {
            warnings.extend(shown(self.orphans(logs), "logs whose parent is not there"));
        }
        warnings
    }

    fn doubles(&self, logs: &[Log]) -> Vec<String> {
        let mut told = vec![];
        for (id, places) in self.by_id.iter().filter(|(_, places)| places.len() > 1) {
            let mut folders: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
            for place in places {
                folders.entry(logs[*place].path.parent().unwrap_or(Path::new(""))).or_default().push(*place);
            }
            for places in folders.values() {
                // A log that stands beside itself in another encoding, as `convert` leaves it, has the same name.
                let stems: BTreeSet<&str> = places.iter().map(|place| stem(&logs[*place].path)).collect();
                if stems.len() < 2 {
                    continue;
                }
                told.push(format!(
                    "{} carry the same session id {}: a store holds one log of a session, and forks of it are not \
                     compared",
                    together(places, logs),
                    text(id)
                ));
            }
        }
        told
    }

    fn cycles(&self, logs: &[Log]) -> Vec<String> {
        let mut told = vec![];
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for start in 0..self.kin.len() {
            let mut way = vec![];
            let mut at = Some(start);
            while let Some(place) = at {
                if let Some(first) = way.iter().position(|known| *known == place) {
                    told.push(match way[first..] {
                        [one] => format!("{} names itself as its parent", name(&logs[one])),
                        _ => format!(
                            "{} descend from each other in a circle, by their parentSession",
                            together(&way[first..], logs)
                        ),
                    });
                    break;
                }
                if !seen.insert(place) {
                    break;
                }
                way.push(place);
                at = self.parent(place);
            }
        }
        told
    }

    fn orphans(&self, logs: &[Log]) -> Vec<String> {
        let orphan = |(place, kin): (usize, &Option<Kin>)| {
            let parent = kin.as_ref()?.parent.as_deref()?;
            let missing = !self.by_id.contains_key(parent);
            missing.then(|| {
                format!(
                    "{}: its parent {} is not among these logs, so it is not compared",
                    name(&logs[place]),
                    text(parent)
                )
            })
        };
        self.kin.iter().enumerate().filter_map(orphan).collect()
    }
}

/// The first few, and how many more there are.
fn shown(mut list: Vec<String>, what: &str) -> Vec<String> {
    let more = list.len().saturating_sub(SHOWN);
    list.truncate(SHOWN);
    if more > 0 {
        list.push(format!("… and {more} more {what}"));
    }
    list
}

/// The names of a few logs, and how many more there are.
fn together(places: &[usize], logs: &[Log]) -> String {
    let mut names: Vec<String> = places.iter().take(2).map(|place| name(&logs[*place])).collect();
    match places.len() - names.len() {
        0 => names.join(" and "),
        more => {
            names.push(format!("and {more} more"));
            names.join(", ")
        }
    }
}

fn name(log: &Log) -> String {
    clean(&log.title(), usize::MAX)
}

fn text(id: &[u8]) -> String {
    clean(&String::from_utf8_lossy(id), 60)
}

/// A file's name up to its first dot: without encoding and layout.
fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}

fn canonical(log: &Log) -> Option<PathBuf> {
    log.path.canonicalize().ok()
}
