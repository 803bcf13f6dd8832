//! A method of your own: its rule, its registry entry, and the tests that every method of the library passes.

use oneway::prelude::*;

/// Aug-DGM (Xu, Zhu, Soh & Xie 2015), X⁺ = W(X − ηY); Y⁺ = W(Y + G⁺ − G), in two exchanges: models, then
/// trackers.
#[derive(Debug)]
pub struct AugDgm;

impl Rule for AugDgm {
    type State<S: Real> = [S; 3]; // x, y, g
    type Pull<S: Real> = S;
    type Push<S: Real> = (); // W is both R and C: one graph will do
    const NAMES: &'static [&'static str] = &["x", "y", "g"];

    fn profile(&self) -> Profile {
        let mut profile = Profile::new(Network::Balanced);
        profile.roles = Roles { tracker_sent: None, ..Roles::tracking(false) };
        profile.exchanges.push(Exchange { sends: [true, false], turns: vec![Ask::Nothing] });
        profile
    }
    fn start<S: Real>(&self, _: At<S>, x: S, [g, _]: [S; 2]) -> [S; 3] {
        [x, g, g] // y₀ = g₀
    }
    fn send<S: Real>(&self, at: At<S>, [x, y, _]: [S; 3]) -> Mail<S, ()> {
        Mail { pull: if at.phase == 0 { x - at.η * y } else { y }, push: () }
    }
    fn points<S: Real>(&self, _: At<S>, [x, ..]: [S; 3], heard: Mail<S, ()>) -> [S; 2] {
        [heard.pull, x] // x⁺ = Σ_j W_ij (x_j − η y_j)
    }
    fn update<S: Real>(&self, at: At<S>, [x, y, g]: [S; 3], heard: Mail<S, ()>, [new, _]: [S; 2]) -> [S; 3] {
        match at.phase {
            0 => [heard.pull, y + (new - g), new], // to be mixed in the second exchange
            _ => [x, heard.pull, g],               // y⁺ = Σ_j W_ij (y_j + g_j⁺ − g_j)
        }
    }
}

/// Its entry in a registry.
pub const AUG_DGM: Kind = Kind {
    reference: "Xu, Zhu, Soh & Xie 2015",
    trust: Trust::B,
    ..Kind::new("aug-dgm", "Aug-DGM: gradient tracking in which models and trackers are mixed last", |_| {
        Ok(Box::new(AugDgm))
    })
};

fn main() {
    let report = oneway::testing::conformance(&AUG_DGM);
    print!("{report}");
    assert!(report.is_ok());
}
