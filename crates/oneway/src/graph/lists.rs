//! Many lists of ids in one array.

/// A list of ids for each of n owners: compressed sparse rows without values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lists {
    /// `offsets[i]..offsets[i + 1]` are the ids of owner i. Half the width of a `usize`: searches jump about
    /// in them.
    offsets: Vec<u32>,
    ids: Vec<u32>,
}

impl Lists {
    /// One list after another, for at most 2³² − 1 ids.
    pub(crate) fn with_capacity(owners: usize, ids: usize) -> Self {
        let mut offsets = Vec::with_capacity(owners + 1);
        offsets.push(0);
        Self { offsets, ids: Vec::with_capacity(ids) }
    }

    /// Appends the next owner's list and gives it back, to be put in order.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = u32>) -> &mut [u32] {
        let start = self.ids.len();
        self.ids.extend(list);
        self.offsets.push(self.ids.len() as u32);
        &mut self.ids[start..]
    }

    /// Deals (owner, id) pairs out to their owners by counting, O(n + m); an owner's ids keep the order of
    /// the pairs.
    pub(crate) fn deal(owners: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0_u32; owners + 1];
        for (owner, _) in pairs.clone() {
            offsets[owner as usize + 1] += 1;
        }
        for i in 0..owners {
            offsets[i + 1] += offsets[i];
        }
        let mut free = offsets.clone();
        let mut ids = vec![0; offsets[owners] as usize];
        for (owner, id) in pairs {
            let slot = &mut free[owner as usize];
            ids[*slot as usize] = id;
            *slot += 1;
        }
        Self { offsets, ids }
    }

    /// The list of each id's owners, ascending, for ids that are owners themselves.
    pub(crate) fn transposed(&self) -> Self {
        // Owners are walked in ascending order, so the new lists come out sorted without sorting.
        Self::deal(self.owners(), self.pairs().map(|(owner, id)| (id, owner)))
    }

    /// Keeps one of each run of equal ids within a list.
    pub(crate) fn dedup(&mut self) {
        let mut kept = 0;
        for i in 0..self.owners() {
            let (start, end) = (self.offsets[i] as usize, self.offsets[i + 1] as usize);
            self.offsets[i] = kept as u32;
            for at in start..end {
                if at == start || self.ids[at] != self.ids[at - 1] {
                    // Nothing is written ahead of `at`, so `ids[at - 1]` above was still what it had been.
                    self.ids[kept] = self.ids[at];
                    kept += 1;
                }
            }
        }
        let owners = self.owners();
        self.offsets[owners] = kept as u32;
        self.ids.truncate(kept);
    }

    /// Number of lists.
    pub(crate) fn owners(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of ids in all lists.
    pub(crate) fn total(&self) -> usize {
        self.ids.len()
    }

    /// The list of owner `i`.
    #[inline]
    pub(crate) fn of(&self, i: usize) -> &[u32] {
        &self.ids[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// All (owner, id) pairs, by owner.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.owners()).flat_map(move |i| self.of(i).iter().map(move |&id| (i as u32, id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealing_keeps_order_transposing_sorts_and_dedup_merges() {
        let pairs = [(2, 1), (0, 2), (2, 0), (0, 2), (2, 1)];
        let mut lists = Lists::deal(3, pairs.into_iter());
        assert_eq!([lists.of(0), lists.of(1), lists.of(2)], [&[2, 2][..], &[], &[1, 0, 1]]);
        lists = lists.transposed();
        assert_eq!([lists.of(0), lists.of(1), lists.of(2)], [&[2][..], &[2, 2], &[0, 0]]);
        lists.dedup();
        assert_eq!([lists.of(0), lists.of(1), lists.of(2)], [&[2][..], &[2], &[0]]);
        assert_eq!((lists.owners(), lists.total()), (3, 3));
    }
}
