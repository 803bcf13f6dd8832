use super::*;

fn parsed(text: impl AsRef<[u8]>, features: Option<usize>) -> Result<Dataset> {
    parse(text.as_ref(), Path::new("rows.txt"), features)
}

fn labels(text: &str) -> Vec<f64> {
    parsed(text, Some(1)).unwrap().labels
}

fn written(dataset: &Dataset) -> String {
    let mut out = Vec::new();
    write(dataset, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_pair_of_labels_is_read_as_signs() {
    assert_eq!(labels("+1\n-1\n1.0\n-1e0\n"), [1.0, -1.0, 1.0, -1.0]);
    assert_eq!(labels("1\n0\n-0\n"), [1.0, -1.0, -1.0]);
    assert_eq!(labels("1\n1\n2\n"), [-1.0, -1.0, 1.0]);
}

#[test]
fn a_file_of_one_class_keeps_its_sign() {
    assert_eq!(labels("1\n+1\n"), [1.0, 1.0]);
    assert_eq!(labels("-1\n"), [-1.0]);
    assert_eq!(labels("0\n"), [-1.0]);
    assert_eq!(labels("2\n"), [1.0]);
}

#[test]
fn blanks_comments_and_line_ends_do_not_matter() {
    let plain = parsed("+1 1:0.5 3:1\n-1 2:7\n", Some(3)).unwrap();
    let adorned = "# h\u{e9}ading\r\n\r\n\t +1  1:.5 3:1.0 #3:2\r\n   \n-1 2:7e0";
    assert_eq!(parsed(adorned, Some(3)).unwrap(), plain);
    assert_eq!(parsed(format!("\u{feff}{adorned}"), Some(3)).unwrap(), plain);
}

#[test]
fn without_features_the_largest_index_counts_even_of_a_zero() {
    let data = parsed("+1 2:1 9:0\n-1 4:1\n", None).unwrap();
    assert_eq!((data.features, data.rows.entries()), (9, 2));
    assert!(data.rows.is_binary());
}

#[test]
fn values_are_written_with_the_fewest_digits() {
    let values = [1.0, -1.0, 0.1, 1e-5, 9.9e-6, 1e15, 1e16, f64::MAX, f64::from_bits(1)];
    let mut rows = SparseRows::new();
    rows.push((0..).zip(values));
    let dataset = Dataset { features: values.len(), labels: vec![-1.0], rows };
    let text =
        "-1 1:1 2:-1 3:0.1 4:0.00001 5:9.9e-6 6:1000000000000000 7:1e16 8:1.7976931348623157e308 9:5e-324 \n";
    assert_eq!(written(&dataset), text);
    assert_eq!(parsed(text, Some(values.len())).unwrap(), dataset);
}

#[test]
fn bad_lines_are_named_with_their_place_and_what_would_be_right() {
    let allowed = "a row begins with its label, -1 or +1 (or 0 or 1, or 1 or 2, in the whole file)";
    let long_cell = format!("1 {}", "x".repeat(99));
    let long_cell_shown = format!("1:3: `{}…` is not `index:value`, such as `3:0.5`", "x".repeat(40));
    for (text, expected) in [
        ("1 2:1 7\n", "1:7: `7` is not `index:value`, such as `3:0.5`"),
        (&long_cell, &long_cell_shown),
        ("1 :1\n", "1:3: `` is not a feature index: give a whole number from 1"),
        ("1 -2:1\n", "1:3: `-2` is not a feature index: give a whole number from 1"),
        ("1 qid:1\n", "1:3: `qid` is not a feature index: give a whole number from 1"),
        ("1 é:1 3:1\n", "1:3: `é` is not a feature index: give a whole number from 1"),
        ("1 1:1\n\n1 0:1\n", "3:3: index 0 is not possible: features count from 1"),
        ("1 1:1 3:1 2:1\n", "1:11: index 2 comes after 3: indices must ascend"),
        ("1 3:1\t3:1\n", "1:7: index 3 is repeated: give each feature once in a row"),
        ("1 3:0 3:1\n", "1:7: index 3 is repeated: give each feature once in a row"),
        ("1 9:1 10:1\n", "1:7: index 10 is beyond the 9 features: correct it, or `features`"),
        ("1 4294967296:1\n", "1:3: index 4294967296 is beyond the 9 features: correct it, or `features`"),
        ("1 1:\n", "1:5: the value `` is not a number, such as `1` or `-2.5e3`"),
        ("\u{feff}1 é\n", "1:3: `é` is not `index:value`, such as `3:0.5`"),
        ("1 é\n", "1:3: `é` is not `index:value`, such as `3:0.5`"),
        ("1 1:é:2\n", "1:5: the value `é:2` is not a number, such as `1` or `-2.5e3`"),
        ("1 1:nan\n", "1:5: the value `nan` is not finite: give a number of at most 1.7e308"),
        ("1 1:-inf\n", "1:5: the value `-inf` is not finite: give a number of at most 1.7e308"),
        ("1 1:1e999\n", "1:5: the value `1e999` is not finite: give a number of at most 1.7e308"),
        (" 3 1:1\n", &format!("1:2: `3` is not a label: {allowed}")),
        ("1:1 2:1\n", &format!("1:1: `1:1` is not a label: {allowed}")),
        ("nan\n", &format!("1:1: `nan` is not a label: {allowed}")),
        ("\u{1b}[2J\n", &format!("1:1: `\\u{{1b}}[2J` is not a label: {allowed}")),
        ("1\n-1\n1\n0\n", &format!("4:1: label 0 does not go with label -1 on line 2: {allowed}")),
        ("2\n-1\n", &format!("2:1: label -1 does not go with label 2 on line 1: {allowed}")),
    ] {
        let error = parsed(text, Some(9)).unwrap_err();
        assert!(matches!(error, Error::Parse { .. }));
        assert_eq!(error.to_string(), format!("rows.txt:{expected}"), "for {text:?}");
    }
}

#[test]
fn an_index_too_large_for_any_number_of_features_is_refused() {
    let message = "rows.txt:1:3: index 4294967296 is too large: the largest possible is 4294967295";
    assert_eq!(parsed("1 4294967296:1\n", None).unwrap_err().to_string(), message);
    assert_eq!(parsed("1 4294967295:1\n", None).unwrap().features, 4_294_967_295);
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_place() {
    let message = "rows.txt:2:5: not text in UTF-8: give a LIBSVM file that is not compressed";
    assert_eq!(parsed(b"1 1:1\n1 #\xc3\xa9\xff\n", None).unwrap_err().to_string(), message);
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let endless = BufReader::new(io::repeat(b'1'));
    let error = parse(endless, Path::new("zeros"), None).unwrap_err();
    assert_eq!(error.to_string(), "zeros:1:1: the line is longer than 64 MiB: this is no LIBSVM file");
}

#[test]
fn files_without_rows_or_features_are_refused() {
    for empty in ["", "\n\r\n", "# only a comment"] {
        let error = parsed(empty, Some(9)).unwrap_err();
        assert!(matches!(error, Error::File { .. }));
        assert!(error.to_string().starts_with("rows.txt: has no rows: each line must be"), "{error}");
    }
    let error = parsed("1\n-1\n", None).unwrap_err();
    assert!(matches!(error, Error::File { .. }) && error.to_string().ends_with("give `features`"), "{error}");
    let error = parsed("1\n", Some(0)).unwrap_err();
    assert_eq!(error.to_string(), "rows.txt: `features` = 0 is not possible: give at least 1");
}
