//! From frames to rows: numbers as they are, or decoded.

use oneway::codec::Wire;
use oneway::graph::Graph;

use crate::wire::frame::{self, Content, Frame, Head};
use crate::wire::history::carried;
use crate::wire::{Number, copy_from_bytes};

/// What an agent knows of the rows that it receives.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Numbers in a pull row and in a push row.
    pub widths: [usize; 2],
    /// How they are encoded, if they are.
    pub wire: Option<Wire>,
    /// Exchanges in a round.
    pub phases: u32,
}

impl Rows {
    /// Bytes of the longest frame.
    pub fn longest_frame<T: Number>(&self) -> usize {
        let numbers = self.widths.iter().map(|width| frame::size(*width, T::PRECISION));
        let codes = self.wire.iter().flat_map(|wire| {
            let rows = (0..self.phases).flat_map(|phase| Graph::BOTH.map(|graph| (graph, phase)));
            rows.map(|(graph, phase)| {
                frame::size_of_code(wire.bytes(carried(graph, frame::Moment { round: 0, phase })))
            })
        });
        numbers.chain(codes).max().unwrap_or(0)
    }

    /// The head and the row of a frame that is in several pieces; or what is wrong with it.
    pub fn read_pieces<'p, T: Number>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]> + Clone,
        mut row: Vec<T>,
    ) -> Result<(Head, Vec<T>), String> {
        let width = |graph: Graph| self.widths[graph as usize];
        match frame::decode_pieces(pieces.clone(), width, &mut row) {
            Some(Ok(head)) if self.wire.is_none() => return Ok((head, row)),
            Some(Err(fault)) => return Err(fault.to_string()),
            _ => {}
        }
        let whole: Vec<u8> = pieces.flatten().copied().collect();
        let frame = frame::decode(&whole).map_err(|fault| fault.to_string())?;
        Ok((frame.head, self.read(&frame, row)?))
    }

    /// Writes the row of a frame, ready to be added, into a buffer; or says what is wrong with it. Allocates
    /// nothing but a row of the right width.
    pub fn read<T: Number>(&self, frame: &Frame<'_>, mut row: Vec<T>) -> Result<Vec<T>, String> {
        let (graph, at) = (frame.head.graph, frame.head.at);
        let width = self.widths[graph as usize];
        match (frame.content, &self.wire) {
            (Content::Numbers(precision, _), None) if precision != T::PRECISION => {
                Err(format!("its numbers are {precision}, here {}", T::PRECISION))
            }
            (Content::Numbers(precision, bytes), None) if bytes.len() == width * precision.bytes() => {
                row.resize(width, T::default());
                copy_from_bytes(bytes, &mut row);
                Ok(row)
            }
            (Content::Numbers(precision, bytes), None) => {
                Err(format!("it has {} numbers, not {width}", bytes.len() / precision.bytes()))
            }
            (Content::Coded { weight, bytes }, Some(wire)) => {
                row.resize(width, T::default());
                let Some(numbers) = T::as_f64_mut(&mut row) else {
                    return Err("it is encoded, which is for double precision only".to_owned());
                };
                wire.decode(carried(graph, at), bytes, numbers).map_err(|error| error.to_string())?;
                if graph == Graph::Push {
                    numbers.iter_mut().for_each(|x| *x *= weight); // C_ij·q_j
                }
                Ok(row)
            }
            (Content::Numbers(..), Some(_)) => Err("it is not encoded".to_owned()),
            (Content::Coded { .. }, None) => Err("it is encoded".to_owned()),
        }
    }
}
