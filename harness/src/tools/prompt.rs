//! The prompt of a log as it grows: its messages in surface order, as a tree of digests over anchors.
//!
//! Surface order is order by anchor, so the messages are the leaves of a fixed tree, an append fills a leaf, and a
//! replace empties some. Each inner node digests its leaves as a polynomial, which does not depend on where in the tree
//! they stand: how far two prompts agree is found by halving, however long they are and however often that is asked.

use foldproof::admit::Change;
use foldproof::log::Log;

/// The Mersenne prime 2⁶¹ − 1, modulo which digests are computed.
const PRIME: u64 = (1 << 61) - 1;

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

/// A stretch of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// How many.
    pub messages: u64,
    /// Their canonical bytes.
    pub bytes: u64,
    digest: u64,
}

/// A change of the surface.
#[derive(Clone, Debug)]
struct Step {
    seq: u64,
    /// Leaf that gets the message, if there is one.
    anchor: u32,
    /// Leaves that become empty before that.
    shadowed: Vec<u32>,
    replaces: bool,
}

/// All changes of a log's surface, and the digests of its messages.
pub struct Story<'l> {
    log: &'l Log,
    steps: Vec<Step>,
    digests: Vec<u64>,
}

impl<'l> Story<'l> {
    /// Of a log.
    pub fn new(log: &'l Log) -> Self {
        let (mut steps, mut digests) = (vec![], vec![]);
        log.refold(log.len(), |surface, seq, change, shadowed| {
            let (anchor, shadowed, replaces) = match change {
                Change::None => return,
                Change::Append(node) => (surface.anchor(node), vec![], false),
                Change::Replace(node) => {
                    let shadowed = shadowed.iter().map(|node| surface.anchor(*node)).collect();
                    (surface.anchor(node), shadowed, true)
                }
            };
            let hash = blake3::hash(log.message(seq).unwrap_or_default());
            let mut word = [0; 8];
            word.copy_from_slice(&hash.as_bytes()[..8]);
            digests.push(u64::from_le_bytes(word) % PRIME);
            steps.push(Step { seq, anchor, shadowed, replaces });
        });
        Story { log, steps, digests }
    }

    /// A number that depends on every message of the stories, so that none of them could be written to make two
    /// different prompts look the same.
    pub fn base(stories: &[&Story<'_>]) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for digest in stories.iter().flat_map(|story| &story.digests) {
            hasher.update(&digest.to_le_bytes());
        }
        let mut word = [0; 8];
        word.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(word) % (PRIME - 2) + 2
    }
}

/// A replace that was passed on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its event.
    pub seq: u64,
    /// Messages that stood before its span.
    pub index: u64,
}

/// The prompt behind some first events of a log.
pub struct Prompt<'s> {
    story: &'s Story<'s>,
    /// Steps that were taken.
    taken: usize,
    leaves: usize,
    nodes: Vec<Stretch>,
    /// Seq of the message in each leaf.
    seqs: Vec<u64>,
    /// Powers of the base.
    powers: Vec<u64>,
}

impl<'s> Prompt<'s> {
    /// Before the first event.
    pub fn new(story: &'s Story<'s>, base: u64) -> Self {
        let leaves = story.steps.len().next_power_of_two();
        let powers = std::iter::successors(Some(1), |power| Some(times(*power, base)));
        Prompt {
            story,
            taken: 0,
            leaves,
            nodes: vec![Stretch::default(); leaves * 2],
            seqs: vec![0; leaves],
            powers: powers.take(leaves + 1).collect(),
        }
    }

    /// Goes on until the log's first `count` events are told; `passed` sees every replace on the way.
    pub fn advance(&mut self, count: u64, mut passed: impl FnMut(Passed)) {
        while let Some(step) = self.story.steps.get(self.taken).filter(|step| step.seq < count) {
            if step.replaces {
                passed(Passed { seq: step.seq, index: self.before(step.anchor) });
            }
            for anchor in &step.shadowed {
                self.put(*anchor, Stretch::default());
            }
            let leaf = match self.story.log.message(step.seq) {
                Some(message) => Stretch {
                    messages: 1,
                    bytes: message.len() as u64,
                    digest: self.story.digests[self.taken],
                },
                None => Stretch::default(),
            };
            self.seqs[step.anchor as usize] = step.seq;
            self.put(step.anchor, leaf);
            self.taken += 1;
        }
    }

    fn put(&mut self, anchor: u32, leaf: Stretch) {
        let mut at = self.leaves + anchor as usize;
        self.nodes[at] = leaf;
        while at > 1 {
            at /= 2;
            self.nodes[at] = self.join(self.nodes[at * 2], self.nodes[at * 2 + 1]);
        }
    }

    fn join(&self, left: Stretch, right: Stretch) -> Stretch {
        let moved = times(left.digest, self.powers[right.messages as usize]);
        Stretch {
            messages: left.messages + right.messages,
            bytes: left.bytes + right.bytes,
            digest: (moved + right.digest) % PRIME,
        }
    }

    /// Messages in front of a leaf.
    fn before(&self, anchor: u32) -> u64 {
        let mut at = self.leaves + anchor as usize;
        let mut count = 0;
        while at > 1 {
            if at % 2 == 1 {
                count += self.nodes[at - 1].messages;
            }
            at /= 2;
        }
        count
    }

    /// The whole of it.
    pub fn all(&self) -> Stretch {
        self.nodes[1]
    }

    /// Its first messages.
    pub fn first(&self, messages: u64) -> Stretch {
        let (mut at, mut left, mut sum) = (1, messages, Stretch::default());
        loop {
            let node = self.nodes[at];
            if node.messages <= left {
                return self.join(sum, node);
            }
            if at >= self.leaves {
                return sum;
            }
            at *= 2;
            let node = self.nodes[at];
            if node.messages <= left {
                sum = self.join(sum, node);
                left -= node.messages;
                at += 1;
            }
        }
    }

    /// Seq of the event that gave the `index`-th message.
    pub fn seq(&self, index: u64) -> Option<u64> {
        let (mut at, mut left) = (1, index);
        if index >= self.all().messages {
            return None;
        }
        while at < self.leaves {
            at *= 2;
            if self.nodes[at].messages <= left {
                left -= self.nodes[at].messages;
                at += 1;
            }
        }
        self.seqs.get(at - self.leaves).copied()
    }

    /// The longest stretch of whole messages that both begin with. Both must have the same base.
    pub fn common(&self, other: &Prompt<'_>) -> Stretch {
        let (mut same, mut least) = (0, self.all().messages.min(other.all().messages) + 1);
        while same + 1 < least {
            let middle = same.midpoint(least);
            if self.first(middle) == other.first(middle) { same = middle } else { least = middle }
        }
        self.first(same)
    }
}
