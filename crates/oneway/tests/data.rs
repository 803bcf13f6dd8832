//! Datasets from end to end: a9a against LIBSVM's own files, and text that goes out and comes back.

use std::path::Path;

use oneway::Error;
use oneway::data::a9a::{FEATURES, Split, a9a};
use oneway::data::{Dataset, SparseRows, libsvm};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

fn written(dataset: &Dataset) -> Vec<u8> {
    let mut text = Vec::new();
    libsvm::write(dataset, &mut text).expect("writing to memory does not fail");
    text
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a9a_has_its_known_counts() {
    for (split, rows, positive, entries) in
        [(Split::Train, 32_561, 7_841, 451_592), (Split::Test, 16_281, 3_846, 225_731)]
    {
        let data = a9a(split);
        assert_eq!((data.features, data.len(), data.rows.len()), (FEATURES, rows, rows), "{split:?}");
        assert_eq!(data.labels.iter().filter(|&&label| label == 1.0).count(), positive, "{split:?}");
        assert_eq!(data.labels.iter().filter(|&&label| label == -1.0).count(), rows - positive, "{split:?}");
        assert_eq!(data.rows.entries(), entries, "{split:?}");
        assert!(data.rows.is_binary(), "{split:?}");
    }
}

#[test]
fn a9a_is_written_as_libsvms_own_files_byte_for_byte_and_read_back() {
    for (split, bytes, digest) in [
        (Split::Train, 2_329_875, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
        (Split::Test, 1_164_628, "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),
    ] {
        let data = a9a(split);
        let text = written(&data);
        assert_eq!((text.len(), sha256(&text).as_str()), (bytes, digest), "{split:?}");
        assert_eq!(libsvm::parse(&text[..], Path::new("a9a"), Some(FEATURES)).unwrap(), data, "{split:?}");
    }
}

#[test]
fn the_number_of_features_of_a9as_test_rows_cannot_be_inferred() {
    let text = written(&a9a(Split::Test));
    assert_eq!(libsvm::parse(&text[..], Path::new("a9a.t"), None).unwrap().features, 122);
}

#[test]
fn a_file_is_read_from_its_path() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three-rows.txt");
    let data = a9a(Split::Test).select(&[5, 0, 77]);
    std::fs::write(&path, written(&data)).unwrap();
    assert_eq!(libsvm::read(&path, Some(FEATURES)).unwrap(), data);
}

#[test]
fn missing_files_directories_and_empty_files_are_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));

    let missing = folder.join("no-such-file.txt");
    let error = libsvm::read(&missing, None).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");

    let error = libsvm::read(folder, None).unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if path == folder), "{error}");
    assert!(error.to_string().ends_with("is a directory: give a file in LIBSVM's format"), "{error}");

    let empty = folder.join("empty.txt");
    std::fs::write(&empty, "").unwrap();
    let error = libsvm::read(&empty, None).unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if *path == empty), "{error}");
}

/// Values of every size, and often 1, so that binary rows come up too.
fn value() -> impl Strategy<Value = f64> {
    let any_finite = any::<f64>().prop_filter("finite, not zero", |value| value.is_finite() && *value != 0.0);
    prop_oneof![2 => Just(1.0), 1 => any_finite]
}

fn dataset() -> impl Strategy<Value = Dataset> {
    (1usize..400).prop_flat_map(|features| {
        let row = btree_map(0..features as u32, value(), 0..12);
        let label = prop_oneof![Just(1.0), Just(-1.0)];
        vec((label, row), 1..20).prop_map(move |labelled| {
            let (labels, entries): (Vec<f64>, Vec<_>) = labelled.into_iter().unzip();
            let mut rows = SparseRows::new();
            entries.into_iter().for_each(|row| rows.push(row));
            Dataset { features, labels, rows }
        })
    })
}

/// Bytes that look enough like rows to get past the first cell.
fn nearly_rows() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&str; 14] =
        ["+1", "-1", "0", "2", " ", "\n", "\r\n", ":", "1:1", "3:0.5", "7:", "#", "é", "9999999999"];
    let piece = prop_oneof![
        9 => proptest::sample::select(&PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..3),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(data in dataset()) {
        let text = written(&data);
        prop_assert_eq!(libsvm::parse(&text[..], Path::new("rows"), Some(data.features)).unwrap(), data);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop_oneof![vec(any::<u8>(), 0..200), nearly_rows()],
        features in proptest::option::of(0usize..10),
    ) {
        match libsvm::parse(&bytes[..], Path::new("bytes"), features) {
            Ok(data) => {
                prop_assert_eq!(data.rows.len(), data.len());
                prop_assert!(data.features > 0 && !data.is_empty());
            }
            Err(Error::Parse { line, column, .. }) => prop_assert!(line > 0 && column > 0),
            Err(Error::File { .. } | Error::Parameter { .. }) => {}
            Err(other) => return Err(TestCaseError::fail(format!("unexpected {other:?}"))),
        }
    }
}
