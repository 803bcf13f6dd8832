//! What the expressions of a method are made of.

/// A number that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// η_k.
    Step,
    /// The agent's weight after the exchange, w⁺ or [y⁺]_i; 1 if it carries none, and before it has heard.
    Weight,
    /// C_ii, the share of what it pushes that the agent keeps.
    Kept,
    /// One of the two numbers of the round.
    OfRound(usize),
    /// x₀. Only at the start.
    Start,
    /// A number of the state. Not at the start.
    State(usize),
    /// A number that was pulled, Σ_j R_ij pull_j. Not at the start, and not in what is sent.
    Pulled(usize),
    /// A number that was pushed, Σ_j C_ij push_j. Not at the start, and not in what is sent.
    Pushed(usize),
    /// The gradient at x⁺, or at x₀ at the start. Only at the start and in the update.
    Gradient,
    /// The other gradient that was asked for: at x, or the sum over the samples before the last. Only where the gradient is.
    OtherGradient,
}

impl Input {
    /// It, in a message.
    pub(super) fn described(self) -> String {
        match self {
            Input::Start => "x₀".to_owned(),
            Input::State(i) => format!("number {i} of the state"),
            Input::Pulled(i) => format!("number {i} of what was pulled"),
            Input::Pushed(i) => format!("number {i} of what was pushed"),
            Input::Gradient => "the gradient".to_owned(),
            Input::OtherGradient => "the other gradient".to_owned(),
            Input::Step | Input::Weight | Input::Kept | Input::OfRound(_) => "this number".to_owned(),
        }
    }
}
