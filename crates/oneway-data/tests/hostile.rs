//! Files that are damaged, cut off or made to do harm: each is refused with what is wrong, without a panic, and
//! without more memory than a bound.
#![allow(clippy::unwrap_used)]

mod common;

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::{EXPECTED, bzip2, complaint, every_form, gzip, npy, npy_with, read, zip, zstd};
use oneway::data::{Split, digits};
use oneway_data::{Column, Expected, LabelKind, Layout, most_bytes};
use proptest::prelude::*;

/// Counts what is in use, and the most that ever was.
struct Counting;
static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// a global allocator is unsafe by definition; this one only counts
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        MOST.fetch_max(USED.fetch_add(block.size(), Relaxed) + block.size(), Relaxed);
        unsafe { System.alloc(block) }
    }
    unsafe fn dealloc(&self, at: *mut u8, block: Block) {
        USED.fetch_sub(block.size(), Relaxed);
        unsafe { System.dealloc(at, block) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn first_column() -> Layout {
    Layout { label: Some(Column::Number(1)), ..Layout::default() }
}

/// All in one test: memory is counted for the whole process.
#[test]
fn claims_are_not_believed() {
    let before = USED.load(Relaxed);
    MOST.store(before, Relaxed);
    let none = Layout::default();
    let huge = [
        (npy("<f8", &[1 << 40, 3], false, &[0; 24]), "ends after 1 of 1099511627776 rows: it is cut off"),
        (npy("<f8", &[3, 1 << 27], false, &[0; 24]), "ends after 0 of 3 rows: it is cut off"),
        (npy("<f8", &[3, 1 << 27], true, &[0; 24]), "ends after 0 of 3 rows: it is cut off"),
        (npy("<f8", &[3, 1 << 40], false, &[0; 24]), "claims to have 1099511627776 columns"),
        (npy("<f8", &[usize::MAX, usize::MAX], false, &[]), "it must have a row or more, of possible size"),
        (npy("<f8", &[0, 4], false, &[]), "it must have a row or more"),
        (npy("<f8", &[4, 0], false, &[]), "it must have a row or more"),
        (npy("<f8", &[4], false, &[0; 32]), "is an array with 1 axes"),
        (npy("<f8", &[1, 2], false, &[0; 17]), "goes on after the last number"),
        (npy("|O", &[1, 2], false, &[0; 17]), "has numbers of type `|O`"),
        (npy("<f2", &[1, 2], false, &[0; 4]), "has numbers of type `<f2`"),
        (npy_with("{'descr': '<f8', 'shape': (1, 2)}", &[]), "has a header that cannot be read"),
        (npy_with("", &[]), "has a header that cannot be read"),
        (npy_with(&"(".repeat(60_000), &[]), "has a header that cannot be read"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "has a header of version 2 and 4294967295 bytes"),
        (b"\x93NUMPY\x01".to_vec(), "ends within its header"),
    ];
    for (bytes, words) in huge {
        let told = complaint("x.npy", &bytes, &first_column(), EXPECTED);
        assert!(told.contains(words), "`{words}` is not in: {told}");
    }

    // a few kilobytes that claim to be hundreds of megabytes
    let zeros = vec![b'1'; 100 << 20];
    for (name, bomb) in [("x.gz", gzip(&zeros)), ("x.bz2", bzip2(&zeros)), ("x.zst", zstd(&zeros))] {
        assert!(most_bytes(bomb.len() as u64) < 100 << 20, "{name} has {} bytes", bomb.len());
        MOST.store(USED.load(Relaxed), Relaxed);
        let began = USED.load(Relaxed);
        let told = complaint(name, &bomb, &none, EXPECTED);
        let words =
            ["it becomes more than 67108864 bytes when decompressed", "the line is longer than 64 MiB"];
        assert!(words.iter().any(|words| told.contains(words)), "{told}");
        assert!(MOST.load(Relaxed) - began < 300 << 20, "{name}: {} bytes", MOST.load(Relaxed) - began);
    }
    let array = npy("|u1", &[1 << 20, 200], false, &vec![0; 200 << 20]);
    let labels = npy("|u1", &[1 << 20], false, &vec![0; 1 << 20]);
    let bomb = zip(&[("X.npy", &array), ("y.npy", &labels)], true);
    drop((array, labels));
    let told = complaint("x.npz", &bomb, &none, EXPECTED);
    assert!(told.contains("it becomes more than 67108864 bytes when decompressed"), "{told}");
    drop(bomb);

    // a million columns are read; more than 2²⁰ are not
    let wide = format!(
        "label{}\n1{}\n0{}\n",
        ",x".repeat(1_000_000),
        ",0".repeat(1_000_000),
        ",3".repeat(1_000_000)
    );
    let data = read("wide.csv", wide.as_bytes(), &none, EXPECTED).unwrap().data;
    assert_eq!((data.features, data.rows.entries()), (1_000_000, 1_000_000));
    let wider = ",".repeat(1 << 21);
    let told = complaint("wider.csv", wider.as_bytes(), &none, EXPECTED);
    assert_eq!(told, "wider.csv:1:1: there are more than 1048576 columns");
    let endless = format!("a,\"{}", "x".repeat(65 << 20));
    let told = complaint("endless.csv", endless.as_bytes(), &none, EXPECTED);
    assert_eq!(told, "endless.csv:1:1: the record is longer than 64 MiB");
}

#[test]
fn archives_that_lie_are_refused() {
    let rows = npy("|u1", &[2, 2], false, &[1, 2, 3, 4]);
    let labels = npy("|u1", &[2], false, &[0, 1]);
    let whole = zip(&[("X.npy", &rows), ("y.npy", &labels)], false);
    let none = Layout::default();
    let changed = |from: &[u8], to: &[u8]| {
        let at = whole.windows(from.len()).rposition(|window| window == from).unwrap();
        [&whole[..at], to, &whole[at + from.len()..]].concat()
    };
    let cut = [
        (whole[..whole.len() - 30].to_vec(), "it has no end"),
        (
            changed(b"PK\x05\x06\0\0\0\0\x02\0\x02\0", b"PK\x05\x06\0\0\0\0\x02\0\xf0\xf0"),
            "it claims to have 61680 members",
        ),
        (changed(b"PK\x01\x02", b"PK\x01\x03"), "its list of members is damaged"),
        (changed(&[1, 2, 3, 4], &[1, 2, 3, 5]), "checksum or size is wrong"),
        (
            zip(&[("../../etc/X.npy", &rows), ("y.npy", &labels)], true),
            "which of its arrays has the rows? Give `array`, one of ../../etc/X, y",
        ),
        (zip(&[("X.npy", &rows)], true), "which of its arrays has the labels? Give `label`, one of X"),
        (
            zip(&[("X.npy", &rows), ("y.npy", &npy("|u1", &[3], false, &[0, 1, 2]))], true),
            "there must be one label for each row",
        ),
        (zip(&[("X.npy", b"no array"), ("y.npy", &labels)], true), "`X.npy` is no NPY file"),
    ];
    for (bytes, words) in cut {
        let told = complaint("x.npz", &bytes, &none, EXPECTED);
        assert!(told.contains(words), "`{words}` is not in: {told}");
    }
}

#[test]
fn tables_are_refused_with_line_and_column() {
    let signs = Expected { labels: LabelKind::Signs, ..EXPECTED };
    let named = |name: &str| Layout { label: Some(Column::Name(name.to_owned())), ..Layout::default() };
    let none = Layout::default();
    for (text, layout, words) in [
        ("age,label\n1,0\n,1\n", &none, "x.csv:3:1: column 1 (age) is empty: a value is missing"),
        ("age,label\n1,0\nNA,1\n", &none, "x.csv:3:1: column 1 (age) has `NA`: a value is missing"),
        ("age,label\n1,0\n2,\n", &none, "x.csv:3:2: column 2 (label) is empty"),
        (
            "age,label\n1,0\n\n# comment\n\"2\n\",1\nx,1\n",
            &none,
            "x.csv:7:1: column 1 (age) has `x`, which is not a number",
        ),
        ("age,label\r\n1,0\r\nx,1\r\n", &none, "x.csv:3:1: column 1 (age) has `x`"),
        ("age;label\n1,5;0\n", &none, "x.csv:2:1: column 1 (age) has `1,5`: numbers have a decimal point"),
        ("age,label\n1,0\n1,0,3\n", &none, "x.csv:3:3: there are 3 columns, and line 1 has 2"),
        ("age,label\n1,0\ninf,1\n", &none, "x.csv:3:1: inf is not a finite number"),
        (
            "age,label\n1,0\n1,nope\n",
            &none,
            "x.csv:3:2: the label `nope` is a word, and those before are numbers",
        ),
        ("0,1,label\n3,4,5\n", &first_column(), "x.csv:1:3: column 3 has `label`, which is not a number"),
        ("1,2\n3,4\n", &none, "which of its 2 columns is the label? Give `label`, a number from 1 to 2"),
        ("a,b\n3,4\n", &none, "which of its 2 columns is the label? Give `label`, a name such as \"a\""),
        ("a,b\n3,4\n", &named("c"), "`label`: unknown column `c`"),
        ("1,2\n3,4\n", &named("c"), "its columns have no names"),
        ("a,a\n3,4\n", &named("a"), "two columns have this name"),
        ("label\n3\n", &named("label"), "has no column of features beside the label"),
        ("a,label\n", &none, "has no rows"),
        (
            "a,label\n1,3\n2,8\n3,9\n",
            &none,
            "pick or merge others with `classes`, such as classes = [[3], [9]]",
        ),
    ] {
        let told = complaint("x.csv", text.as_bytes(), layout, signs);
        assert!(told.contains(words), "`{words}` is not in: {told}");
    }
    let told = complaint("x.csv", b"a,label\n1,0\n\xff,1\n", &none, signs);
    assert!(told.starts_with("x.csv:3:1: it is not text in UTF-8"), "{told}");
    let ninth = Layout { label: Some(Column::Number(9)), ..Layout::default() };
    let told = read("x.csv", b"1,2\n", &ninth, signs).unwrap_err().to_string();
    assert!(told.ends_with("`label` = 9 is not possible: its columns are numbered from 1 to 2"), "{told}");
    let told =
        complaint("x.txt", b"+1 1:1\n", &Layout { array: Some("X".into()), ..Layout::default() }, signs);
    assert_eq!(told, "x.txt: is a LIBSVM file, where `array` says nothing: leave it out");
    if !cfg!(feature = "parquet") {
        let told = complaint("x.parquet", b"PAR1\x15\x04", &none, signs);
        assert!(told.contains("build it with `--features parquet`"), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file that is cut off or in which a byte is changed is read or refused.
    #[test]
    fn damage_never_panics(form in 0_usize..18, cut in 0.0..1.0_f64, at in 0.0..1.0_f64, byte: u8, keep: bool) {
        let digits = digits::digits(Split::Test);
        let data = digits.select(&[0, 1, 2, 3, 4, 5]);
        let (name, mut bytes, layout) = every_form(&data).swap_remove(form);
        let place = ((bytes.len() as f64 * at) as usize).min(bytes.len() - 1);
        bytes[place] = byte;
        if !keep {
            bytes.truncate((bytes.len() as f64 * cut) as usize);
        }
        for labels in [LabelKind::Signs, LabelKind::Classes, LabelKind::Targets] {
            let _ = read(name, &bytes, &layout, Expected { labels, ..EXPECTED });
        }
    }
}
