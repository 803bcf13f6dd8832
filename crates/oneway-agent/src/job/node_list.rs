//! Lists of hosts as Slurm writes them: `node[01-03,7],gpu2`.

use anyhow::{Result, bail};

/// The longest list that is read.
const LONGEST: usize = 1 << 20;

/// The first host of a list: `node01` of `node[01-03,7],gpu2`. The whole list is checked, and nothing of it is
/// expanded, so a list of any number of hosts takes no memory.
pub(super) fn first_host(list: &str) -> Result<String> {
    match read(list) {
        Some(first) => Ok(first),
        None => bail!(
            "\"{}\" is not a list of hosts such as node[01-03,7],gpu2",
            list.chars().take(80).collect::<String>()
        ),
    }
}

fn read(list: &str) -> Option<String> {
    let mut first = None;
    let mut rest = list;
    if list.len() > LONGEST {
        return None;
    }
    loop {
        let (host, after) = host(rest)?;
        first.get_or_insert(host);
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return first.filter(|_| after.is_empty()),
        }
    }
}

/// The first of the hosts up to the next comma outside of brackets, and what follows.
fn host(text: &str) -> Option<(String, &str)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let (mut host, mut rest) = (String::new(), text);
    loop {
        let (plain, after) = rest.split_at(rest.find(|c| !is_plain(c)).unwrap_or(rest.len()));
        host.push_str(plain);
        let Some(inside) = after.strip_prefix('[') else {
            let is_name = (1..=253).contains(&host.len()) && !host.starts_with(['-', '.']);
            return is_name.then_some((host, after));
        };
        let (ranges, after) = inside.split_once(']')?;
        for (number, range) in ranges.split(',').enumerate() {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            // equally many digits compare as numbers do
            let is_number =
                |digits: &str| (1..=18).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
            let ascends = from.len() < to.len() || (from.len() == to.len() && from <= to);
            if !(is_number(from) && is_number(to) && ascends) {
                return None;
            }
            if number == 0 {
                host.push_str(from);
            }
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_host_is_found_in_lists_of_every_form() {
        for (list, first) in [
            ("gpu2", "gpu2"),
            ("node[01-03,7],gpu2", "node01"),
            ("gpu2,node[01-03,7]", "gpu2"),
            ("node[7]", "node7"),
            ("node[8-10]", "node8"),
            ("rack[1-2]n[04-16,20]-ib.example.org,x", "rack1n04-ib.example.org"),
            ("a_b-c.d", "a_b-c.d"),
        ] {
            assert_eq!(first_host(list).unwrap(), first, "{list}");
        }
    }

    #[test]
    fn what_is_not_a_list_is_refused_wherever_it_is_wrong() {
        let long = "a".repeat(254);
        let longer = "a,".repeat(LONGEST);
        for list in [
            "",
            ",",
            "a,",
            ",a",
            "a,,b",
            "n[",
            "n]",
            "n[]",
            "n[1",
            "n[1-]",
            "n[-1]",
            "n[3-1]",
            "n[a-b]",
            "n[1,]",
            "n[1-2-3]",
            "n[[1]]",
            "a b",
            "a;b",
            "a/b",
            "-a",
            ".a",
            "a\n",
            "nöde",
            "n[1-2]]",
            "n[1234567890123456789]",
            "good,n[2-1]",
            &long,
            &longer,
        ] {
            let error = first_host(list).unwrap_err().to_string();
            assert!(error.contains("is not a list of hosts such as") && error.len() < 200, "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_hostile(list in ".{0,60}", brackets in "[a-c0-3,\\[\\]-]{0,40}") {
            for list in [list, brackets] {
                if let Ok(first) = first_host(&list) {
                    prop_assert!(first.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c)));
                }
            }
        }

        #[test]
        fn a_list_that_is_written_out_has_the_first_of_its_hosts(
            names in prop::collection::vec(("[a-z]{1,8}", 0u32..1000, 0u32..1000), 1..8)
        ) {
            let range = |(name, from, more): &(String, u32, u32)| format!("{name}[{from:03}-{:04}]", from + more);
            let list: Vec<String> = names.iter().map(range).collect();
            prop_assert_eq!(first_host(&list.join(",")).unwrap(), format!("{}{:03}", names[0].0, names[0].1));
        }
    }
}
