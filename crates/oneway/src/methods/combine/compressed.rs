//! Difference compression, for the messages of any method.
//!
//! An agent does not send its message p. It sends q = 𝒞(p − h), what p has moved from a copy h that all its
//! receivers hold, and all move the copy toward it. As the method converges p − h goes to zero, and with it
//! the error of the code. A receiver keeps hw = Σ_j W_ij h_j only, for W_ij q_j is all that it needs to
//! follow:
//!
//! ```text
//! q = 𝒞(p − h);  p̂ = h + q;  p̂w = hw + Wq         what all know of p, and its mixture
//! in place of Wp the method is handed p + γ(p̂w − p̂)
//! h ← h + αq;  hw ← hw + αWq                       from h = hw = 0
//! ```
//!
//! Three facts carry the methods that are made of this:
//!
//! - **Sums.** If W is column-stochastic then Σ_i hw_i = Σ_i h_i in every round, so Σ_i (p + γ(p̂w − p̂))_i =
//!   Σ_i p_i, whatever the codec does: a tracker that is pushed this way tracks as before (Lemma 2), also
//!   with biased codecs.
//! - **Identity.** With 𝒞 the identity and γ = 1, p̂ = p and the method is handed Wp: it is the uncompressed
//!   one.
//! - **Direct compression** is α = 0: h stays 0, and p itself is encoded. The error does not vanish unless p
//!   does.
//!
//! hw stays Wh only if W is the same in every round and nothing is lost: with α > 0 the method needs such a
//! network.

use std::sync::Arc;

use super::row_lengths;
use crate::codec::{Codec, Quality, Scaled, Wire, scale_at};
use crate::method::{
    Gradient, Heard, Kernel, Method, Network, Point, Profile, Reliance, Round, SMALLEST, Sizes,
};
use crate::numeric::row::Width;
use crate::numeric::sample::{Draws, Purpose};
use crate::problem::Problem;
use crate::{Error, Result};

/// How far what is heard is trusted, on one graph.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Damping {
    /// γ in (0, 1], the share of mixing. By default √δ/(3 − 2δ) for a contractive codec, 1/(1 + 2ω) for an
    /// unbiased one.
    pub γ: Option<f64>,
    /// α in [0, 1], how fast copies follow. By default 1 for a contractive codec, 1/(1 + ω) for an unbiased
    /// one. 0 keeps no copies: direct compression.
    pub α: Option<f64>,
}

impl Damping {
    /// Both as the codec's quality suggests.
    pub const BY_QUALITY: Damping = Damping { γ: None, α: None };

    /// Both given.
    pub const fn new(γ: f64, α: f64) -> Self {
        Self { γ: Some(γ), α: Some(α) }
    }

    /// The message itself is encoded, not what it has moved.
    pub const fn direct(γ: f64) -> Self {
        Self::new(γ, 0.0)
    }

    fn check(self, owner: &str) -> Result<Self> {
        let refuse = |name, value: f64, expected| Err(Error::parameter(owner, name, value, expected));
        match (self.γ, self.α) {
            (Some(γ), _) if !(γ > 0.0 && γ <= 1.0) => {
                refuse("gamma", γ, "the share of mixing γ must be in (0, 1]")
            }
            (_, Some(α)) if !(0.0..=1.0).contains(&α) => {
                refuse("alpha", α, "the pace of the copies α must be in [0, 1]")
            }
            _ => Ok(self),
        }
    }

    fn is_direct(self) -> bool {
        self.α == Some(0.0)
    }
}

/// Any method with its messages compressed: each vector by itself. Single numbers such as push-sum's weight
/// are sent exactly, and mixed by the same (1−γ)I + γW as the vectors: else a network that changes would give
/// the two different limits.
///
/// The state is the inner method's, then the wrapper's own numbers as scalars, so that the roles of vectors
/// and scalars stay valid: the two rows that will be handed over, and h and hw of each exchange of a round.
#[derive(Debug)]
pub struct Compressed {
    inner: Box<dyn Method>,
    /// Vectors in the inner method's pull row and in its push row, and its exchanges a round.
    vectors: [usize; 2],
    phases: usize,
    codec: Arc<dyn Codec>,
    pull: Damping,
    push: Damping,
    /// s₀ and ζ: in round k the code is s_k𝒞(·/s_k) with s_k = s₀ζ^k.
    scale: Option<[f64; 2]>,
}

impl Compressed {
    /// Compresses what `inner` pulls and what it pushes; `owner` is who is named in errors.
    pub fn new(
        owner: &str,
        inner: Box<dyn Method>,
        codec: Box<dyn Codec>,
        [pull, push]: [Damping; 2],
    ) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter(owner, "compress", "a codec", expected));
        if inner.network() == Network::Central {
            return refuse("a centralised method sends nothing over links");
        }
        if inner.reliance() == Reliance::WholeMessages {
            return refuse(
                "the method corrects by how far W has moved its messages, and would take the code's error for that",
            );
        }
        let Profile { pull: pulled, push: pushed, exchanges, .. } = inner.profile(SMALLEST);
        Ok(Self {
            inner,
            vectors: [pulled.vectors, pushed.vectors],
            phases: exchanges.len(),
            codec: codec.into(),
            pull: pull.check(owner)?,
            push: push.check(owner)?,
            scale: None,
        })
    }

    /// The same with the code at the scale s_k = s₀ζ^k in round k, s₀ > 0 and ζ ∈ (0, 1].
    pub fn scaled(self, owner: &str, s0: f64, ζ: f64) -> Result<Self> {
        if !(s0 > 0.0 && s0.is_finite()) {
            return Err(Error::parameter(owner, "scale", s0, "the first scale s₀ must be a positive number"));
        }
        if !(ζ > 0.0 && ζ <= 1.0) {
            return Err(Error::parameter(owner, "decay", ζ, "the ratio ζ of the scales must be in (0, 1]"));
        }
        Ok(Self { scale: Some([s0, ζ]), ..self })
    }

    fn compress(&self, k: u64, x: &mut [f64], draws: &mut Draws) {
        match self.scale {
            None => self.codec.compress(x, draws),
            Some(scale) => Scaled::new(&*self.codec, scale_at(scale, k)).compress(x, draws),
        }
    }

    /// γ and α on one graph in dimension d.
    fn rates(&self, damping: Damping, d: usize) -> [f64; 2] {
        // found by trying on nine agents, ring to complete graph: random codecs need the smaller γ
        let (γ, α) = match self.codec.quality(d) {
            Quality::Contractive { δ } => (libm::sqrt(δ) / (3.0 - 2.0 * δ), 1.0),
            Quality::Unbiased { ω } => (1.0 / (1.0 + 2.0 * ω), 1.0 / (1.0 + ω)),
            Quality::Absolute { .. } => (1.0, 1.0),
        };
        [damping.γ.unwrap_or(γ), damping.α.unwrap_or(α)]
    }

    /// Cuts from the end of a state what is kept of a row with this many numbers in vectors: the row that is
    /// handed over, then h and hw of each phase.
    fn cut<'s>(&self, state: &'s mut [f64], at: Cut, phase: u32) -> (&'s mut [f64], Messages<'s>) {
        let Cut { row, vectors, d, damping } = at;
        let copied = if damping.is_direct() { 0 } else { vectors };
        let (rest, own) = state.split_at_mut(state.len() - self.kept(at));
        let (handed, copies) = own.split_at_mut(row);
        let (h, hw) = copies[2 * copied * phase as usize..][..2 * copied].split_at_mut(copied);
        let [γ, α] = self.rates(damping, d);
        (rest, Messages { handed, h, hw, vectors, d, γ, α })
    }

    /// Numbers that are kept of a row.
    fn kept(&self, Cut { row, vectors, damping, .. }: Cut) -> usize {
        row + if damping.is_direct() { 0 } else { 2 * vectors * self.phases }
    }

    /// The inner state, and what is kept of the messages on the two graphs.
    fn split<'s>(
        &self,
        at: Round<'_>,
        state: &'s mut [f64],
        [pull, push]: [usize; 2],
    ) -> (&'s mut [f64], [Messages<'s>; 2]) {
        let (d, [pull_vectors, push_vectors]) = (at.d, self.vectors);
        let push = Cut { row: push, vectors: push_vectors * d, d, damping: self.push };
        let pull = Cut { row: pull, vectors: pull_vectors * d, d, damping: self.pull };
        let (state, push) = self.cut(state, push, at.phase);
        let (inner, pull) = self.cut(state, pull, at.phase);
        (inner, [pull, push])
    }
}

/// Where to cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// Numbers of the row, and of the vectors in it.
    row: usize,
    vectors: usize,
    d: usize,
    damping: Damping,
}

/// What an agent keeps of its messages on one graph.
struct Messages<'s> {
    /// After `send` p − γp̂, after the exchange p + γ(p̂w − p̂); of single numbers s first (1−γ)s, then
    /// (1−γ)s + γWs.
    handed: &'s mut [f64],
    /// The copies, or nothing at all.
    h: &'s mut [f64],
    hw: &'s mut [f64],
    /// Numbers in vectors.
    vectors: usize,
    d: usize,
    γ: f64,
    α: f64,
}

impl Messages<'_> {
    /// Turns the vectors p of a message into q = 𝒞(p − h).
    #[inline(always)]
    fn encode(&mut self, message: &mut [f64], mut compress: impl FnMut(&mut [f64])) {
        let (γ, α) = (self.γ, self.α);
        let (q, scalars) = message.split_at_mut(self.vectors);
        for (handed, s) in self.handed[q.len()..].iter_mut().zip(scalars) {
            *handed = (1.0 - γ) * *s;
            *s *= γ; //                                                γ at the sender: all that travels is handed on
        }
        self.handed[..q.len()].copy_from_slice(q);
        q.iter_mut().zip(&*self.h).for_each(|(p, h)| *p -= h);
        q.chunks_exact_mut(self.d.max(1)).for_each(&mut compress); //  q = 𝒞(p − h)
        for (handed, q) in self.handed.iter_mut().zip(&*q) {
            *handed -= γ * q;
        }
        for ((handed, q), h) in self.handed.iter_mut().zip(&*q).zip(&mut *self.h) {
            *handed -= γ * *h; //                                      p − γ(h + q)
            *h += α * q; //                                            h ← h + αq
        }
    }

    /// Makes what the method is handed in place of the mixed row, from the mixture of all q.
    #[inline(always)]
    fn decode(&mut self, mixed: &[f64]) {
        let (γ, α) = (self.γ, self.α);
        let (q_mixed, scalars) = mixed.split_at(self.vectors);
        let (vectors, scalars_handed) = self.handed.split_at_mut(self.vectors);
        for (handed, wq) in vectors.iter_mut().zip(q_mixed) {
            *handed += γ * wq;
        }
        for ((handed, wq), hw) in vectors.iter_mut().zip(q_mixed).zip(&mut *self.hw) {
            *handed += γ * *hw; //                                     p + γ(hw + Wq − p̂)
            *hw += α * wq; //                                          hw ← hw + αWq
        }
        scalars_handed.iter_mut().zip(scalars).for_each(|(handed, mixed)| *handed += mixed);
    }
}

impl Method for Compressed {
    fn profile(&self, sizes: Sizes) -> Profile {
        let d = sizes.dim;
        let mut profile = self.inner.profile(sizes);
        profile.points_are_pulled = false; // but at what is handed over
        let kept = |width: Width, damping| {
            self.kept(Cut { row: width.len(d), vectors: width.vectors * d, d, damping })
        };
        profile.state.scalars += kept(profile.pull, self.pull) + kept(profile.push, self.push);
        if self.push != Damping::direct(1.0) {
            // what travels is q: it is what its receiver will miss only if all of it is handed on
            let roles = &mut profile.roles;
            profile.sends_a_share |= roles.tracker_sent.is_some() || roles.conserved_sent.is_some();
            (roles.tracker_sent, roles.conserved_sent) = (None, None);
        }
        profile.keeps_copies |= !(self.pull.is_direct() && self.push.is_direct());
        let rows = (0..profile.phases()).map(|phase| profile.sent(phase)).collect();
        profile.wire = Some(Wire { codec: Arc::clone(&self.codec), scale: self.scale, d, rows });
        profile
    }

    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner)
    }

    fn check_problem(&self, problem: &dyn Problem) -> Result<()> {
        self.inner.check_problem(problem)?;
        if let Quality::Unbiased { ω } = self.codec.quality(problem.dim()) {
            for damping in [self.pull, self.push] {
                let [_, α] = self.rates(damping, problem.dim());
                let most = 2.0 / (1.0 + ω);
                if α >= most {
                    // E‖p − h − αq‖² = (1 − 2α + α²(1 + ω))‖p − h‖² must shrink
                    let expected = format!(
                        "with this codec, which is off by ω = {ω:.3} times what it codes, copies follow only if α < 2/(1 + ω) = {most:.3}"
                    );
                    return Err(Error::parameter("compression", "alpha", α, expected));
                }
            }
        }
        Ok(())
    }
}

impl Kernel<f64> for Compressed {
    fn start(&self, at: Round<'_>, x: &[f64], gradient: Gradient<'_, f64>, state: &mut [f64]) {
        state.fill(0.0); // h = hw = 0
        let (inner, _) = self.split(at, state, row_lengths(&*self.inner, at));
        self.inner.start(at, x, gradient, inner);
    }

    fn send(&self, at: Round<'_>, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let (inner, [mut pulls, mut pushes]) = self.split(at, state, [pull.len(), push.len()]);
        [&mut *pull, &mut *push].into_iter().for_each(|row| row.fill(0.0)); // what the method leaves out stays 0
        self.inner.send(at, inner, pull, push);
        let mut draws = at.draws(Purpose::Codec);
        pulls.encode(pull, |x| self.compress(at.k, x, &mut draws));
        pushes.encode(push, |x| self.compress(at.k, x, &mut draws));
    }

    fn point(&self, at: Round<'_>, heard: Heard<'_, f64>, point: Point<'_, f64>) {
        let Heard { state, pulled, pushed } = heard;
        let (state, [mut pulls, mut pushes]) = self.split(at, state, [pulled.len(), pushed.len()]);
        if at.turn == 0 {
            pulls.decode(pulled);
            pushes.decode(pushed);
        }
        self.inner.point(at, Heard { state, pulled: pulls.handed, pushed: pushes.handed }, point);
    }

    fn update(&self, at: Round<'_>, heard: Heard<'_, f64>, gradient: Gradient<'_, f64>) {
        let Heard { state, pulled, pushed } = heard;
        let (state, [pulls, pushes]) = self.split(at, state, [pulled.len(), pushed.len()]);
        self.inner.update(at, Heard { state, pulled: pulls.handed, pushed: pushes.handed }, gradient);
    }
}
