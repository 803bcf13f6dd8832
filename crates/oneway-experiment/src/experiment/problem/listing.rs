//! What `[problem]` may say, kind by kind, for people who ask. A test holds it against what reading a file
//! asks for.

use std::borrow::Cow;

use oneway::registry;

/// A kind of problem.
#[derive(Debug, Clone)]
pub struct Listed {
    /// `kind`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its keys besides `kind` and `seed`, which all have.
    pub keys: Vec<Key>,
}

/// A key of `[problem]`.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What it takes.
    pub takes: Cow<'static, str>,
    /// What it is where it is not given; `None` makes it mandatory.
    pub default: Option<Cow<'static, str>>,
}

const fn key(name: &'static str, takes: &'static str, default: &'static str, about: &'static str) -> Key {
    Key { name, about, takes: Cow::Borrowed(takes), default: Some(Cow::Borrowed(default)) }
}

const fn required(name: &'static str, takes: &'static str, about: &'static str) -> Key {
    Key { name, about, takes: Cow::Borrowed(takes), default: None }
}

const REAL: &str = "a number, 0 or more";
const WHOLE: &str = "a whole number, 1 or more";

const FEATURES: Key = key("features", WHOLE, "the file's largest index", "number of features of a file");
const TEST: Key = key(
    "test",
    "a name or a path",
    "the dataset's test split, if it has one",
    "rows held out for the test accuracy",
);
const PARTITION: Key = key(
    "partition",
    "\"even\", \"shuffled\", \"by-label\" or { dirichlet = α }",
    "\"even\"",
    "how rows are split over agents",
);
const BATCH: Key =
    key("batch", "a whole number, 1 or more, or \"full\"", "1", "rows of a stochastic gradient");
const SAMPLING: Key = key(
    "sampling",
    "\"with-replacement\" or \"without-replacement\"",
    "\"with-replacement\"",
    "whether a row may come again before all others of its agent have come",
);
const CLASSES: Key = key(
    "classes",
    "a list of numbers, or of lists of labels",
    "the labels of the rows",
    "the labels of all classes; or what each class is made of: [[3], [5, 8]], [\"rest\", [8]]",
);
const TWO_CLASSES: Key = key(
    "classes",
    "two lists of labels",
    "the two labels of the rows",
    "what -1 and +1 are made of: [[3], [5, 8]], [\"rest\", [8]]",
);
const SPLIT: Key = key(
    "split",
    "a number between 0 and 1",
    "none",
    "share of the rows that is held out, in place of `test`",
);
const SCALING: Key = key(
    "scaling",
    "\"standardise\", \"unit-variance\", \"max-abs\" or \"unit-norm\"",
    "none",
    "how features are scaled, fitted on the rows to learn from",
);

/// Of files that do not say these themselves.
const LAYOUT: [Key; 5] = [
    key(
        "label",
        "a name, or a number from 1",
        "the column called label, class, target or y",
        "the labels of a table or NPZ file",
    ),
    key("header", "true or false", "found out", "whether a table's first line has names"),
    key("separator", "one character", "found out", "what stands between the cells of a table"),
    key("drop", "a list of names or numbers from 1", "none", "columns of a table that are left out"),
    key("array", "a name", "X, data or features", "the rows of an NPZ file"),
];

/// Of all means over rows but the logistic one.
const REGULARISED: [Key; 2] = [
    key(
        "regulariser",
        "\"ridge\" or \"non-convex\"",
        "\"ridge\"",
        "φ(x) = (α/2) Σ_k x_k², or α Σ_k x_k²/(1 + x_k²)",
    ),
    key("alpha", REAL, "0.0001", "α, the weight of the regulariser"),
];

/// Of rows that are drawn: `dataset = "synthetic"`.
const SYNTHETIC: [Key; 4] = [
    required("rows", WHOLE, "rows of all agents together, for \"synthetic\""),
    key("noise", REAL, "0.1", "σ of the targets, for \"synthetic\""),
    key("outliers", "a number, 0 to 1", "0", "share of targets that are far off, for \"synthetic\""),
    key("heterogeneity", REAL, "0", "how far agents' own weights lie apart, for \"synthetic\""),
];

fn classifier(own: &[Key]) -> Vec<Key> {
    let dataset =
        required("dataset", "a name or a path", "\"a9a\", \"digits\", \"fashion-mnist\", or a path");
    let intercept = key("intercept", "true or false", "true", "whether there is a feature that is always 1");
    let rows = [dataset, FEATURES, TEST, CLASSES, SPLIT, SCALING];
    let keys = [&rows, &LAYOUT[..], own, &REGULARISED, &[intercept, PARTITION, BATCH, SAMPLING]];
    keys.concat()
}

fn regression(own: &[Key]) -> Vec<Key> {
    let dataset = required(
        "dataset",
        "a name or a path",
        "\"synthetic\", \"a9a\", \"digits\", \"fashion-mnist\", or a path",
    );
    let intercept = key("intercept", "true or false", "false", "whether there is a feature that is always 1");
    let rows = [dataset, FEATURES, SCALING];
    let keys = [&rows, &LAYOUT[..], own, &REGULARISED, &[intercept, PARTITION, BATCH, SAMPLING], &SYNTHETIC];
    keys.concat()
}

fn built_in() -> [Listed; 6] {
    [
        Listed {
            name: "logistic",
            about: "logistic regression, the paper's problem: ln(1 + exp(−b aᵀx)), and α Σ_k x_k²/(1 + x_k²)",
            keys: {
                let dataset =
                    required("dataset", "a name or a path", "\"a9a\", or the path of a file with two labels");
                let alpha = key("alpha", REAL, "0.01", "α, the weight of the regulariser");
                let rows = [dataset, FEATURES, TEST, TWO_CLASSES, SPLIT, SCALING];
                [&rows, &LAYOUT[..], &[alpha, PARTITION, BATCH, SAMPLING]].concat()
            },
        },
        Listed {
            name: "quadratic",
            about: "½ Σ_k h_k (x_k − c_ik)², of which the minimiser is known",
            keys: vec![
                required("dim", WHOLE, "d"),
                key(
                    "curvature",
                    "a number above 0, or [smallest, largest]",
                    "1",
                    "h, evenly spaced in logarithm",
                ),
                key("heterogeneity", REAL, "1", "how far agents' own minimisers lie apart"),
                key("noise", REAL, "0", "σ: gradients have normal noise ξ with E‖ξ‖² = σ²"),
            ],
        },
        Listed {
            name: "softmax",
            about: "softmax regression: ln Σ_c exp(aᵀW_c) − aᵀW_b, and a regulariser",
            keys: classifier(&[]),
        },
        Listed {
            name: "least-squares",
            about: "least squares: ½(aᵀx − b)², and a regulariser",
            keys: regression(&[]),
        },
        Listed {
            name: "two-layer",
            about: "a network with one hidden layer of tanh and softmax on top, and a regulariser",
            keys: classifier(&[key(
                "hidden",
                "a whole number, 1 to 1024",
                "32",
                "units of the hidden layer",
            )]),
        },
        Listed {
            name: "robust",
            about: "robust regression: a loss of aᵀx − b that outliers hardly move, and a regulariser",
            keys: regression(&[
                key(
                    "loss",
                    "\"welsch\" or \"cauchy\"",
                    "\"cauchy\"",
                    "ρ(r) = (c²/2)(1 − exp(−r²/c²)), or (c²/2) ln(1 + r²/c²)",
                ),
                key(
                    "scale",
                    "a number above 0",
                    "1",
                    "c, the residual beyond which a row counts less and less",
                ),
            ]),
        },
    ]
}

/// All kinds: those that are built in, then those of the registry.
pub fn listed() -> Vec<Listed> {
    let registered = registry::installed().problems().iter().map(|kind| Listed {
        name: kind.name,
        about: kind.about,
        keys: kind
            .parameters
            .iter()
            .map(|p| Key {
                name: p.name,
                about: p.about,
                takes: p.expected().into(),
                default: p.default.map(|default| p.text(default).into()),
            })
            .collect(),
    });
    built_in().into_iter().chain(registered).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::Experiment;

    /// An unknown key is refused with all that are known.
    #[test]
    fn listed_keys_are_those_that_a_file_may_have() {
        let mut names = vec![];
        for Listed { name, keys, .. } in built_in() {
            names.push(name);
            let rows = if keys.iter().any(|key| key.name == "rows") { "synthetic" } else { "a9a" };
            let given = keys
                .iter()
                .filter(|key| key.default.is_none() || (key.name == "features" && rows == "synthetic"));
            let given = given.map(|key| match key.name {
                "dataset" => format!("dataset = \"{rows}\"\n"),
                number => format!("{number} = 4\n"),
            });
            let text = format!(
                "[run]\nagents = 2\niterations = 1\n[problem]\nkind = \"{name}\"\n{}zzzz = 1\n\
                 [[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.1\n",
                given.collect::<String>()
            );
            let error = Experiment::parse(&text, Path::new(""), &[]).unwrap_err();
            let Some(oneway::Error::UnknownName { known, .. }) =
                error.chain().find_map(|cause| cause.downcast_ref())
            else {
                panic!("{name}: {error:#}")
            };
            let listed = keys.iter().map(|key| key.name).chain(["kind", "seed"]);
            assert_eq!(listed.collect::<BTreeSet<_>>(), known.split(", ").collect(), "{name}");
        }
        assert_eq!(names, registry::BUILT_IN_PROBLEMS);
    }
}
