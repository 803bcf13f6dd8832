//! What commands show on terminals of 40 to 200 columns, through a pseudo-terminal.
//!
//! Left out is what programs read: `--json`, `data export`, `completions`.
#![allow(clippy::unwrap_used)]

use clap::ValueEnum;

use crate::common::{EXPERIMENT, Lab, stderr, stdout};
use crate::pty::{assert_fits, on_terminal, plain, without_codes};

const WIDTHS: [u16; 4] = [40, 80, 120, 200];

const QUADRATIC: &str = r#"
[problem]
kind = "quadratic"
dim = 3
noise = 0.1
[run]
agents = 5
iterations = 30
repetitions = 4
[[topology]]
name = "the flower of two petals"
kind = "flower"
petals = 2
[[topology]]
kind = "ring"
[[method]]
name = "SMTPP"
kind = "smtpp"
momentum = 0.1
step = { size = 0.05, scaling = "effective" }
[[method]]
name = "Stochastic Gradient Push (wild)"
kind = "sgp"
step = 1e9
"#;

/// A clock, and a method that does not wait for others.
const CLOCK: &str = r#"
[clock]
step = "exponential"
[[method]]
name = "alone"
kind = "push-pull"
asynchronous = true
step = 0.05
"#;

/// A folder in which there is something to show.
fn furnished() -> Lab {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    lab.write("quadratic.toml", QUADRATIC);
    lab.write("timed.toml", format!("{EXPERIMENT}{CLOCK}"));
    for arguments in [
        &["run", "experiment.toml", "--no-report", "--out", "one"][..],
        &["run", "experiment.toml", "--no-report", "--out", "two", "--set", "method.SMTPP.step=0.3"],
        &["run", "quadratic.toml", "--no-report", "--out", "several/quadratic"],
        &["run", "experiment.toml", "--no-report", "--out", "several/experiment"],
        &["run", "timed.toml", "--no-report", "--out", "timed", "--log-arrivals"],
    ] {
        let output = lab.oneway(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
    lab
}

/// Every command that shows something to people, and its exit code.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["run", "experiment.toml", "--no-report"], 0),
    (&["run", "quadratic.toml"], 0),
    (&["run", "no-such-file.toml"], 2),
    (&["run", "--such-an-option-as-there-is-not-and-never-was"], 2),
    (&["report", "one"], 0),
    (&["verify", "one"], 0),
    (&["verify", "several"], 0),
    (&["compare", "one", "two"], 0),
    (&["compare", "one", "several/quadratic"], 0),
    (&["tune", "quadratic.toml"], 0),
    (&["audit", "quadratic.toml"], 0),
    (&["certify", "quadratic.toml", "--rounds", "10"], 0),
    (&["inspect", "flower", "--agents", "9", "--petals", "2"], 0),
    (&["inspect", "flower", "geometric", "one-peer-exponential", "ring", "--agents", "8"], 0),
    (&["inspect", "ring", "--agents", "4", "--out", "drawings"], 0),
    (&["sweep-stability", "flower", "--over", "petals=1..3", "--agents", "8"], 0),
    (&["methods"], 0),
    (&["methods", "smtpp"], 0),
    (&["methods", "smttp"], 2),
    (&["codecs"], 0),
    (&["problems"], 0),
    (&["topologies"], 0),
    (&["data", "info", "a9a"], 0),
    (&["data", "info", "rows.txt"], 0),
    (&["--help"], 0),
    (&["--version"], 0),
    (&["data", "info", "--help"], 0),
    (&["data", "export", "--help"], 0),
];

#[test]
fn what_every_command_shows_fits_the_terminal() {
    let lab = furnished();
    for columns in WIDTHS {
        for (arguments, code) in COMMANDS {
            let shown = on_terminal(plain(&mut lab.command(arguments)), columns, true);
            let what = format!("oneway {} at {columns} columns", arguments.join(" "));
            assert_eq!(shown.status.code(), Some(*code), "{what}: {}", shown.raw);
            // what was drawn over is not there any more
            let last: String = shown.raw.split_inclusive('\n').map(last_drawn).collect();
            assert_fits(&what, &last, columns.into());
            assert!(!without_codes(&last).trim().is_empty(), "{what} shows nothing");
        }
    }
}

#[test]
fn a_replay_fits_the_terminal() {
    let lab = furnished();
    let logs = std::fs::read_dir(lab.path("timed/arrivals")).unwrap().map(|log| log.unwrap().path());
    let logs: Vec<String> = logs.map(|log| log.to_str().unwrap().to_owned()).collect();
    for columns in WIDTHS {
        let arguments: Vec<&str> = std::iter::once("replay").chain(logs.iter().map(String::as_str)).collect();
        let shown = on_terminal(plain(&mut lab.command(&arguments)), columns, false);
        assert!(shown.status.success(), "{}", shown.raw);
        assert_fits(&format!("a replay at {columns} columns"), &shown.raw, columns.into());
        assert!(shown.raw.contains("2 logs, all final states agree"), "{}", shown.raw);
    }
}

/// What a line shows after all that was drawn over it.
fn last_drawn(line: &str) -> &str {
    line.rsplit(['\r']).next().unwrap_or_default()
}

#[test]
fn the_reproduction_fits_the_terminal() {
    let lab = Lab::new();
    for columns in [40, 120] {
        let mut command = lab.command(&["reproduce", "--quick", "--out", "out"]);
        let shown = on_terminal(plain(&mut command), columns, false);
        assert!(shown.status.success());
        assert_fits(&format!("reproduce at {columns} columns"), &shown.raw, columns.into());
        let text = without_codes(&shown.raw);
        let begin = text.find("The two experiments").expect("it says what it does");
        let figure = text.find("multi-sub-ring-gradient.png").expect("the first figure is shown");
        let verdicts = text.find("does not hold").expect("claims are judged");
        assert!(begin < figure && figure < verdicts, "{text}");
        assert!(text.contains("17 claims of the paper: "), "{text}");
    }
}

#[test]
fn help_fits_the_terminal() {
    let lab = Lab::new();
    let help = stdout(&lab.oneway(&["--help"]));
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands = commands.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("    "));
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 15 && names.contains(&"reproduce") && names.contains(&"completions"), "{names:?}");
    for columns in WIDTHS {
        for name in &names {
            let shown = on_terminal(plain(&mut lab.command(&["help", name])), columns, true);
            assert_fits(&format!("oneway help {name} at {columns} columns"), &shown.raw, columns.into());
        }
    }
    assert!(clap_complete::Shell::value_variants().len() > 3);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let lab = furnished();
    for arguments in [&["run", "quadratic.toml", "--no-report"][..], &["methods", "smtpp"], &["--help"]] {
        let command = || lab.command(arguments);
        let coloured = on_terminal(plain(&mut command()), 100, false).raw;
        assert!(coloured.contains("\u{1b}["), "{coloured}");
        let refused = on_terminal(plain(&mut command()).env("NO_COLOR", "1"), 100, true).raw;
        let refused: String = refused.split_inclusive('\n').map(last_drawn).collect();
        let codes = refused.replace("\u{1b}[2K", ""); // the bar is removed
        assert!(!codes.contains('\u{1b}'), "{codes:?}");
        assert_eq!(
            plain(&mut command()).output().unwrap().stdout.iter().position(|byte| *byte == 0x1b),
            None
        );
        let wanted = plain(&mut command()).env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(stdout(&wanted).contains("\u{1b}["), "{}", stdout(&wanted));
        let both = plain(&mut command()).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
        assert!(!stdout(&both).contains('\u{1b}'), "{}", stdout(&both));
    }
}

#[test]
fn columns_are_respected_everywhere_and_a_pipe_has_no_end_of_line() {
    let lab = furnished();
    for arguments in [&["inspect", "flower", "ring", "--agents", "8"][..], &["methods"], &["--help"]] {
        let narrow = plain(&mut lab.command(arguments)).env("COLUMNS", "50").output().unwrap();
        assert_fits("a pipe of 50 columns", &stdout(&narrow), 50);
        let shown = on_terminal(plain(&mut lab.command(arguments)).env("COLUMNS", "50"), 120, false);
        assert_fits("a terminal that is said to have 50 columns", &shown.raw, 50);
        assert_eq!(without_codes(&shown.raw), stdout(&narrow), "one and the same");
    }
    let free = stdout(plain(&mut lab.command(&["methods"])).output().as_ref().unwrap());
    assert!(free.lines().any(|line| line.len() > 200), "whole lines for programs");
}

/// One bar, on one line, that is gone at the end, whatever the command does one after another.
#[test]
fn one_bar_for_a_whole_command() {
    let lab = furnished();
    for (arguments, word) in [
        (&["run", "quadratic.toml", "--fresh", "--set", "run.iterations=3000"][..], "running"),
        (&["tune", "quadratic.toml", "--out", "tuned", "--set", "run.iterations=300"], "tuning"),
        (&["certify", "quadratic.toml", "--rounds", "200", "--out", "certified"], "mapping"),
    ] {
        for columns in [40, 120] {
            let shown = on_terminal(plain(&mut lab.command(arguments)), columns, true);
            assert!(shown.status.success(), "{}", shown.raw);
            let up = shown.raw.split("\u{1b}[").skip(1).any(|code| {
                let end = code.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                code[end..].starts_with('A') && &code[..end] != "0"
            });
            assert!(!up, "more than one line is drawn: {:?}", shown.raw);
            let states: Vec<String> = shown.raw.split(['\r', '\n']).map(without_codes).collect();
            let bars: Vec<&String> = states.iter().filter(|state| state.contains("% ")).collect();
            assert!(bars.iter().any(|bar| bar.contains(word)), "no bar says `{word}`: {states:?}");
            let text = states.join("\n");
            let percent =
                |bar: &&String| bar.split('%').next()?.split_whitespace().last()?.parse::<u32>().ok();
            let percents: Vec<u32> = bars.iter().filter_map(percent).collect();
            assert!(percents.windows(2).all(|pair| pair[0] <= pair[1]), "it goes back: {percents:?}\n{text}");
            for bar in bars {
                assert_fits(&format!("the bar of {arguments:?}"), bar, columns.into());
            }
        }
    }
}
