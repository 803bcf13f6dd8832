//! Results: curves in memory and on disk, and the folder that they are kept in.

pub(crate) mod cells;
pub(crate) mod curves;
pub(crate) mod divergence;
pub(crate) mod folder;
pub(crate) mod manifest;
pub(crate) mod repetitions;
pub(crate) mod table;

use std::path::PathBuf;

use anyhow::Result;
use sha2::{Digest, Sha256};

use crate::experiment::plan::Plan;
use crate::runner::Ran;
use curves::{Curve, SweptColumns};
use folder::{ARRIVALS, OutputFolder, PAGE};
use manifest::Manifest;

/// SHA-256 in hexadecimal.
pub fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The curves of what ran.
pub(crate) fn curves_of(ran: &[Ran<'_>]) -> Vec<Curve> {
    let curve = |ran: &Ran<'_>| Curve {
        topology: ran.cell.entry.topology_name.clone(),
        method: ran.cell.entry.method_name.clone(),
        repetition: ran.cell.repetition,
        points: ran.result.points.clone(),
    };
    ran.iter().map(curve).collect()
}

/// Writes `curves.csv` and `summary.json`; returns where. The page and the logs of other results that were there are removed.
pub(crate) fn save(
    folder: &OutputFolder,
    plan: &Plan,
    cells_planned: usize,
    ran: &[Ran<'_>],
) -> Result<Vec<PathBuf>> {
    let csv = curves::to_csv(&curves_of(ran), &SweptColumns::of(&plan.entries));
    let manifest = Manifest::new(plan, cells_planned, ran, sha256(&csv));
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
