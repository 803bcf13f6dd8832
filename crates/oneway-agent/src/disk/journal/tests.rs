use oneway::numeric::Precision;

use super::*;

const OWNER: Owner = Owner { agent: 3, run: [7; 32], plan: [9; 32] };
const SHAPE: Shape = Shape { width: 2, precision: Precision::F64, every: 10, rounds: 45 };

fn open(folder: &Path) -> Journal {
    Journal::open(folder, OWNER, SHAPE).unwrap()
}

fn state(k: u64) -> [f64; 2] {
    [k as f64, f64::NAN]
}

fn rounds(folder: &Path) -> Result<Vec<u64>, String> {
    let mut records = read(folder, OWNER, SHAPE).map_err(|error| error.to_string())?;
    let mut rounds = vec![];
    while let Some((k, row)) = records.next::<f64>().map_err(|error| error.to_string())? {
        assert!(row[0] == k as f64 && row[1].is_nan());
        rounds.push(k);
    }
    Ok(rounds)
}

/// All of it, except for what is left out at the end.
fn written(left_out: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    (0..=45 - left_out).for_each(|k| journal.append(k, &state(k)).unwrap());
    journal.sync().unwrap();
    folder
}

#[test]
fn rounds_are_recorded_at_intervals_and_the_last_one_too() {
    let folder = written(0);
    assert_eq!(rounds(folder.path()).unwrap(), [0, 10, 20, 30, 40, 45]);
    assert_eq!(recorded(folder.path(), SHAPE), 6);
    let journal = open(folder.path());
    assert!(journal.holds(45) && journal.reaches() == Some(45));
}

/// From the checkpoint of round 25: what is there is compared, what is not is appended, nothing is cut.
#[test]
fn rounds_that_are_done_again_are_compared() {
    let folder = written(5);
    let before = std::fs::read(folder.path().join(FILE)).unwrap();
    let mut journal = open(folder.path());
    assert!(journal.holds(44) && !journal.holds(45));
    journal.go_on_at(25).unwrap();
    assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), before);
    assert_eq!(journal.last::<f64>().unwrap().unwrap().0, 20);
    (25..=45).for_each(|k| journal.append(k, &state(k)).unwrap());
    assert_eq!(journal.last::<f64>().unwrap().unwrap().0, 45);
    assert_eq!(rounds(folder.path()).unwrap(), [0, 10, 20, 30, 40, 45]);
    let mut journal = open(folder.path());
    journal.go_on_at(20).unwrap();
    let error = journal.append(20, &[20.5, f64::NAN]).unwrap_err().to_string();
    assert!(error.contains("the state of round 20 that was recorded differs"), "{error}");
}

#[test]
fn damage_is_named_cut_off_and_kept() {
    let (head, record) = (HEAD, SHAPE.bytes());
    for (at, cut, words, holds) in [
        (head + 2 * record + 9, 0, "record 2, of round 20, is damaged: its checksum", 19),
        (usize::MAX, 1, "record 5, of round 45, is cut short", 44),
    ] {
        let folder = written(0);
        let path = folder.path().join(FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(bytes.len() - cut);
        bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 4);
        std::fs::write(&path, &bytes).unwrap();
        let error = rounds(folder.path()).unwrap_err();
        assert!(error.contains(words), "{error}");
        let mut journal = open(folder.path());
        assert!(journal.holds(holds) && !journal.holds(holds + 1));
        let error = journal.fault(30).to_string();
        assert!(error.contains(words) && error.contains("checkpoint is of round 30"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was touched");
        journal.go_on_at(holds).unwrap();
        (holds..=45).for_each(|k| journal.append(k, &state(k)).unwrap());
        assert_eq!(rounds(folder.path()).unwrap(), [0, 10, 20, 30, 40, 45]);
        let kept = std::fs::read(folder.path().join("states.damaged-1")).unwrap();
        assert!(bytes.ends_with(&kept) && !kept.is_empty());
    }
}

#[test]
fn a_record_of_another_place_is_no_record() {
    let folder = written(0);
    let path = folder.path().join(FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.drain(HEAD..HEAD + SHAPE.bytes());
    std::fs::write(&path, &bytes).unwrap();
    let error = rounds(folder.path()).unwrap_err();
    assert!(error.contains("record 0 is of round 10, and should be of round 0"), "{error}");
}

#[test]
fn those_of_others_are_refused_and_left_alone() {
    let folder = written(0);
    let before = std::fs::read(folder.path().join(FILE)).unwrap();
    for (owner, width, words) in [
        (Owner { agent: 4, ..OWNER }, 2, "states is of agent 3, not agent 4"),
        (Owner { run: [8; 32], ..OWNER }, 2, "states is of another run"),
        (Owner { plan: [8; 32], ..OWNER }, 2, "states is of another plan"),
        (OWNER, 3, "its states are not of 3 numbers"),
    ] {
        let shape = Shape { width, ..SHAPE };
        let error = Journal::open(folder.path(), owner, shape).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(read(folder.path(), owner, shape).is_err());
    }
    assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), before);
    std::fs::write(folder.path().join(FILE), "something else").unwrap();
    let error = Journal::open(folder.path(), OWNER, SHAPE).unwrap_err().to_string();
    assert!(error.contains("not a journal of this version"), "{error}");
}

#[test]
fn recent_states_come_back_or_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let read = || read_recent::<f64>(folder.path(), OWNER, SHAPE);
    assert_eq!(read().unwrap(), []);
    let states = [(7, vec![1.0, 2.0]), (8, vec![1e200, -0.0])];
    let given = || states.iter().map(|(k, state)| (*k, &state[..]));
    write_recent(folder.path(), OWNER, SHAPE, given()).unwrap();
    assert_eq!(read().unwrap(), states);
    assert!(read_recent::<f64>(folder.path(), Owner { agent: 0, ..OWNER }, SHAPE).is_err());
    let path = folder.path().join(RECENT);
    let whole = std::fs::read(&path).unwrap();
    for cut in [HEAD - 1, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(read().is_err());
    }
}

/// Four bytes a number, compared by their bits, and never taken for double precision.
#[test]
fn single_precision_comes_back_and_is_not_mistaken_for_double() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape { precision: Precision::F32, ..SHAPE };
    let state = |k: u64| [k as f32 / 3.0, f32::NAN];
    let mut journal = Journal::open(folder.path(), OWNER, shape).unwrap();
    (0..=45).for_each(|k| journal.append(k, &state(k)).unwrap());
    journal.sync().unwrap();
    let bytes = std::fs::metadata(folder.path().join(FILE)).unwrap().len();
    assert_eq!(bytes, (HEAD + 6 * (8 + 2 * 4 + 4)) as u64);
    let mut journal = Journal::open(folder.path(), OWNER, shape).unwrap();
    journal.go_on_at(40).unwrap();
    journal.append(40, &state(40)).unwrap();
    assert!(journal.append(45, &[0.0f32, 0.0]).is_err(), "another state");
    let (k, row) = journal.last::<f32>().unwrap().unwrap();
    assert_eq!((k, row[0]), (40, 40.0 / 3.0));
    let error = Journal::open(folder.path(), OWNER, SHAPE).unwrap_err().to_string();
    assert!(error.contains("its states are of precision f32, here f64"), "{error}");
}

/// The bytes of a journal in double precision, from before there was single precision.
#[test]
fn double_precision_is_written_as_it_always_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    journal.append(0, &[1.5, -0.0]).unwrap();
    let sealed = |content: Vec<u8>| [&content[..], &crc32fast::hash(&content).to_le_bytes()].concat();
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let head = sealed([b"1WAYST\x00\x02", &OWNER.to_bytes()[..], &numbers(&[2])].concat());
    let record = sealed(numbers(&[0, 1.5f64.to_bits(), (-0.0f64).to_bits()]));
    assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), [head, record].concat());
}
