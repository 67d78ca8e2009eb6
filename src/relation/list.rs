//! A list whose splices cost far less than its length, kept in blocks.

/// Elements a block holds at most.
const BLOCK: usize = 512;

/// A list in blocks.
#[derive(Clone, Debug)]
pub(super) struct BlockList<T> {
    blocks: Vec<Vec<T>>,
    length: usize,
}

impl<T> Default for BlockList<T> {
    fn default() -> Self {
        BlockList { blocks: vec![], length: 0 }
    }
}

impl<T> BlockList<T> {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    /// Removes `count` elements from `start` on and returns them; both lie within the list.
    pub(super) fn remove(&mut self, start: usize, count: usize) -> Vec<T> {
        let mut removed = Vec::with_capacity(count);
        let (mut block, mut place) = self.find(start);
        while removed.len() < count {
            let here = &mut self.blocks[block];
            let end = here.len().min(place + count - removed.len());
            removed.extend(here.drain(place..end));
            if here.is_empty() {
                self.blocks.remove(block);
            } else {
                block += 1;
            }
            place = 0;
        }
        self.length -= count;
        removed
    }

    /// Inserts elements before the one at `start`.
    pub(super) fn insert(&mut self, start: usize, items: Vec<T>) {
        if items.is_empty() {
            return;
        }
        self.length += items.len();
        let (block, place) = self.find(start);
        if block == self.blocks.len() {
            self.blocks.push(vec![]);
        }
        let mut tail = self.blocks[block].split_off(place);
        let mut all = std::mem::take(&mut self.blocks[block]);
        all.extend(items);
        all.append(&mut tail);
        if all.len() <= BLOCK {
            self.blocks[block] = all;
            return;
        }
        let mut parts = vec![];
        let mut all = all.into_iter().peekable();
        while all.peek().is_some() {
            parts.push(all.by_ref().take(BLOCK / 2).collect());
        }
        self.blocks.splice(block..=block, parts);
    }

    /// The block and the place in it of the `start`-th element, or of the end.
    fn find(&self, mut start: usize) -> (usize, usize) {
        for (block, items) in self.blocks.iter().enumerate() {
            if start < items.len() || (start == items.len() && block + 1 == self.blocks.len()) {
                return (block, start);
            }
            start -= items.len();
        }
        (self.blocks.len(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_vector() {
        let mut list = BlockList::default();
        let mut vector: Vec<u64> = vec![];
        let mut state = 3u64;
        for round in 0..4_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let start = (state >> 33) as usize % (vector.len() + 1);
            let count = ((state >> 50) as usize % 9).min(vector.len() - start);
            let items: Vec<u64> = (0..(state >> 40) % 12).map(|item| round * 100 + item).collect();
            assert_eq!(list.remove(start, count), vector.drain(start..start + count).collect::<Vec<_>>());
            list.insert(start, items.clone());
            vector.splice(start..start, items);
            assert_eq!(list.len(), vector.len());
        }
        assert!(vector.len() > 2 * BLOCK);
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), vector);
    }
}
