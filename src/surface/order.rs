//! The order of a history: a persistent trie from anchors to seqs.
//!
//! Anchors are dense small numbers that only grow, so the trie is a wide radix tree without balancing. It holds plain
//! numbers; a held copy shares everything, and a change copies one path (architecture: "Anchors").

use std::sync::Arc;

/// Bits of an anchor that a leaf stands for.
const LEAF_BITS: u32 = 5;
const LEAF: usize = 1 << LEAF_BITS;
/// Bits that an inner node stands for: few, because copying one touches every child to count its holders.
const BITS: u32 = 3;
const WIDTH: usize = 1 << BITS;

/// An ordered map from anchor to seq that is free to copy.
#[derive(Clone, Debug, Default)]
pub struct Order {
    root: Option<Tree>,
    /// Levels of inner nodes above the leaves.
    height: u32,
    length: u32,
}

#[derive(Clone, Debug)]
enum Tree {
    Leaf(Arc<Leaf>),
    Inner(Arc<Inner>),
}

#[derive(Clone, Debug)]
struct Leaf {
    present: u32,
    seqs: [u32; LEAF],
}

#[derive(Clone, Debug)]
struct Inner {
    counts: [u32; WIDTH],
    trees: [Option<Tree>; WIDTH],
}

impl Inner {
    fn empty() -> Self {
        Inner { counts: [0; WIDTH], trees: Default::default() }
    }
}

impl Order {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether another order shares this one's tree, so that both are the same without a look inside.
    pub fn is_same(&self, other: &Order) -> bool {
        match (&self.root, &other.root) {
            (None, None) => true,
            (Some(Tree::Leaf(one)), Some(Tree::Leaf(two))) => Arc::ptr_eq(one, two),
            (Some(Tree::Inner(one)), Some(Tree::Inner(two))) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    /// Sets the seq at `anchor`.
    pub fn insert(&mut self, anchor: u32, seq: u32) {
        while u64::from(anchor) >> reach(self.height) > 0 {
            if let Some(tree) = self.root.take() {
                let mut inner = Inner::empty();
                inner.counts[0] = self.length;
                inner.trees[0] = Some(tree);
                self.root = Some(Tree::Inner(Arc::new(inner)));
            }
            self.height += 1;
        }
        if insert(&mut self.root, self.height, anchor, seq) {
            self.length += 1;
        }
    }

    /// Removes the entry at `anchor`; says whether there was one.
    pub fn remove(&mut self, anchor: u32) -> bool {
        self.remove_range(anchor, anchor) > 0
    }

    /// Removes the entries from `first` to `last`, both included; says how many there were. What lies between the ends
    /// goes in whole subtrees.
    pub fn remove_range(&mut self, first: u32, last: u32) -> u32 {
        let most = (1u64 << reach(self.height).min(32)) - 1;
        if first > last || u64::from(first) > most {
            return 0;
        }
        let last = u64::from(last).min(most) as u32;
        let removed = remove(&mut self.root, self.height, first, last);
        self.length -= removed;
        removed
    }

    /// The `index`-th seq in anchor order.
    pub fn get(&self, index: usize) -> Option<u32> {
        let mut index = u32::try_from(index).ok().filter(|index| *index < self.length)?;
        let mut tree = self.root.as_ref()?;
        loop {
            match tree {
                Tree::Leaf(leaf) => {
                    let mut present = leaf.present;
                    for _ in 0..index {
                        present &= present - 1;
                    }
                    return leaf.seqs.get(present.trailing_zeros() as usize).copied();
                }
                Tree::Inner(inner) => {
                    let mut slot = 0;
                    while index >= inner.counts[slot] {
                        index -= inner.counts[slot];
                        slot += 1;
                    }
                    tree = inner.trees[slot].as_ref()?;
                }
            }
        }
    }

    /// All seqs in anchor order.
    pub fn iter(&self) -> Iter<'_> {
        let mut iter = Iter { open: vec![], leaf: None, left: self.length as usize };
        if let Some(root) = &self.root {
            iter.enter(root);
        }
        iter
    }
}

/// Bits of the anchors below a tree of this height.
fn reach(height: u32) -> u32 {
    LEAF_BITS + BITS * height
}

/// The place of an anchor in a node of this height.
fn slot(anchor: u32, height: u32) -> usize {
    match height {
        0 => anchor as usize & (LEAF - 1),
        _ => (u64::from(anchor) >> reach(height - 1)) as usize & (WIDTH - 1),
    }
}

fn insert(tree: &mut Option<Tree>, height: u32, anchor: u32, seq: u32) -> bool {
    let here = slot(anchor, height);
    if height == 0 {
        let leaf = tree.get_or_insert_with(|| Tree::Leaf(Arc::new(Leaf { present: 0, seqs: [0; LEAF] })));
        let Tree::Leaf(leaf) = leaf else { return false };
        let leaf = Arc::make_mut(leaf);
        let new = leaf.present >> here & 1 == 0;
        leaf.present |= 1 << here;
        leaf.seqs[here] = seq;
        return new;
    }
    let inner = tree.get_or_insert_with(|| Tree::Inner(Arc::new(Inner::empty())));
    let Tree::Inner(inner) = inner else { return false };
    let inner = Arc::make_mut(inner);
    let new = insert(&mut inner.trees[here], height - 1, anchor, seq);
    inner.counts[here] += u32::from(new);
    new
}

/// Removes the entries of a tree whose places below it are between two, both included; says how many.
fn remove(tree: &mut Option<Tree>, height: u32, first: u32, last: u32) -> u32 {
    let (from, to) = (slot(first, height), slot(last, height));
    match tree {
        None => 0,
        Some(Tree::Leaf(leaf)) => {
            let gone = leaf.present & (u32::MAX << from) & (u32::MAX >> (LEAF - 1 - to));
            if gone == leaf.present {
                *tree = None;
            } else if gone != 0 {
                Arc::make_mut(leaf).present &= !gone;
            }
            gone.count_ones()
        }
        Some(Tree::Inner(inner)) => {
            if inner.counts[from..=to].iter().all(|count| *count == 0) {
                return 0;
            }
            let node = Arc::make_mut(inner);
            let mut removed = 0;
            for here in from..=to {
                // Where a neighbour holds an end, this subtree is meant to its own end.
                let first = if here == from { first } else { 0 };
                let last = if here == to { last } else { u32::MAX };
                let whole = here != from && here != to;
                let gone = if whole {
                    node.trees[here] = None;
                    node.counts[here]
                } else {
                    remove(&mut node.trees[here], height - 1, first, last)
                };
                node.counts[here] -= gone;
                removed += gone;
            }
            if node.counts.iter().all(|count| *count == 0) {
                *tree = None;
            }
            removed
        }
    }
}

/// Walks an [`Order`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    open: Vec<(&'a Inner, usize)>,
    leaf: Option<(&'a Leaf, u32)>,
    left: usize,
}

impl<'a> Iter<'a> {
    fn enter(&mut self, tree: &'a Tree) {
        match tree {
            Tree::Leaf(leaf) => self.leaf = Some((leaf, leaf.present)),
            Tree::Inner(inner) => self.open.push((inner, 0)),
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some((leaf, present)) = &mut self.leaf
                && *present != 0
            {
                let here = present.trailing_zeros() as usize;
                *present &= *present - 1;
                self.left -= 1;
                return Some(leaf.seqs[here]);
            }
            let (inner, place) = self.open.last_mut()?;
            let inner: &Inner = inner;
            match inner.trees[*place..].iter().position(Option::is_some) {
                Some(step) => {
                    let found = *place + step;
                    *place = found + 1;
                    if let Some(tree) = &inner.trees[found] {
                        self.enter(tree);
                    }
                }
                None => {
                    self.open.pop();
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_sorted_map() {
        let mut order = Order::default();
        let mut map = BTreeMap::new();
        let mut held = vec![];
        let mut state = 7u64;
        for round in 0..20_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let anchor = (state >> 33) as u32 % 40_000;
            if state >> 60 < 4 {
                assert_eq!(order.remove(anchor), map.remove(&anchor).is_some());
            } else if state >> 60 < 5 {
                let last = anchor.saturating_add((state >> 20) as u32 % 600);
                let gone: Vec<u32> = map.range(anchor..=last).map(|(anchor, _)| *anchor).collect();
                assert_eq!(order.remove_range(anchor, last) as usize, gone.len());
                map.retain(|at, _| !gone.contains(at));
            } else {
                order.insert(anchor, round);
                map.insert(anchor, round);
            }
            if round % 4_000 == 0 {
                held.push((order.clone(), map.clone()));
            }
        }
        held.push((order, map));
        for (order, map) in held {
            let want: Vec<u32> = map.values().copied().collect();
            assert_eq!(order.len(), want.len());
            assert_eq!(order.iter().collect::<Vec<_>>(), want);
            for (index, seq) in want.iter().enumerate().step_by(97) {
                assert_eq!(order.get(index), Some(*seq));
            }
            assert_eq!(order.get(want.len()), None);
        }
    }
}
