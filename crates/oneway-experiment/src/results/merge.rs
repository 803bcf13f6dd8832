//! Results of shares, put together: the bytes that one run of all cells would have written.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::cells::CellStore;
use super::curves;
use super::folder::{ARRIVALS, OutputFolder, PAGE};
use super::manifest::{CellRecord, EntryRecord, Manifest};
use crate::hash::sha256;

/// A cell by its names: topology, method and repetition.
type Names<'a> = (&'a str, &'a str, u64);

/// The results of one share.
struct Part<'a> {
    dir: &'a Path,
    manifest: Manifest,
    /// The first line of its curves.
    header: String,
    /// The other lines.
    lines: String,
}

impl<'a> Part<'a> {
    fn read(dir: &'a Path) -> Result<Self> {
        let manifest = Manifest::read(dir)?;
        let path = dir.join(curves::FILE);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        if sha256(&text) != manifest.curves_sha256 {
            bail!("{} was changed since it was written", path.display());
        }
        let (header, lines) = text.split_once('\n').unwrap_or((&text, ""));
        Ok(Self { dir, manifest, header: header.to_owned(), lines: lines.to_owned() })
    }

    /// The lines of each cell.
    fn curves(&self) -> Result<HashMap<Names<'_>, String>> {
        let mut curves: HashMap<Names<'_>, String> = HashMap::new();
        for line in self.lines.lines() {
            let mut cells = line.splitn(4, ',');
            let mut next = || cells.next().unwrap_or_default();
            let (topology, method, repetition) = (next(), next(), next());
            let repetition = repetition
                .parse()
                .with_context(|| format!("{}: not a line of curves: {line}", self.dir.display()))?;
            let lines = curves.entry((topology, method, repetition)).or_default();
            lines.push_str(line);
            lines.push('\n');
        }
        Ok(curves)
    }

    /// What keeps it from being of the same experiment as another, if anything does.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let (a, b) = (&self.manifest, &other.manifest);
        let differs = [
            ((&a.oneway, &a.code) != (&b.oneway, &b.code), "they were made by different builds"),
            (a.settings != b.settings || a.purpose != b.purpose, "their settings differ"),
            (a.entries != b.entries, "their problems, networks or steps differ"),
            (a.cells_planned != b.cells_planned, "they are of different numbers of cells"),
            (self.header != other.header, "their curves have different columns"),
        ];
        differs.into_iter().find_map(|(differs, how)| differs.then_some(how))
    }
}

/// Puts the results of shares together and writes them into `out`, which may be one of them or not be there
/// yet; returns the files. What was kept of finished cells is copied too.
///
/// # Errors
/// Results that are not of one experiment and build, a cell in two of them or in none, or one that was stopped
/// on its way; nothing is written then.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>> {
    let parts = dirs.iter().map(|dir| Part::read(dir)).collect::<Result<Vec<_>>>()?;
    let Some((first, others)) = parts.split_first() else { bail!("there is nothing to merge") };
    for other in others {
        if let Some(how) = first.difference(other) {
            bail!("{} and {} do not belong together: {how}", first.dir.display(), other.dir.display());
        }
    }
    let mut cells: HashMap<Names<'_>, (&Part<'_>, &CellRecord)> = HashMap::new();
    for part in &parts {
        for cell in &part.manifest.cells {
            let names = (&*cell.topology, &*cell.method, cell.repetition);
            if !cell.end.status.is_final() {
                bail!("{}: {} did not come to its end", part.dir.display(), said(names));
            }
            if let Some((before, _)) = cells.insert(names, (part, cell)) {
                let [one, other] = [before.dir, part.dir].map(Path::display);
                bail!("{} is in {one} and in {other}: shares must not overlap", said(names));
            }
        }
    }
    let planned = |entry: &'_ EntryRecord| (0..entry.repetitions).collect::<Vec<u64>>();
    let order = first.manifest.entries.iter().flat_map(|entry| {
        planned(entry).into_iter().map(|repetition| (&*entry.topology, &*entry.method, repetition))
    });
    let order: Vec<Names<'_>> = order.collect();
    let missing: Vec<&Names<'_>> = order.iter().filter(|names| !cells.contains_key(*names)).collect();
    if let Some(names) = missing.first() {
        let (n, of) = (missing.len(), order.len());
        bail!(
            "{n} of {of} cells are in none of these folders, {} among them: name all shares",
            said(**names)
        );
    }
    let lines = parts.iter().map(Part::curves).collect::<Result<Vec<_>>>()?;
    let mut csv = format!("{}\n", first.header);
    for names in &order {
        lines.iter().filter_map(|lines| lines.get(names)).for_each(|lines| csv.push_str(lines));
    }
    let records: Vec<CellRecord> = order.iter().map(|names| cells[names].1.clone()).collect();
    let Manifest { oneway, code, purpose, settings, folder, entries, cells_planned, .. } =
        Manifest::read(first.dir)?;
    let cells_complete = records.len();
    let curves_sha256 = sha256(&csv);
    let manifest = Manifest {
        oneway,
        code,
        purpose,
        settings,
        folder,
        entries,
        cells_planned,
        cells_complete,
        cells: records,
        curves_sha256,
    };
    let folder = OutputFolder::prepare(out)?;
    for part in [PAGE, ARRIVALS] {
        OutputFolder::prepare(folder.path())?.settle(part)?;
    }
    let store = CellStore::new(folder.path());
    let keys: HashSet<(&Path, &str)> = cells.values().map(|(part, cell)| (part.dir, &*cell.key)).collect();
    for (dir, key) in keys {
        if let Some(kept) = CellStore::new(dir).get(key) {
            store.put(key, &kept)?;
        }
    }
    Ok(vec![folder.write(curves::FILE, csv)?, folder.write(Manifest::FILE, manifest.to_json()?)?])
}

/// A cell, as progress bars show it.
fn said((topology, method, repetition): Names<'_>) -> String {
    format!("{topology} · {method} · {}", repetition + 1)
}
