//! One exchange of an agent: its rows go out, and those of its neighbours are added up.
//!
//! The bits are the simulator's, because every number is made by the same operations in the same order. On
//! the pull graph the raw row is sent, and the receiver multiplies it by R_ij. On the push graph the sender
//! multiplies by its C_ij, and the receiver adds. An encoded row is sent with C_ij, and the receiver
//! multiplies: the same two numbers, the same bits. Sums go by ascending sender, the agent itself included;
//! the first term is assigned, the others are multiplied and then added, never fused.

use oneway::graph::Graph;
use oneway::numeric::row::Sum;

use crate::link::{Link, LinkError};
use crate::plan::ties::Ties;
use crate::wire::Number;
use crate::wire::frame::Moment;

/// Where an exchange writes.
#[derive(Debug)]
pub(crate) struct Mixed<'m, T> {
    /// Σ_j R_ij·x_j.
    pub(crate) pulled: &'m mut [T],
    /// Σ_j C_ij·v_j.
    pub(crate) pushed: &'m mut [T],
    /// Room for the row of a neighbour, on each graph.
    pub(crate) heard: &'m mut [Vec<T>; 2],
}

/// Sends the rows of this moment, which are in the link's history, on the graphs that `sends` names; and adds
/// up what is heard there, `own` rows included.
pub(crate) fn exchange<T: Number>(
    link: &mut dyn Link<T>,
    ties: &Ties,
    at: Moment,
    sends: [bool; 2],
    own: [&[T]; 2],
    mixed: Mixed<'_, T>,
) -> Result<(), LinkError> {
    let links = ties.at(at.round);
    for (graph, _) in Graph::BOTH.into_iter().zip(sends).filter(|(_, sends)| *sends) {
        for (to, _) in links.receivers(graph).filter(|(to, _)| *to != ties.agent) {
            link.put(to, graph, at)?;
        }
    }
    let Mixed { pulled, pushed, heard } = mixed;
    let mut heard = Listener { link, own: ties.agent, at, rows: heard };
    let weights = links.pulls.iter().map(|&(from, weight)| (from, Some(weight)));
    heard.sum(Graph::Pull, weights, own[0], pulled, sends[0])?; // Σ_j R_ij·x_j
    let kept = links.pushes.iter().find(|(to, _)| *to == ties.agent).map(|(_, weight)| *weight);
    let weights = links.pushed_by.iter().map(|&from| (from, kept.filter(|_| from == ties.agent)));
    heard.sum(Graph::Push, weights, own[1], pushed, sends[1]) // Σ_j C_ij·v_j
}

/// Adds up the rows of the neighbours as they arrive.
struct Listener<'l, 'r, T> {
    link: &'l mut dyn Link<T>,
    own: usize,
    at: Moment,
    rows: &'r mut [Vec<T>; 2],
}

impl<T: Number> Listener<'_, '_, T> {
    /// `out` = Σ_j weight_j·row_j by ascending sender. A row without a weight was multiplied by its sender.
    fn sum(
        &mut self,
        graph: Graph,
        senders: impl Iterator<Item = (usize, Option<f64>)>,
        own: &[T],
        out: &mut [T],
        sent: bool,
    ) -> Result<(), LinkError> {
        let mut sum = Sum::new(out);
        for (from, weight) in senders {
            let row: &[T] = if from == self.own {
                own
            } else if sent {
                let row = &mut self.rows[graph as usize];
                self.link.get(from, graph, self.at, row)?;
                row
            } else {
                continue; // this row is not exchanged in this phase
            };
            match weight {
                Some(weight) => sum.add(weight, row),
                None => sum.add_product(row),
            }
        }
        sum.finish(); // a push row may hear no one, not even itself
        Ok(())
    }
}
