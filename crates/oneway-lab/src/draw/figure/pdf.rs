//! The same PDF in the same bytes.
//!
//! `svg2pdf` keeps fonts and graphics states in hash maps, so their order in the file, and the numbers of
//! their objects, change from run to run. Here resources are sorted by name and objects are numbered in the
//! order in which they are first referred to from the root; what the file shows stays as it is.

use std::collections::BTreeMap;

/// An object without its number.
struct Object<'a> {
    /// Dictionary, array or number, as text.
    head: String,
    /// From `stream` on, for those that have one.
    stream: &'a [u8],
}

/// Sorts and renumbers a file that `pdf-writer` wrote; `None` if it is not like one.
pub(crate) fn canonical(pdf: &[u8]) -> Option<Vec<u8>> {
    let start = find_last(pdf, b"startxref\n")? + b"startxref\n".len();
    let table_at: usize = text(&pdf[start..])?.lines().next()?.parse().ok()?;
    let table = text(pdf.get(table_at..)?)?;
    let offsets = offsets(table)?;
    let body = offsets.first()?.0;
    let ends = offsets.iter().skip(1).map(|&(offset, _)| offset).chain([table_at]);
    let mut objects: BTreeMap<u32, Object<'_>> = BTreeMap::new();
    for (&(offset, id), end) in offsets.iter().zip(ends) {
        let object = pdf.get(offset..end)?.strip_prefix(format!("{id} 0 obj\n").as_bytes())?;
        let split = find(object, b"\nstream\n").unwrap_or(object.len());
        objects
            .insert(id, Object { head: sort_resources(text(&object[..split])?), stream: &object[split..] });
    }

    let trailer = table.split_once("trailer\n")?.1.split_once("startxref")?.0;
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let mut order = references(trailer);
    let mut at = 0;
    while let Some(&id) = order.get(at) {
        at += 1;
        if numbers.contains_key(&id) {
            continue;
        }
        numbers.insert(id, numbers.len() + 1);
        order.extend(references(&objects.get(&id)?.head));
    }

    let mut by_number: Vec<(usize, u32)> = numbers.iter().map(|(&id, &number)| (number, id)).collect();
    by_number.sort_unstable();
    let mut out = pdf.get(..body)?.to_vec();
    let mut entries = String::new();
    for (number, id) in by_number {
        let Object { head, stream } = objects.get(&id)?;
        entries += &format!("{:010} 00000 n\r\n", out.len());
        out.extend(format!("{number} 0 obj\n{}", renumbered(head, &numbers)?).as_bytes());
        out.extend(*stream);
    }
    let (table_at, size) = (out.len(), numbers.len() + 1);
    let trailer: String =
        trailer.lines().filter(|line| !line.trim_start().starts_with("/Size")).collect::<Vec<_>>().join("\n");
    let trailer = renumbered(&trailer, &numbers)?.replacen("<<", &format!("<<\n  /Size {size}"), 1);
    out.extend(format!("xref\n0 {size}\n0000000000 65535 f\r\n{entries}trailer\n{trailer}\n").as_bytes());
    out.extend(format!("startxref\n{table_at}\n%%EOF").as_bytes());
    Some(out)
}

/// Where the objects are, and their numbers, as they stand in the file.
fn offsets(table: &str) -> Option<Vec<(usize, u32)>> {
    let entries = table.strip_prefix("xref\n0 ")?.split_once('\n')?.1.split_once("trailer")?.0;
    let mut offsets = vec![];
    for (entry, id) in entries.lines().zip(0..) {
        let mut parts = entry.split_whitespace();
        let (offset, _, kind) = (parts.next()?, parts.next()?, parts.next()?);
        if kind == "n" {
            offsets.push((offset.parse().ok()?, id));
        }
    }
    offsets.sort_unstable();
    Some(offsets)
}

/// Sorts neighbouring lines such as `/gs0 9 0 R`: short names first, so that gs10 follows gs9.
fn sort_resources(head: &str) -> String {
    let is_resource = |line: &str| {
        let name =
            line.trim_start().strip_prefix('/').and_then(|entry| entry.split(' ').next()).unwrap_or("");
        line.ends_with(" 0 R") && name.len() > 2 && name.chars().skip(2).all(|c| c.is_ascii_digit())
    };
    let mut lines: Vec<&str> = head.split('\n').collect();
    for run in lines.chunk_by_mut(|a, b| is_resource(a) && is_resource(b)) {
        run.sort_by_key(|line| {
            let name = line.trim_start().split(' ').next().unwrap_or("");
            (name.len(), name)
        });
    }
    lines.join("\n")
}

/// The numbers of `12 0 R` and its like, in order.
fn references(head: &str) -> Vec<u32> {
    let mut parts: Vec<&str> = head.split(" 0 R").collect();
    parts.pop();
    parts.into_iter().filter_map(|part| split_number(part)?.1.parse().ok()).collect()
}

/// With new numbers for all that is referred to.
fn renumbered(head: &str, numbers: &BTreeMap<u32, usize>) -> Option<String> {
    let mut parts: Vec<&str> = head.split(" 0 R").collect();
    let rest = parts.pop()?;
    let mut out = String::new();
    for part in parts {
        let (before, id) = split_number(part)?;
        out += &format!("{before}{} 0 R", numbers.get(&id.parse().ok()?)?);
    }
    Some(out + rest)
}

/// Text and the digits at its end.
fn split_number(part: &str) -> Option<(&str, &str)> {
    let before = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &part[before.len()..];
    (!digits.is_empty()).then_some((before, digits))
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn find_last(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).rposition(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_go_by_name() {
        assert_eq!(
            sort_resources("<<\n /gs10 3 0 R\n /gs2 4 0 R\n>>\n/Type /Page\n/Parent 1 0 R"),
            "<<\n /gs2 4 0 R\n /gs10 3 0 R\n>>\n/Type /Page\n/Parent 1 0 R"
        );
        assert_eq!(references("/A [12 0 R] /B 3 0 R\n"), [12, 3]);
    }

    #[test]
    fn what_is_no_pdf_is_refused() {
        for bytes in [&b""[..], b"%PDF-1.7", b"startxref\n9\n%%EOF", b"xref\nstartxref\n0\n"] {
            assert!(canonical(bytes).is_none());
        }
    }
}
