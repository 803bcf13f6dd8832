//! `step` of a method: a number, or a schedule.

use anyhow::{Result, bail};
use oneway::engine::schedule::Shape;
use toml::Value;

use super::fields::{Fields, real};
use super::spec::RunSpec;

/// `step` of a method.
#[derive(Debug, Clone, Copy)]
pub struct StepSpec {
    /// The number that is given.
    pub size: f64,
    /// How the step goes down.
    pub shape: Shape,
    /// Whether the size is multiplied by √(n/T), as the corollary says.
    pub(crate) corollary: bool,
    /// What the number means.
    pub(crate) scaling: Scaling,
    /// Rounds over which it rises to its size.
    pub(crate) warmup: u64,
}

/// What the number given as step size means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// It is η.
    Raw,
    /// It is η·c_π for pull methods: the step that the average takes.
    Effective,
}

impl StepSpec {
    pub(crate) fn read(fields: &mut Fields, run: RunSpec) -> Result<Self> {
        let (shape, scaling) = (Shape::Constant, Scaling::Raw);
        let plain = |size| StepSpec { size, shape, corollary: false, scaling, warmup: 0 };
        let mut step = match fields.value("step") {
            None => return fields.missing("step", "a number, or { size = … }"),
            Some(Value::Table(table)) => fields.inner("step", table),
            Some(value) => match real(&value) {
                Some(size) => return Ok(plain(size)),
                None => return fields.wrong("step", &value, "a number, or { size = … }"),
            },
        };
        let (size, factor, every) = (step.real("size")?, step.real("decay")?, step.count("every")?);
        let shapes = [
            ("constant", (Shape::Constant, false)),
            ("inverse-sqrt", (Shape::InverseSqrt, false)),
            ("cosine", (Shape::Cosine { rounds: run.iterations }, false)),
            ("corollary", (Shape::Constant, true)),
        ];
        let (shape, corollary) = match (step.choice("schedule", &shapes)?, factor, every) {
            (shape, None, None) => shape.unwrap_or((Shape::Constant, false)),
            (None, Some(factor), Some(every)) => (Shape::Decay { factor, every }, false),
            (None, ..) => bail!("{}: give `decay` and `every` together", step.path()),
            (Some(_), ..) => bail!("{}: give `schedule`, or `decay` and `every`, not both", step.path()),
        };
        let scalings = [("raw", Scaling::Raw), ("effective", Scaling::Effective)];
        let spec = Self {
            size: step.required("size", size)?,
            shape,
            corollary,
            scaling: step.choice("scaling", &scalings)?.unwrap_or(Scaling::Raw),
            warmup: step.count("warmup")?.unwrap_or(0),
        };
        step.finish()?;
        Ok(spec)
    }
}
