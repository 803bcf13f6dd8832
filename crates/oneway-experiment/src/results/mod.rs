//! Results: curves in memory and on disk, and the folder that they are kept in.

pub mod cells;
pub mod checkpoint;
pub mod curves;
pub(crate) mod divergence;
pub mod folder;
pub mod manifest;
pub mod merge;
mod packs;
pub mod repetitions;
pub mod stored;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use crate::experiment::plan::Plan;
use crate::hash::sha256;
use cells::Ran;
use curves::{Curve, SweptColumns};
use folder::{ARRIVALS, OutputFolder, PAGE};
use manifest::{Manifest, Purpose};

/// The curves of what ran; their points are shared, not copied.
pub fn curves_of(ran: &[Ran<'_>]) -> Vec<Curve> {
    let curve = |ran: &Ran<'_>| Curve {
        topology: ran.cell.entry.topology_name.clone(),
        method: ran.cell.entry.method_name.clone(),
        repetition: ran.cell.repetition,
        points: Arc::clone(&ran.result.points),
    };
    ran.iter().map(curve).collect()
}

/// Writes `curves.csv` and `summary.json`; returns where. The page and the logs of other results that were
/// there are removed.
pub fn save(folder: &OutputFolder, plan: &Plan, purpose: Purpose, ran: &[Ran<'_>]) -> Result<Vec<PathBuf>> {
    let csv = curves::to_csv(&curves_of(ran), &SweptColumns::new(&plan.entries));
    let manifest = Manifest::new(plan, purpose, ran, sha256(&csv));
    let is_same = |before: Manifest| {
        (&before.curves_sha256, &before.settings) == (&manifest.curves_sha256, &manifest.settings)
    };
    // first, so that there is no moment at which they stand beside results that they do not show
    if !Manifest::read(folder.path()).is_ok_and(is_same) {
        for part in [PAGE, ARRIVALS] {
            OutputFolder::prepare(folder.path())?.settle(part)?;
        }
    }
    Ok(vec![folder.write(curves::FILE, csv)?, folder.write(Manifest::FILE, manifest.to_json()?)?])
}
