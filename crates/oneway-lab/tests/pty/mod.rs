//! A pseudo-terminal: what a command shows on a terminal of some width.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)] // each test file uses a part of it

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr;

/// What was written to the terminal, and how the command ended.
pub struct Shown {
    pub raw: String,
    pub status: ExitStatus,
}

/// Runs a command with standard output on a terminal of this many columns; standard error too if `both`, else
/// it is not looked at. Nothing of the environment decides over colours and widths unless `command` says so.
pub fn on_terminal(command: &mut Command, columns: u16, both: bool) -> Shown {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
    command.stdin(Stdio::null()).stdout(terminal());
    command.stderr(if both { Stdio::from(terminal()) } else { Stdio::null() });
    let mut child = command.spawn().unwrap();
    // ours are closed, so that reading ends with the child
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut bytes, mut part, mut master) = (vec![], [0; 4096], File::from(master));
    // a terminal that nobody writes to any more is an error to its reader
    while let Ok(count @ 1..) = master.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
    }
    let status = child.wait().unwrap();
    Shown { raw: String::from_utf8(bytes).unwrap().replace("\r\n", "\n"), status }
}

/// Without the environment's own wishes.
pub fn plain(command: &mut Command) -> &mut Command {
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color")
}

/// Text without control sequences (ESC [ … letter).
pub fn without_codes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|c: char| c.is_ascii_alphabetic()).expect("a control sequence ends with a letter");
        plain += &part[end + 1..];
    }
    assert!(!plain.contains('\u{1b}'), "another escape: {plain:?}");
    plain
}

const BOX: &str = "┌─┐│╞═╡├┤└┘┆┴┬┼╪╌";

/// Checks that no line is too long and that every box is closed.
#[track_caller]
pub fn assert_fits(what: &str, text: &str, columns: usize) {
    let text = without_codes(text);
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let width = line.width();
        assert!(width <= columns, "{what}: {width} of {columns} columns: {line}\n{text}");
        let ends = [line.chars().next(), line.chars().last()].map(|end| end.filter(|c| BOX.contains(*c)));
        match (open, ends) {
            (None, [Some('┌'), Some('┐')]) => open = Some(width),
            (Some(box_width), ends) => {
                assert_eq!(width, box_width, "{what}: a crooked box at: {line}\n{text}");
                match ends {
                    [Some('└'), Some('┘')] => open = None,
                    [Some('│'), Some('│')] | [Some('╞'), Some('╡')] | [Some('├'), Some('┤')] => {}
                    other => panic!("{what}: a box with a hole ({other:?}) at: {line}\n{text}"),
                }
            }
            (None, ends) => assert_eq!(ends, [None, None], "{what}: outside of a box: {line}\n{text}"),
        }
    }
    assert_eq!(open, None, "{what}: a box without an end\n{text}");
}
