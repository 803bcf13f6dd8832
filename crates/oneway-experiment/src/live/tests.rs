#![allow(clippy::unwrap_used)]

use super::*;
use crate::experiment::Experiment;
use crate::experiment::plan::Plan;
use crate::results::cells::{CellStatus, CellStore};
use crate::runner::Runner;

/// One cell that takes a moment, and its plan.
fn plan(rounds: u64) -> Plan {
    let text = format!(
        "[problem]\nkind = \"quadratic\"\ndim = 3\n[run]\nagents = 5\niterations = {rounds}\n\
         [[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n"
    );
    Plan::new(&Experiment::new(text.parse().unwrap(), Path::new("")).unwrap()).unwrap()
}

/// What a run writes while it runs is read back, and what it computes does not change.
#[test]
fn a_run_that_shows_itself_has_the_same_bits() {
    let place = tempfile::tempdir().unwrap();
    let plan = plan(20_000);
    let cells = plan.cells();
    let circle = |entry: &Entry| vec![(0.5, -0.5); entry.topology.agents()];
    for threads in [1, 2] {
        let quiet = Runner::new(Some(threads)).unwrap();
        let quiet = quiet.run(&cells, &CellStore::none(), true).unwrap();
        let live = Live::begin(place.path(), &cells, &circle).unwrap();
        assert_eq!(is_running(place.path()), Some(true));
        assert!(Live::begin(place.path(), &cells, &circle).unwrap_err().to_string().contains("another run"));
        let runner = Runner::new(Some(threads)).unwrap().showing_live(live);
        let shown = runner.run(&cells, &CellStore::none(), true).unwrap();
        runner.end_live();
        drop(runner);
        assert_eq!(is_running(place.path()), Some(false));
        assert_eq!(shown[0].result.points, quiet[0].result.points);
        assert_eq!(shown[0].result.end.state_hash, quiet[0].result.end.state_hash);

        let run = Run::read(place.path()).unwrap();
        assert_eq!((run.ended.as_deref(), run.cells.len()), (Some("completed"), 1));
        assert_eq!(run.networks[0].links.len(), 5, "a ring of five");
        assert!(run.networks[0].links.iter().all(|link| link.graphs == 3), "SMTPP pulls and pushes");
        let snapshot = Snapshot::read(&Snapshot::path(place.path(), &run.cells[0].key)).unwrap();
        assert_eq!((snapshot.round, snapshot.status), (20_000, Some(CellStatus::Completed)));
        assert_eq!(snapshot.points(), [], "the whole curve is among the results");
        assert_eq!(snapshot.checked, Checked::of(&quiet[0].result.points));
        let agents = snapshot.agents.unwrap();
        let mean = agents.distance.iter().map(|d| f64::from(d.unwrap()).powi(2)).sum::<f64>() / 5.0;
        let measured = quiet[0].result.points.last().unwrap().consensus_error;
        assert!((mean - measured).abs() <= 1e-5 * measured, "{mean} {measured}: the same x̄");
        assert_eq!(agents.lag, None, "all keep step");
    }
}

/// In the middle of a run, as a reader would.
#[test]
fn a_cell_shows_what_was_measured_while_it_runs() {
    let place = tempfile::tempdir().unwrap();
    let plan = plan(10);
    let cells = plan.cells();
    let live = Live::begin(place.path(), &cells, &|_| vec![]).unwrap();
    let mut cell = live.cell(&cells[0]);
    let points = crate::results::divergence::tests::curve(&[3.0, 2.0, f64::NAN]);
    cell.add(&points[..2]);
    assert!(!cell.is_due(), "not at once");
    std::thread::sleep(Duration::from_millis(120));
    assert!(cell.is_due());
    let mut engine = cells[0].entry.engine(cells[0].setup()).unwrap();
    engine.round().unwrap();
    cell.look(&engine.view());
    assert!(!cell.is_due(), "not again");
    let path = Snapshot::path(place.path(), &cells[0].key);
    let snapshot = Snapshot::read(&path).unwrap();
    assert_eq!((snapshot.round, snapshot.status, snapshot.points()), (1, None, points[..2].to_vec()));
    // one that was stopped keeps its curve, since the results do not
    cell.end(&engine.view(), CellStatus::Stopped, &points);
    let snapshot = Snapshot::read(&path).unwrap();
    assert_eq!((snapshot.points().len(), snapshot.checked.not_finite), (3, 1));
    drop(live);
    assert_eq!(Run::read(place.path()).unwrap().ended.as_deref(), Some("failed"), "nobody said how it ended");
}

#[test]
fn what_is_no_snapshot_is_not_read() {
    let place = tempfile::tempdir().unwrap();
    let plan = plan(10);
    let cells = plan.cells();
    drop(Live::begin(place.path(), &cells, &|_| vec![]).unwrap());
    let run = place.path().join(FOLDER).join("run.json");
    let whole = fs::read_to_string(&run).unwrap();
    assert!(Run::read(place.path()).is_some());
    let key = &cells[0].key;
    for (what, text) in [
        ("torn", whole[..whole.len() / 2].to_owned()),
        ("empty", String::new()),
        ("another version", whole.replace("\"format\":1", "\"format\":2")),
        ("a key that is a path", whole.replace(key, "../../secret")),
        ("a network that is not there", whole.replace("\"network\":0", "\"network\":7")),
        ("an agent that is not there", whole.replace("\"to\":4", "\"to\":44")),
    ] {
        assert_ne!(text, whole, "{what}");
        fs::write(&run, text).unwrap();
        assert_eq!(Run::read(place.path()), None, "{what}");
    }
}

#[test]
fn an_earlier_view_is_cleared_away_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let plan = plan(10);
    let cells = plan.cells();
    clear(place.path()).unwrap();
    let live = Live::begin(place.path(), &cells, &|_| vec![]).unwrap();
    let folder = place.path().join(FOLDER);
    fs::write(folder.join(format!("{}.part", cells[0].key)), "torn by a kill").unwrap();
    fs::write(folder.join("mine.json"), "of the user").unwrap();
    clear(place.path()).unwrap();
    assert!(Run::read(place.path()).is_some(), "not while it runs");
    drop(live);
    clear(place.path()).unwrap();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.json"]);
    fs::remove_file(folder.join("mine.json")).unwrap();
    clear(place.path()).unwrap();
    assert!(!folder.exists());
}
