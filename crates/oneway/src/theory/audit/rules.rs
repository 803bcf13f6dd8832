//! The inequalities, as the paper prints them and as they hold.

use super::Assumptions;
use super::trace::State;
use crate::theory::certificate::{Certificate, Start};
use crate::theory::recursion::{Constants, Lemmas, Recursion, Setting};

/// Whether an inequality is the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Printed and sound.
    AsPrinted,
    /// What the paper must mean, where it prints something else.
    Corrected,
    /// What the paper prints, where that is wrong, or unlike the proof.
    Printed,
}

impl Form {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Form::AsPrinted => "as printed",
            Form::Corrected => "corrected",
            Form::Printed => "printed",
        }
    }
}

/// Of what an inequality speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of every run.
    Pathwise,
    /// Of expectations.
    Expected,
}

/// One inequality.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Which lemma: "1", "7, row 2", "theorem".
    pub lemma: &'static str,
    /// Whether it is what the paper prints.
    pub form: Form,
    /// In symbols.
    pub statement: &'static str,
    /// Of runs or of expectations.
    pub kind: Kind,
    /// The first k for which it is stated.
    pub from: u64,
    sides: fn(&Context, &State, &State) -> Sides,
    needs: Needs,
}

/// When an inequality is stated at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// η ≤ 1/(2Lc_π).
    SmallStep,
    /// A certificate for the step.
    Certificate,
}

/// Both sides of an inequality, and what rounding may make of their difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) rounding: f64,
}

/// All that the right sides are made of.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) setting: Setting,
    pub(super) η: f64,
    pub(super) constants: Constants,
    pub(super) lemmas: Lemmas,
    pub(super) recursion: Recursion,
    pub(super) assumptions: Assumptions,
    pub(super) certificate: Option<Certificate>,
    pub(super) start: Start,
    /// ‖∇F(x₀)‖².
    pub(super) first_gradient: f64,
}

impl Context {
    /// The C_v of Lemma 5 that the appendix's coefficients give: the largest of those of E_x, σ² and ‖∇F‖²,
    /// over λ².
    pub(super) fn tracking_constant(&self) -> f64 {
        let row = self.lemmas.tracking;
        let λ_sq = self.setting.momentum * self.setting.momentum;
        row.errors[0].max(row.noise).max(4.0 * row.momentum) / λ_sq
    }

    /// n, where Lemma 6 should have n²‖π_C‖².
    fn misprint(&self) -> f64 {
        1.0 / (self.constants.agents * self.constants.push_weight_sq)
    }

    fn row(&self, row: usize, now: &State) -> f64 {
        let errors = [now.consensus, now.tracking, now.momentum, now.last_momentum];
        let Recursion { jacobian, noise, gradient, .. } = &self.recursion;
        let fed: f64 = jacobian[row].iter().zip(errors).map(|(j, e)| j * e).sum();
        fed + noise[row] * self.assumptions.variance + gradient[row] * now.gradient
    }

    fn errors(now: &State) -> [f64; 3] {
        [now.consensus, now.tracking, now.momentum]
    }
}

impl Rule {
    /// Both sides for the round from `now` to `next`.
    pub(super) fn sides(&self, context: &Context, now: &State, next: &State) -> Sides {
        (self.sides)(context, now, next)
    }

    /// Why it is not stated here; `None` if it is.
    pub(super) fn missing(&self, context: &Context) -> Option<String> {
        let most = 0.5 / (context.setting.smoothness * context.constants.c_pi);
        match self.needs {
            Needs::SmallStep if context.η > most => {
                Some(format!("it asks for η ≤ 1/(2Lc_π) = {most:.3e}, and η is {:.3e}", context.η))
            }
            Needs::Certificate if context.certificate.is_none() => {
                Some(format!("the step {:.3e} is not certified", context.η))
            }
            _ => None,
        }
    }
}

/// Sides that are squared norms.
fn squared(now: &State, next: &State, left: f64, right: f64) -> Sides {
    const RELATIVE: f64 = 1e-9; // as states reckon with
    Sides { left, right, rounding: now.rounding + next.rounding + RELATIVE * (left.abs() + right.abs()) }
}

/// F(z̃⁺) − F* + (ηc_π/8)‖∇F‖² against F(z̃) − F* and what the lemma allows, with `lag` for its last
/// coefficient. Both sides are positive, so that their ratio says something.
fn descent(context: &Context, now: &State, next: &State, lag: f64) -> Sides {
    let Recursion { descent, descent_noise, progress, .. } = context.recursion;
    let above = |state: &State| state.virtual_loss - context.assumptions.optimum;
    let left = above(next) + progress * now.gradient;
    let right = above(now)
        + descent[0] * now.consensus
        + descent[1] * now.tracking
        + lag * now.last_momentum
        + descent_noise * context.assumptions.variance;
    let losses = next.virtual_loss.abs() + now.virtual_loss.abs() + context.assumptions.optimum.abs();
    Sides { left, right, rounding: 1e-13 * losses + descent[1] * (now.rounding + next.rounding) }
}

/// Mean of ‖∇F‖² against the bound for T rounds.
fn theorem(left: f64, total: f64) -> Sides {
    Sides { left, right: total, rounding: 1e-12 * left }
}

const fn rule(
    lemma: &'static str,
    form: Form,
    kind: Kind,
    statement: &'static str,
    sides: fn(&Context, &State, &State) -> Sides,
) -> Rule {
    Rule { lemma, form, statement, kind, from: 0, sides, needs: Needs::Nothing }
}

use Form::{AsPrinted, Corrected, Printed};
use Kind::{Expected, Pathwise};

/// All inequalities that are audited.
pub const RULES: [Rule; 20] = [
    rule(
        "1, R",
        AsPrinted,
        Pathwise,
        "‖RX − Π_R X‖_R² ≤ ρ_R²‖X − Π_R X‖_R²",
        |c, now, next| {
            squared(now, next, now.pulled, c.constants.pull_rho * c.constants.pull_rho * now.consensus)
        },
    ),
    rule(
        "1, C",
        AsPrinted,
        Pathwise,
        "‖CV − Π_C V‖_C² ≤ ρ_C²‖V − Π_C V‖_C²",
        |c, now, next| {
            squared(now, next, now.pushed, c.constants.push_rho * c.constants.push_rho * now.tracking)
        },
    ),
    rule("2", AsPrinted, Pathwise, "‖v̄ − m̄‖ = 0, up to rounding", |_, now, _| Sides {
        left: now.lost,
        right: now.rounding_lost,
        rounding: 0.0,
    }),
    Rule {
        from: 1,
        needs: Needs::SmallStep,
        ..rule(
            "3",
            Corrected,
            Expected,
            "F(z̃⁺) − F* + (ηc_π/8)‖∇F‖² ≤ F(z̃) − F* + c_dlᵀe + (Lc_π²η²/n)σ² for k ≥ 1",
            |c, now, next| descent(c, now, next, c.recursion.descent[3]),
        )
    },
    Rule {
        needs: Needs::SmallStep,
        ..rule(
            "3",
            Printed,
            Expected,
            "the same for k ≥ 0, and without (1−λ)² in its last coefficient",
            |c, now, next| {
                let delay = c.constants.c_pi * c.η;
                let scale = c.setting.smoothness / c.setting.momentum;
                descent(c, now, next, 1.25 * scale * scale * delay * delay * delay)
            },
        )
    },
    rule(
        "4",
        AsPrinted,
        Pathwise,
        "E_x⁺ ≤ ½(1+ρ_R²)E_x + c_x1η²E_v + c_x2η²‖m̄‖²",
        |c, now, next| {
            let right = c.lemmas.consensus.bound(Context::errors(now), now.mean_momentum, 0.0);
            squared(now, next, next.consensus, right)
        },
    ),
    rule(
        "5",
        Corrected,
        Expected,
        "E_v⁺ as the appendix bounds it: with E_m, ‖m̄‖² and 12C_tr L²‖R‖²η²λ²E_v",
        |c, now, next| {
            let right =
                c.lemmas.tracking.bound(Context::errors(now), now.mean_momentum, c.assumptions.variance);
            squared(now, next, next.tracking, right)
        },
    ),
    rule(
        "5",
        Printed,
        Expected,
        "main text: E_v⁺ − ½(1+ρ_C²)E_v ≤ C_vλ²(E_x + σ² + ‖∇F‖²), C_v the appendix's largest coefficient",
        |c, now, next| {
            let λ = c.setting.momentum;
            let right =
                c.tracking_constant() * λ * λ * (now.consensus + c.assumptions.variance + now.gradient);
            squared(now, next, next.tracking - c.constants.tracking_rate() * now.tracking, right)
        },
    ),
    rule(
        "6, ‖V‖²",
        Corrected,
        Pathwise,
        "‖V‖_F² ≤ 2E_v + 2n²‖π_C‖²‖m̄‖²",
        |c, now, next| {
            let n = c.constants.agents;
            let right = 2.0 * now.tracking + 2.0 * n * n * c.constants.push_weight_sq * now.mean_momentum;
            squared(now, next, now.trackers, right)
        },
    ),
    rule("6, ‖V‖²", Printed, Pathwise, "‖V‖_F² ≤ 2E_v + 2n‖m̄‖²", |c, now, next| {
        squared(now, next, now.trackers, 2.0 * now.tracking + 2.0 * c.constants.agents * now.mean_momentum)
    }),
    rule(
        "6",
        Corrected,
        Expected,
        "E_m⁺ ≤ (1−λ)E_m + (C_m1/λ)E_x + (C_m2η²/λ)E_v + (C_m3n²‖π_C‖²η²/λ)‖m̄‖² + λ²nσ²",
        |c, now, next| {
            let right =
                c.lemmas.momentum.bound(Context::errors(now), now.mean_momentum, c.assumptions.variance);
            squared(now, next, next.momentum, right)
        },
    ),
    rule("6", Printed, Expected, "the same with n in place of n²‖π_C‖²", |c, now, next| {
        let mean_momentum = c.misprint() * now.mean_momentum;
        let right = c.lemmas.momentum.bound(Context::errors(now), mean_momentum, c.assumptions.variance);
        squared(now, next, next.momentum, right)
    }),
    rule(
        "7, ‖m̄‖²",
        AsPrinted,
        Pathwise,
        "‖m̄‖² ≤ (2/n)E_m + (4L²/n)E_x + 4‖∇F‖²",
        |c, now, next| {
            let (n, l) = (c.constants.agents, c.setting.smoothness);
            let right = 2.0 / n * now.momentum + 4.0 * l * l / n * now.consensus + 4.0 * now.gradient;
            squared(now, next, now.mean_momentum, right)
        },
    ),
    rule("7, row 1", Corrected, Expected, "E_x⁺ ≤ (Je)₁ + h₁‖∇F‖²", |c, now, next| {
        squared(now, next, next.consensus, c.row(0, now))
    }),
    rule(
        "7, row 1",
        Printed,
        Expected,
        "main text: E_x⁺ by E_x, E_v and ‖m̄_{k−1}‖², with b₁ = 0 where c_x2η²λ²/n follows",
        |c, now, next| {
            // Lemma 4 with ‖m̄_k‖² by row 4, whose noise the printed b₁ = 0 leaves out
            let (n, l, λ) = (c.constants.agents, c.setting.smoothness, c.setting.momentum);
            let mean_momentum =
                (1.0 - λ) * now.last_momentum + 2.0 * l * l * λ / n * now.consensus + 2.0 * λ * now.gradient;
            let right = c.lemmas.consensus.bound(Context::errors(now), mean_momentum, 0.0);
            squared(now, next, next.consensus, right)
        },
    ),
    rule(
        "7, row 2",
        Corrected,
        Expected,
        "E_v⁺ ≤ (Je)₂ + b₂σ² + h₂‖∇F‖²",
        |c, now, next| squared(now, next, next.tracking, c.row(1, now)),
    ),
    rule(
        "7, row 3",
        Corrected,
        Expected,
        "E_m⁺ ≤ (Je)₃ + b₃σ² + h₃‖∇F‖²",
        |c, now, next| squared(now, next, next.momentum, c.row(2, now)),
    ),
    rule(
        "7, row 4",
        AsPrinted,
        Expected,
        "‖m̄_k‖² ≤ (1−λ)‖m̄_{k−1}‖² + (2L²λ/n)E_x + 2λ‖∇F‖² + λ²σ²/n (the appendix's b₄ = λ/n is looser)",
        |c, now, next| squared(now, next, next.last_momentum, c.row(3, now)),
    ),
    Rule {
        from: 1,
        needs: Needs::Certificate,
        ..rule(
            "theorem",
            Corrected,
            Expected,
            "mean of ‖∇F(x̄_k)‖² over k = 1, …, T ≤ 𝒱₁/(den·T) + floor",
            |c, now, _| {
                let bound = c.certificate.as_ref().map(|certificate| certificate.bound(c.start, now.k));
                theorem(now.gradient_sum / now.k.max(1) as f64, bound.map_or(f64::NAN, |bound| bound.total()))
            },
        )
    },
    Rule {
        needs: Needs::Certificate,
        ..rule(
            "theorem",
            Printed,
            Expected,
            "the same over k = 0, …, T−1 with 𝒱₀ = F(x₀) − F* + p₃‖∇F(X₀)‖_F²",
            |c, now, _| {
                let rounds = now.k + 1;
                let bound =
                    c.certificate.as_ref().map(|certificate| certificate.bound_printed(c.start, rounds));
                let mean = (c.first_gradient + now.gradient_sum) / rounds as f64;
                theorem(mean, bound.map_or(f64::NAN, |bound| bound.total()))
            },
        )
    },
];
