//! What of a measurement is drawn, and against what.

use oneway::engine::metrics::Measurement;

/// A column of `curves.csv` to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Loss,
    Gap,
    Gradient,
    AgentsGradient,
    Consensus,
    Tracking,
    Momentum,
    Conservation,
    Accuracy,
}

impl Quantity {
    /// All of them.
    pub(crate) const ALL: [Quantity; 9] = [
        Quantity::Loss,
        Quantity::Gap,
        Quantity::Gradient,
        Quantity::AgentsGradient,
        Quantity::Consensus,
        Quantity::Tracking,
        Quantity::Momentum,
        Quantity::Conservation,
        Quantity::Accuracy,
    ];

    /// Those that are always worth a look: how good x̄ is, and, since that hides agents that are far from it
    /// and from each other, how good and how far apart they are.
    pub(crate) const FIRST: [Quantity; 5] =
        [Quantity::Loss, Quantity::Gap, Quantity::Gradient, Quantity::AgentsGradient, Quantity::Consensus];

    /// Its name in a file's name.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Quantity::Loss => "loss",
            Quantity::Gap => "gap",
            Quantity::Gradient => "gradient",
            Quantity::AgentsGradient => "agents-gradient",
            Quantity::Consensus => "consensus",
            Quantity::Tracking => "tracking",
            Quantity::Momentum => "momentum",
            Quantity::Conservation => "conservation",
            Quantity::Accuracy => "accuracy",
        }
    }

    /// Its name in words.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Quantity::Loss => "Loss",
            Quantity::Gap => "Loss above F*",
            Quantity::Gradient => "Squared gradient norm",
            Quantity::AgentsGradient => "Squared gradient norm at the agents",
            Quantity::Consensus => "Consensus error",
            Quantity::Tracking => "Tracking error",
            Quantity::Momentum => "Momentum error",
            Quantity::Conservation => "Conservation error",
            Quantity::Accuracy => "Test accuracy",
        }
    }

    /// What the axis says: its formula.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Quantity::Loss => "F(x\u{304})",
            Quantity::Gap => "F(x\u{304}) − F*",
            Quantity::Gradient => "‖\u{200a}∇F(x\u{304})‖²",
            Quantity::AgentsGradient => "(1/n) Σᵢ ‖\u{200a}∇F(xᵢ)‖²",
            Quantity::Consensus => "(1/n) Σᵢ ‖xᵢ − x\u{304}‖²",
            Quantity::Tracking => "(1/n) Σᵢ ‖vᵢ − nπᵢv\u{304}‖², π of C",
            Quantity::Momentum => "(1/n) Σᵢ ‖mᵢ − ∇fᵢ(xᵢ)‖²",
            Quantity::Conservation => "‖v\u{304} − m\u{304}‖ or |w\u{304} − 1|, zero but for rounding",
            Quantity::Accuracy => "share of test examples classified rightly",
        }
    }

    /// Its value in a measurement, if the method has it.
    pub(crate) fn of(self, point: &Measurement) -> Option<f64> {
        match self {
            Quantity::Loss => Some(point.loss),
            Quantity::Gap => point.loss_gap,
            Quantity::Gradient => Some(point.grad_norm_sq),
            Quantity::AgentsGradient => point.agents_grad_norm_sq,
            Quantity::Consensus => Some(point.consensus_error),
            Quantity::Tracking => point.tracking_error,
            Quantity::Momentum => point.momentum_error,
            Quantity::Conservation => point.conservation_error,
            Quantity::Accuracy => point.test_accuracy,
        }
    }
}

/// What a quantity is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// Rounds done.
    Iterations,
    /// Bytes sent over all links.
    BytesSent,
    /// Virtual time, where there is a clock.
    Time,
}

impl Against {
    /// What the axis says.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Against::Iterations => "iteration",
            Against::BytesSent => "bytes sent over all links",
            Against::Time => "virtual time, in steps of a nominal agent",
        }
    }

    /// Its value in a measurement, if there is one.
    pub(crate) fn of(self, point: &Measurement) -> Option<f64> {
        match self {
            Against::Iterations => Some(point.iteration as f64),
            Against::BytesSent => point.bytes_sent.map(|bytes| bytes as f64),
            Against::Time => point.time,
        }
    }
}
