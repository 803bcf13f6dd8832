//! Which cells run side by side on a device, and running them, group by group.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use rayon::prelude::*;

use super::Runner;
use super::side_by_side::{self, Wishes};
use crate::experiment::plan::Cell;
use crate::keeper::Keeper;
use crate::progress::Progress;
use crate::results::cells::{CellResult, CellStore};

/// Cells that run side by side.
type Group<'c, 'a> = Vec<&'c Cell<'a>>;

/// Cells with their results, by key.
type Found<'c> = Vec<(&'c str, CellResult)>;

impl Runner {
    /// The groups of cells that a device runs side by side, and the cells that run alone. Who looks at a cell
    /// while it runs has it run alone.
    pub(super) fn grouped<'c, 'a>(&self, jobs: Vec<&'c Cell<'a>>) -> (Vec<Group<'c, 'a>>, Vec<&'c Cell<'a>>) {
        let Some(engines) = self.engines.as_ref().filter(|_| self.watcher.is_none() && self.live.is_none())
        else {
            return (vec![], jobs);
        };
        let may: Vec<&'c Cell<'a>> =
            jobs.iter().copied().filter(|cell| cell.entry.stays_here().is_none()).collect();
        let groups = engines.groups(&may.iter().map(|cell| side_by_side::task(cell)).collect::<Vec<_>>());
        let groups = groups.into_iter().map(|group| group.into_iter().map(|at| may[at]).collect());
        let groups: Vec<Group<'c, 'a>> = groups.collect();
        let taken: HashSet<&str> = groups.iter().flatten().map(|cell| &*cell.key).collect();
        let alone = jobs.into_iter().filter(|cell| !taken.contains(&*cell.key)).collect();
        (groups, alone)
    }

    /// Runs groups of cells, a few groups at a time, so that a device has work while one is prepared. Groups
    /// that its memory is too small for are halved, and then run one after another.
    pub(super) fn run_groups<'c, 'a>(
        &self,
        groups: Vec<Group<'c, 'a>>,
        progress: &dyn Progress,
        (store, fresh): (&CellStore, bool),
    ) -> Result<Found<'c>> {
        const AT_ONCE: usize = 8;
        let Some(engines) = &self.engines else { return Ok(vec![]) };
        let wishes = Wishes { progress, interrupted: &self.interrupted, estimates: self.keeps_estimates };
        let run = |group: &[&'c Cell<'a>]| -> Result<Option<Found<'c>>> {
            if self.is_interrupted() {
                return Ok(Some(vec![]));
            }
            let mut results = None;
            (self.around)(&mut || results = Some(side_by_side::run(&**engines, group, wishes)));
            let Some(results) = results.transpose()?.flatten() else { return Ok(None) };
            let results = group.iter().zip(results);
            let results = results.map(|(cell, result)| Ok((&*cell.key, self.checked(cell, result)?)));
            let results = results.collect::<Result<Vec<_>>>()?;
            let finished = results.iter().filter(|(_, result)| result.end.status.is_final());
            let finished: Vec<_> = finished.map(|(key, result)| (*key, result)).collect();
            store.put_all(&finished)?;
            finished.iter().for_each(|(key, _)| Keeper::forget(store.under_way(key)));
            Ok(Some(results))
        };
        let (queue, too_large) = (Mutex::new(groups.into_iter()), Mutex::new(vec![]));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let worker = |_| {
            let mut results = vec![];
            while let Some(group) = next() {
                match run(&group) {
                    Ok(Some(found)) => results.extend(found),
                    Ok(None) => too_large.lock().unwrap_or_else(PoisonError::into_inner).push(group),
                    Err(error) => {
                        while next().is_some() {} // no other begins
                        return Err(error);
                    }
                }
            }
            Ok(results)
        };
        let results: Result<Vec<_>> = (0..AT_ONCE).into_par_iter().map(worker).collect();
        let (mut results, mut left) =
            (results?.concat(), too_large.into_inner().unwrap_or_else(PoisonError::into_inner));
        while let Some(group) = left.pop() {
            match (run(&group)?, &group[..]) {
                (Some(found), _) => results.extend(found),
                (None, [cell]) => {
                    let result =
                        self.compute(cell, false, progress.begin(cell), (store.under_way(&cell.key), fresh))?;
                    results.push((&*cell.key, self.finish(cell, store, result)?));
                }
                (None, _) => {
                    let (one, other) = group.split_at(group.len() / 2);
                    left.extend([other.to_vec(), one.to_vec()]);
                }
            }
        }
        Ok(results)
    }
}
