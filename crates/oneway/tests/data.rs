//! Datasets from end to end: a9a against LIBSVM's own files, and text that goes out and comes back.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use oneway::Error;
use oneway::data::a9a::{FEATURES, Split, a9a};
use oneway::data::digits::digits;
use oneway::data::libsvm::Labels;
use oneway::data::{Dataset, SparseRows, idx, libsvm};
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

/// The rows of the digits as the lines of the file they come from: 64 counts and the label.
#[test]
fn digits_are_those_of_their_source_byte_for_byte() {
    let mut text = String::new();
    for split in [Split::Train, Split::Test] {
        let data = digits(split);
        data.check_rows().unwrap();
        assert_eq!(data.len(), if split == Split::Train { 1437 } else { 360 });
        for (r, label) in data.labels.iter().enumerate() {
            let mut counts = [0.0; 64];
            data.rows.row(r).for_each(|(column, share)| counts[column as usize] = share * 16.0);
            counts.iter().for_each(|count| text += &format!("{count},"));
            text += &format!("{label}\n");
        }
    }
    assert_eq!(sha256(text.as_bytes()), "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8");
}

#[test]
fn digits_are_written_and_read_back() {
    for (split, digest) in [
        (Split::Train, "b5159cd973b3b441585c38dee8d409432d8344e9ae29eb4f853031d242efcf26"),
        (Split::Test, "842e868a4a4df6c8d882bfd84564f2547ea34c230fea30fc6816a6e629e6ef01"),
    ] {
        let data = digits(split);
        let text = written(&data);
        assert_eq!(sha256(&text), digest, "{split:?}");
        let read = libsvm::parse_as(Labels::Numbers, &text[..], Path::new("digits"), Some(64)).unwrap();
        assert_eq!(read, data, "{split:?}");
    }
}

/// Only where Debian's package is installed; elsewhere its absence must be told.
#[test]
fn fashion_mnist_is_read_or_its_package_is_named() {
    if !idx::is_there(Path::new(idx::FASHION_MNIST)) {
        let error = idx::fashion_mnist(Split::Train).unwrap_err().to_string();
        assert!(error.contains("install Debian's package `dataset-fashion-mnist`"), "{error}");
        return;
    }
    for (split, rows) in [(Split::Train, 60_000), (Split::Test, 10_000)] {
        let data = idx::fashion_mnist(split).unwrap();
        assert_eq!((data.len(), data.features), (rows, 784));
        for class in 0..10 {
            let count = data.labels.iter().filter(|label| **label == f64::from(class)).count();
            assert_eq!(count, rows / 10, "{split:?} {class}");
        }
    }
}

#[test]
fn a_folder_of_idx_files_is_read_plain_or_compressed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("idx");
    std::fs::create_dir_all(&folder).unwrap();
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[0, 255, 51, 0]].concat();
    let labels = [0, 0, 8, 1, 0, 0, 0, 2, 9, 4];
    assert!(!idx::is_there(&folder.join("none")));
    let compressed = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(vec![], Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("train-images-idx3-ubyte", &images);
    write("train-labels-idx1-ubyte.gz", &compressed(&labels));
    assert!(idx::is_there(&folder));
    let data = idx::read(&folder, Split::Train).unwrap();
    assert_eq!((data.features, &data.labels[..]), (2, &[9.0, 4.0][..]));
    assert_eq!(data.rows.row(0).collect::<Vec<_>>(), [(1, 1.0)]);

    let missing = idx::read(&folder, Split::Test).unwrap_err();
    assert!(
        matches!(&missing, Error::Io { path, .. } if path.ends_with("t10k-images-idx3-ubyte.gz")),
        "{missing}"
    );
    let whole = compressed(&labels);
    for damaged in [&whole[..whole.len() - 9], b"not gzip at all", b""] {
        write("train-labels-idx1-ubyte.gz", damaged);
        let error = idx::read(&folder, Split::Train).unwrap_err();
        let named = matches!(&error, Error::Io { path, .. } | Error::File { path, .. } if path.ends_with("train-labels-idx1-ubyte.gz"));
        assert!(named, "{error}");
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
    fn numbers_for_labels_are_read_back(data in dataset(), labels in vec(-1e3..1e3, 20)) {
        let data = Dataset { labels: labels[..data.len()].to_vec(), ..data };
        let text = written(&data);
        let read = libsvm::parse_as(Labels::Numbers, &text[..], Path::new("rows"), Some(data.features)).unwrap();
        prop_assert_eq!(read, data);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop_oneof![vec(any::<u8>(), 0..200), nearly_rows()],
        features in proptest::option::of(0usize..10), labels in proptest::sample::select(&[Labels::Signs, Labels::Numbers]),
    ) {
        match libsvm::parse_as(labels, &bytes[..], Path::new("bytes"), features) {
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
