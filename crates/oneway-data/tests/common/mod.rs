//! Rows written in every format that is read.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test file uses a part of it

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use oneway::data::{Dataset, Split, libsvm};
use oneway_data::{Expected, LabelKind, Layout, Loaded};

pub const EXPECTED: Expected<'static> =
    Expected { labels: LabelKind::Classes, features: None, split: Split::Train, words: None };

/// Reads bytes as a file of this name.
pub fn read(name: &str, bytes: &[u8], layout: &Layout, expected: Expected<'_>) -> oneway::Result<Loaded> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    oneway_data::read(&path, layout, expected)
}

/// The message of a file that must be refused, without its folder.
#[track_caller]
pub fn complaint(name: &str, bytes: &[u8], layout: &Layout, expected: Expected<'_>) -> String {
    let error = read(name, bytes, layout, expected).unwrap_err().to_string();
    match error.find(name) {
        Some(at) => error[at..].to_owned(),
        None => error,
    }
}

pub fn to_libsvm(data: &Dataset) -> Vec<u8> {
    let mut text = vec![];
    libsvm::write(data, &mut text).unwrap();
    text
}

/// All cells, row by row.
pub fn dense(data: &Dataset) -> Vec<Vec<f64>> {
    let row = |r| {
        let mut row = vec![0.0; data.features];
        data.rows.row(r).for_each(|(column, value)| row[column as usize] = value);
        row
    };
    (0..data.len()).map(row).collect()
}

/// Labels in the column `at`, from 0.
pub fn to_csv(data: &Dataset, at: usize, separator: char, header: bool) -> Vec<u8> {
    let mut text = String::new();
    let mut line = |cells: Vec<String>| writeln!(text, "{}", cells.join(&separator.to_string())).unwrap();
    if header {
        let mut names: Vec<String> = (0..data.features).map(|c| format!("\"f {c}\"")).collect();
        names.insert(at, "label".to_owned());
        line(names);
    }
    for (row, label) in dense(data).iter().zip(&data.labels) {
        let mut cells: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
        cells.insert(at, format!("{label:?}"));
        line(cells);
    }
    text.into_bytes()
}

/// An NPY file of float64.
pub fn to_npy(shape: &[usize], fortran: bool, numbers: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<f8", shape, fortran, &bytes)
}

pub fn npy(descr: &str, shape: &[usize], fortran: bool, bytes: &[u8]) -> Vec<u8> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let order = if fortran { "True" } else { "False" };
    npy_with(&format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sides}), }}\n"), bytes)
}

pub fn npy_with(header: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// A table with the label in its first column.
pub fn table_npy(data: &Dataset, fortran: bool) -> Vec<u8> {
    let rows: Vec<Vec<f64>> =
        dense(data).into_iter().zip(&data.labels).map(|(row, label)| [vec![*label], row].concat()).collect();
    let columns = data.features + 1;
    let numbers: Vec<f64> = match fortran {
        false => rows.concat(),
        true => (0..columns).flat_map(|c| rows.iter().map(move |row| row[c])).collect(),
    };
    to_npy(&[data.len(), columns], fortran, &numbers)
}

pub fn to_npz(data: &Dataset, deflated: bool) -> Vec<u8> {
    let rows = to_npy(&[data.len(), data.features], false, &dense(data).concat());
    let labels = to_npy(&[data.len()], false, &data.labels);
    zip(&[("X.npy", &rows), ("y.npy", &labels)], deflated)
}

/// A ZIP archive as `numpy.savez` writes it.
pub fn zip(members: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let (mut file, mut list) = (vec![], vec![]);
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let packed = if deflated { deflate(bytes) } else { bytes.to_vec() };
        let at = file.len() as u32;
        let method: u16 = if deflated { 8 } else { 0 };
        let mut common = vec![];
        common.extend([20, 0, 0, 0]);
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(&packed);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let at = file.len() as u32;
    file.extend(&list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        file.extend((members.len() as u16).to_le_bytes());
    }
    file.extend((list.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0; 2]);
    file
}

pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![], Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Every way to write a dataset: a name, the bytes, and what has to be said of them.
pub fn every_form(data: &Dataset) -> Vec<(&'static str, Vec<u8>, Layout)> {
    let plain = Layout::default;
    let column = |number| Layout { label: Some(oneway_data::Column::Number(number)), ..Layout::default() };
    let text = to_libsvm(data);
    let csv = to_csv(data, data.features, ',', true);
    let mut twice = gzip(&text[..text.len() / 2]);
    twice.extend(gzip(&text[text.len() / 2..]));
    let mut frames = zstd(&csv[..csv.len() / 3]);
    frames.extend(zstd(&csv[csv.len() / 3..]));
    vec![
        ("plain.txt", text.clone(), plain()),
        ("rows.gz", gzip(&text), plain()),
        ("members.gz", twice, plain()),
        ("rows.bz2", bzip2(&text), plain()),
        ("rows.zst", zstd(&text), plain()),
        ("misnamed.txt", zstd(&text), plain()),
        ("rows.csv", csv.clone(), plain()),
        ("first.csv", to_csv(data, 0, ';', false), column(1)),
        ("tabs.tsv", to_csv(data, 0, '\t', true), plain()),
        ("blanks.data", to_csv(data, 0, ' ', false), Layout { separator: Some(b' '), ..column(1) }),
        ("rows.csv.gz", gzip(&csv), plain()),
        ("frames.csv.zst", frames, plain()),
        ("rows.csv.bz2", bzip2(&csv), plain()),
        ("c.npy", table_npy(data, false), column(1)),
        ("fortran.npy", table_npy(data, true), column(1)),
        ("c.npy.gz", gzip(&table_npy(data, false)), column(1)),
        ("stored.npz", to_npz(data, false), plain()),
        ("deflated.npz", to_npz(data, true), plain()),
    ]
}

pub fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}
