//! Dense forms of the methods for balanced and undirected networks, and of the centralised ones: the rules as
//! their papers write them, not as the library rearranges them.
#![allow(unreachable_pub)]

use crate::dense_world::{D, Matrix, N, World, combine, times, zeros};

/// Everything that a form may keep.
pub struct Dense<'a> {
    name: &'a str,
    world: &'a World<'a>,
    /// The estimates.
    pub x: Matrix,
    g: Matrix,
    /// Vectors whose meaning is the method's.
    u: Matrix,
    v: Matrix,
    c: Matrix,
    x_last: Matrix,
    v_last: Matrix,
}

#[allow(non_upper_case_globals)]
const λ: f64 = 0.1;
#[allow(non_upper_case_globals)]
const β: f64 = 0.5;

fn sum<const K: usize>(terms: [(f64, &Matrix); K]) -> Matrix {
    terms.iter().fold(zeros(D), |sum, (factor, matrix)| combine(&sum, *factor, matrix))
}

/// Number by number.
fn each(a: &Matrix, b: &Matrix, work: impl Fn(f64, f64) -> f64) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| work(*a, *b)).collect()).collect()
}

/// (I + W)/2.
pub fn lazy(w: &Matrix) -> Matrix {
    (0..N).map(|i| (0..N).map(|j| 0.5 * (w[i][j] + f64::from(i == j))).collect()).collect()
}

impl<'a> Dense<'a> {
    /// The form of the method called `name` at its start, if it is one of those here.
    pub fn new(name: &'a str, world: &'a World<'a>) -> Option<Self> {
        let x = zeros(D);
        let g = world.gradients(&x, 0);
        let mut dense = Self {
            name,
            world,
            u: zeros(D),
            v: zeros(D),
            c: zeros(D),
            x_last: x.clone(),
            v_last: zeros(D),
            x,
            g,
        };
        match name {
            "dsgd" | "exact-diffusion" | "d2" | "momentum-tracking" | "qg-dsgdm" | "decentlam" => {}
            "sgd" | "adam" => {}
            "dsmt" | "dsmt-lca" => {
                dense.u = sum([(λ, &dense.g)]); // Z₀ = Y₀ = (1−β)G₀
                dense.v = dense.u.clone();
                dense.v_last = dense.u.clone();
            }
            "central-storm" => dense.u = dense.g.clone(),
            "adamdos" => {
                dense.u = dense.g.clone();
                dense.v = dense.g.clone();
                dense.c = each(&dense.g, &dense.g, |g, h| 0.1 * g * h);
            }
            _ => return None,
        }
        Some(dense)
    }

    /// One round with the step η.
    pub fn round(&mut self, k: u64, η: f64, w: &Matrix) {
        let gradient = |x: &Matrix| self.world.gradients(x, k + 1);
        match self.name {
            "dsgd" => self.x = times(w, &sum([(1.0, &self.x), (-η, &self.g)])),
            "dsmt" | "dsmt-lca" => {
                let (pace, half) = (if self.name == "dsmt" { 0.0 } else { 0.5 }, lazy(w));
                // the authors' pairs (x, x₋) and (y, y₋)
                let s = sum([(1.0, &self.x), (-η, &self.v)]);
                let s_last = sum([(1.0, &self.x_last), (-η, &self.v)]);
                self.x = sum([(1.0 + pace, &times(&half, &s)), (-pace, &s_last)]);
                self.x_last = s;
                let z = sum([(1.0 - λ, &self.u), (λ, &gradient(&self.x))]);
                let s = sum([(1.0, &self.v), (1.0, &z), (-1.0, &self.u)]);
                let s_last = sum([(1.0, &self.v_last), (1.0, &z), (-1.0, &self.u)]);
                self.v = sum([(1.0 + pace, &times(&half, &s)), (-pace, &s_last)]);
                self.v_last = s;
                self.u = z;
            }
            "exact-diffusion" | "d2" => {
                // C is what G lacks of its mean: X⁺ = W̃(X − η(G − C)), and ηC⁺ = X⁺ − (X − ηG)
                let w = if self.name == "d2" { w.clone() } else { lazy(w) };
                let adapted = sum([(1.0, &self.x), (-η, &self.g)]);
                self.x = times(&w, &sum([(1.0, &adapted), (η, &self.c)]));
                self.c = sum([(1.0 / η, &self.x), (-1.0 / η, &adapted)]);
            }
            "momentum-tracking" => {
                self.u = sum([(β, &self.u), (1.0, &self.g)]);
                let corrected = sum([(1.0, &self.u), (-1.0, &self.c)]);
                self.x = sum([(1.0, &times(w, &self.x)), (-η, &corrected)]);
                self.c = sum([(-1.0, &times(w, &corrected)), (1.0, &self.u)]);
            }
            "qg-dsgdm" => {
                let half = sum([(1.0, &self.x), (-η * β, &self.u), (-η, &self.g)]);
                let x = times(w, &half);
                let went = sum([(1.0 / η, &self.x), (-1.0 / η, &x)]);
                self.u = sum([(β, &self.u), (1.0 - β, &went)]);
                self.x = x;
            }
            "decentlam" => {
                let mixed = times(w, &sum([(1.0, &self.x), (-η, &self.g)]));
                let went = sum([(1.0 / η, &self.x), (-1.0 / η, &mixed)]);
                self.u = sum([(β, &self.u), (1.0, &went)]);
                self.x = sum([(1.0, &self.x), (-η, &self.u)]);
            }
            "adamdos" => {
                let scaled = each(&self.v, &self.c, |w, a| w / (a.sqrt() + 0.5));
                let goal = sum([(1.0, &times(w, &self.x)), (-η, &scaled)]);
                let x = sum([(0.1, &self.x), (0.9, &goal)]);
                let (new, old) = (gradient(&x), gradient(&self.x));
                let u = sum([(1.0, &new), (1.0 - λ, &self.u), (λ - 1.0, &old)]);
                self.v = sum([(1.0, &times(w, &self.v)), (1.0, &u), (-1.0, &self.u)]);
                self.c = each(&self.c, &new, |a, g| 0.9 * a + 0.1 * g * g);
                (self.x, self.u) = (x, u);
            }
            "sgd" => self.x = sum([(1.0, &self.x), (-η, &mean(&self.g))]),
            "central-storm" => {
                let x = sum([(1.0, &self.x), (-η, &mean(&self.u))]);
                self.u = sum([(1.0, &gradient(&x)), (1.0 - λ, &self.u), (λ - 1.0, &gradient(&self.x))]);
                self.x = x;
            }
            "adam" => {
                let (g, t) = (mean(&self.g), k as i32 + 1);
                self.u = sum([(0.9, &self.u), (0.1, &g)]);
                self.v = each(&self.v, &g, |v, g| 0.999 * v + 0.001 * g * g);
                let step = each(&self.u, &self.v, |m, v| {
                    m / (1.0 - 0.9f64.powi(t)) / ((v / (1.0 - 0.999f64.powi(t))).sqrt() + 1e-8)
                });
                self.x = sum([(1.0, &self.x), (-η, &step)]);
            }
            other => unreachable!("{other} has no form here"),
        }
        self.g = gradient(&self.x);
    }
}

fn mean(g: &Matrix) -> Matrix {
    times(&vec![vec![1.0 / N as f64; N]; N], g)
}
