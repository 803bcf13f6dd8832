use std::fs;

use proptest::prelude::*;
use sha2::Digest as _;

use super::*;
use crate::wire::frame::Moment;

const OWNER: Owner = Owner { agent: 3, run: [7; 32], plan: [9; 32] };

fn sent(round: u64) -> Sent {
    let at = Moment { round, phase: 1 };
    Sent { at, pull: vec![round as f64, f64::NAN].into(), push: vec![-0.0].into() }
}

fn open(folder: &Path) -> (Checkpoints, Option<Checkpoint>) {
    let (checkpoints, whole) = Checkpoints::open(folder, OWNER).unwrap();
    (checkpoints, whole.into_iter().next())
}

/// A checkpoint of round k, with what was sent in the ten rounds before; neighbours may need twenty.
fn save(checkpoints: &mut Checkpoints, k: u64) -> io::Result<()> {
    let rows: Vec<Sent> = (k - 10..k).map(sent).collect();
    let recent = [(k - 1, vec![0.25])];
    let content =
        Content { k, state: &[k as f64, 0.5], recent: &recent, sent: &rows, oldest: k.saturating_sub(20) };
    checkpoints.save(&content)
}

fn rounds(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|sent| sent.at.round).collect()
}

fn segments(folder: &Path) -> usize {
    segment::numbers(folder).unwrap().len()
}

#[test]
fn the_newest_whole_generation_is_gone_on_from() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, none) = open(folder.path());
    assert_eq!((none, checkpoints.sent_until()), (None, None));
    for k in [10, 20, 30, 40, 50] {
        save(&mut checkpoints, k).unwrap();
        let (again, found) = open(folder.path());
        let found = found.unwrap();
        assert_eq!((found.k, &found.state[..]), (k, &[k as f64, 0.5][..]));
        assert_eq!(found.recent, [(k - 1, vec![0.25])]);
        let rows = again.sent(&found).unwrap();
        assert_eq!(
            rounds(&rows),
            (k.saturating_sub(20)..k).collect::<Vec<_>>(),
            "each once, as long as needed"
        );
        assert!(rows[0].pull[1].is_nan() && rows[0].at.phase == 1);
        assert_eq!(again.sent_until(), Some(k - 1));
        assert!(segments(folder.path()) <= 3, "those that nobody needs are removed");
    }
    // 50 is in a, 40 in b; half a file in the place of 50, as if the disk had lied
    let newest = folder.path().join(NAMES[0]);
    let whole = fs::read(&newest).unwrap();
    for cut in [0, 10, whole.len() - 1] {
        fs::write(&newest, &whole[..cut]).unwrap();
        let (mut checkpoints, found) = open(folder.path());
        let found = found.unwrap();
        assert_eq!(
            (found.k, checkpoints.next),
            (40, 0),
            "the damaged one is written over, never the whole one"
        );
        assert_eq!(rounds(&checkpoints.sent(&found).unwrap()), (20..40).collect::<Vec<_>>());
        save(&mut checkpoints, 50).unwrap();
    }
}

/// Four bytes a number, and never taken for double precision.
#[test]
fn single_precision_comes_back_and_is_not_mistaken_for_double() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, _) = Checkpoints::open::<f32>(folder.path(), OWNER).unwrap();
    let at = Moment { round: 9, phase: 0 };
    let rows = [Sent { at, pull: vec![0.1f32].into(), push: vec![f32::NAN, -0.0].into() }];
    let recent = [(9, vec![0.3f32, 0.4])];
    checkpoints
        .save(&Content { k: 10, state: &[1.5f32, 0.1], recent: &recent, sent: &rows, oldest: 0 })
        .unwrap();
    let (checkpoints, whole) = Checkpoints::open::<f32>(folder.path(), OWNER).unwrap();
    assert_eq!((&whole[0].state[..], &whole[0].recent[..]), (&[1.5, 0.1][..], &recent[..]));
    let sent = checkpoints.sent(&whole[0]).unwrap();
    assert!(sent[0].pull[0] == 0.1 && sent[0].push[0].is_nan() && sent[0].push[1].is_sign_negative());
    let error = Checkpoints::open::<f64>(folder.path(), OWNER).unwrap_err().to_string();
    assert!(error.contains("no whole checkpoint"), "{error}");
}

/// The bytes of a checkpoint in double precision, from before there was single precision.
#[test]
fn double_precision_is_written_as_it_always_was() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, _) = Checkpoints::open::<f64>(folder.path(), OWNER).unwrap();
    checkpoints.save(&Content { k: 5, state: &[1.5], recent: &[], sent: &[sent(4)], oldest: 0 }).unwrap();
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let segment = numbers(&[1, 4, 1, 2, 4f64.to_bits(), f64::NAN.to_bits(), 1, (-0.0f64).to_bits()]);
    let segment = [b"1WAYSG\x00\x01", &OWNER.to_bytes()[..], &segment].concat();
    let segment = [&segment[..], &crc32fast::hash(&segment).to_le_bytes()].concat();
    assert_eq!(fs::read(folder.path().join("sent-0")).unwrap(), segment);
    let content = numbers(&[5, 1, 1.5f64.to_bits(), 0, 1, 0, segment.len() as u64, 4]);
    let whole = [b"1WAYCP\x00\x03", &OWNER.to_bytes()[..], &content].concat();
    let whole = [&whole[..], &Sha256::digest(&whole)].concat();
    assert_eq!(fs::read(folder.path().join(NAMES[0])).unwrap(), whole);
}

#[test]
fn who_goes_back_writes_over_the_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, _) = open(folder.path());
    [10, 20].into_iter().for_each(|k| save(&mut checkpoints, k).unwrap());
    let (mut checkpoints, whole) = Checkpoints::open::<f64>(folder.path(), OWNER).unwrap();
    assert_eq!(whole.iter().map(|found| found.k).collect::<Vec<_>>(), [20, 10]);
    checkpoints.go_back();
    assert_eq!(checkpoints.sent_until(), Some(9));
    save(&mut checkpoints, 20).unwrap();
    let (checkpoints, found) = open(folder.path());
    assert_eq!(rounds(&checkpoints.sent(&found.unwrap()).unwrap()), (0..20).collect::<Vec<_>>());
}

/// What was sent long ago is rarely needed: its damage costs no more than that.
#[test]
fn rows_that_are_damaged_are_left_out_with_all_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, _) = open(folder.path());
    [10, 20, 30].into_iter().for_each(|k| save(&mut checkpoints, k).unwrap());
    let (checkpoints, found) = open(folder.path());
    let found = found.unwrap();
    let path = found.segments[0].path(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    bytes[300] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(rounds(&checkpoints.sent(&found).unwrap()), (20..30).collect::<Vec<_>>());
    fs::remove_file(found.segments[1].path(folder.path())).unwrap();
    assert_eq!(rounds(&checkpoints.sent(&found).unwrap()), [0; 0]);
}

#[test]
fn without_a_whole_one_nothing_is_begun_anew_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    NAMES.iter().for_each(|name| fs::write(folder.path().join(name), "x").unwrap());
    let error = Checkpoints::open::<f64>(folder.path(), OWNER).unwrap_err().to_string();
    assert!(
        error.contains("no whole checkpoint (checkpoint-a is damaged, checkpoint-b is damaged)"),
        "{error}"
    );
}

#[test]
fn those_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    save(&mut open(folder.path()).0, 10).unwrap();
    for (owner, words) in [
        (Owner { run: [8; 32], ..OWNER }, "another run"),
        (Owner { agent: 4, ..OWNER }, "agent 3, not agent 4"),
        (Owner { plan: [8; 32], ..OWNER }, "another plan"),
    ] {
        let error = Checkpoints::open::<f64>(folder.path(), owner).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        let other = tempfile::tempdir().unwrap();
        let (mut others, _) = Checkpoints::open::<f64>(other.path(), owner).unwrap();
        save(&mut others, 10).unwrap();
        let (checkpoints, found) = open(folder.path());
        let found = found.unwrap();
        let own = fs::read(found.segments[0].path(folder.path())).unwrap();
        fs::copy(found.segments[0].path(other.path()), found.segments[0].path(folder.path())).unwrap();
        let error = checkpoints.sent(&found).unwrap_err().to_string();
        assert!(error.contains("sent-0 is of "), "{error}");
        fs::write(found.segments[0].path(folder.path()), own).unwrap();
    }
}

#[test]
fn a_disk_that_cannot_be_written_costs_nothing_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (mut checkpoints, _) = open(folder.path());
    save(&mut checkpoints, 10).unwrap();
    let in_the_way = folder.path().join("checkpoint-b.part");
    fs::create_dir(&in_the_way).unwrap(); // nothing can be written aside
    assert!(save(&mut checkpoints, 20).is_err());
    let (again, found) = open(folder.path());
    assert_eq!((found.unwrap().k, again.sent_until(), checkpoints.sent_until()), (10, Some(9), Some(9)));
    assert_eq!(segments(folder.path()), 1, "what belongs to nothing takes no room");
    fs::remove_dir(&in_the_way).unwrap();
    save(&mut checkpoints, 30).unwrap();
    let (again, found) = open(folder.path());
    assert_eq!(rounds(&again.sent(&found.unwrap()).unwrap()), (20..30).collect::<Vec<_>>(), "no gaps");
}

proptest! {
    #[test]
    fn damage_never_panics_and_is_never_believed(at: prop::sample::Index, with in 1u8.., cut: prop::sample::Index) {
        let folder = tempfile::tempdir().unwrap();
        let (checkpoints, _) = open(folder.path());
        let decode = |bytes: &[u8]| checkpoints.decode::<f64>(bytes, bytes.len() as u64, folder.path());
        let mut whole = vec![];
        let recent = [(4, vec![1.0])];
        let content = Content { k: 5, state: &[1.0, 2.0], recent: &recent, sent: &[], oldest: 0 };
        let segments = [Segment { number: 1, bytes: 2, last: 3 }];
        checkpoints.encode(&content, &segments, &mut whole).unwrap();
        prop_assert_eq!(decode(&whole).unwrap().state, [1.0, 2.0]);
        let mut damaged = whole.clone();
        damaged[at.index(whole.len())] ^= with;
        prop_assert!(decode(&damaged).is_err());
        prop_assert!(decode(&whole[..cut.index(whole.len())]).is_err());
        // lengths that lie, under a checksum that fits
        let (end, head) = (whole.len() - 32, 8 + Owner::BYTES);
        let mut lying = whole[..end].to_vec();
        lying[head + at.index(end - head)] ^= with;
        let checksum = Sha256::digest(&lying);
        lying.extend_from_slice(&checksum);
        drop(decode(&lying));
    }

    #[test]
    fn damaged_rows_are_never_believed(at: prop::sample::Index, with in 1u8.., cut: prop::sample::Index) {
        let folder = tempfile::tempdir().unwrap();
        let segment = Segment::write(folder.path(), &OWNER, 1, &[sent(1), sent(2)]).unwrap();
        let path = segment.path(folder.path());
        let whole = fs::read(&path).unwrap();
        prop_assert_eq!(segment.read::<f64>(&path, &OWNER).unwrap().len(), 2);
        let mut damaged = whole.clone();
        damaged[at.index(whole.len())] ^= with;
        for bytes in [&damaged[..], &whole[..cut.index(whole.len())]] {
            fs::write(&path, bytes).unwrap();
            prop_assert!(segment.read::<f64>(&path, &OWNER).is_err());
        }
    }
}
