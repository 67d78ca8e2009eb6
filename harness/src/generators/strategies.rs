//! The entry for proptest: a strategy of cases that shrinks by their ops.
//!
//! The generators are written over bytes, so the strategy draws one number, the seed of a case, and makes of it what a
//! campaign would. A tree never shrinks that number, which would be another case altogether: it takes ops away from
//! the resolved case, in halves, then in smaller stretches, then one by one, from behind.

use super::bytes;
use super::swarm::Bounds;
use crate::case::Case;
use crate::seed::Seed;
use proptest::num::u64::ANY;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// A strategy of cases within these bounds.
#[derive(Clone, Copy, Debug)]
pub struct Cases(pub Bounds);

impl Strategy for Cases {
    type Tree = CaseTree;
    type Value = Case;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = Seed(ANY.new_tree(runner)?.current());
        let mut case = bytes::from_seed(seed, self.0);
        case.seed = Some(seed.0);
        Ok(CaseTree::new(case))
    }
}

/// A case, and the ops that are taken away from it next.
#[derive(Clone, Debug)]
pub struct CaseTree {
    /// The smallest case known to fail.
    best: Case,
    /// What is tried now; `best` when nothing is.
    trial: Case,
    /// How many ops are taken away at once; 0 when nothing more is tried.
    width: usize,
    /// Where the ops to take away end.
    end: usize,
    /// Whether any went at this width.
    went: bool,
}

impl CaseTree {
    /// A tree whose root is this case.
    pub fn new(case: Case) -> CaseTree {
        let ops = case.ops.len();
        // A single op is a stretch too.
        let width = if ops > 1 { ops / 2 } else { ops };
        CaseTree { best: case.clone(), trial: case, width, end: ops, went: false }
    }

    /// Goes on with smaller stretches, or once more with single ops as long as any of them goes.
    fn narrow(&mut self) {
        self.width = match self.width {
            1 if self.went => 1,
            width => width / 2,
        };
        self.end = self.best.ops.len();
        self.went = false;
    }
}

impl ValueTree for CaseTree {
    type Value = Case;

    fn current(&self) -> Case {
        self.trial.clone()
    }

    /// The case at hand fails: the next smaller one.
    fn simplify(&mut self) -> bool {
        if self.trial != self.best {
            self.best = self.trial.clone();
            self.went = true;
        }
        while self.width > 0 {
            if self.end == 0 {
                self.narrow();
                continue;
            }
            let end = self.end.min(self.best.ops.len());
            let start = end.saturating_sub(self.width);
            self.end = start;
            let mut case = self.best.clone();
            case.without(start..end);
            // An op that others need may stand its ground.
            if case.ops.len() < self.best.ops.len() {
                self.trial = case;
                return true;
            }
        }
        false
    }

    /// The case at hand holds: back to the last one that fails.
    fn complicate(&mut self) -> bool {
        let changed = self.trial != self.best;
        self.trial = self.best.clone();
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Call, View};
    use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng};

    fn runner(cases: u32) -> TestRunner {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }

    #[test]
    fn a_failure_comes_down_to_the_ops_that_it_needs() {
        let bounds = Bounds { size: 40, faults: false };
        let is = |call: &Call, view: View| matches!(call, Call::View { view: asked, .. } if *asked == view);
        let found = runner(500).run(&Cases(bounds), |case| {
            let asked = |view| case.ops.iter().any(|op| is(&op.call, view));
            match asked(View::Messages) && asked(View::Surface) {
                true => Err(TestCaseError::fail("both")),
                false => Ok(()),
            }
        });
        let Err(TestError::Fail(_, case)) = found else { panic!("never asked for both: {found:?}") };
        assert_eq!(case.ops.len(), 2, "{:#?}", case.ops);
    }

    #[test]
    fn a_tree_ends_where_it_began_when_nothing_smaller_fails() {
        let tree = Cases(Bounds { size: 20, faults: true }).new_tree(&mut runner(1));
        let Ok(mut tree) = tree else { panic!("no tree") };
        let whole = tree.current();
        let mut tried = 0;
        while tree.simplify() {
            assert!(tree.current().ops.len() < whole.ops.len());
            assert!(tree.complicate());
            tried += 1;
        }
        assert_eq!(tree.current(), whole);
        assert!(tried >= whole.ops.len());
    }
}
