//! From frames to rows: numbers as they are, or what a codec made of them.

use oneway::codec::Wire;

use crate::frame::{self, Content, Frame, Graph, Head};
use crate::history::carried;

/// What an agent knows of the rows that it is to hear.
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
    pub fn longest_frame(&self) -> usize {
        let numbers = self.widths.iter().map(|width| frame::size(*width));
        let codes = self.wire.iter().flat_map(|wire| {
            let rows = (0..self.phases).flat_map(|phase| Graph::BOTH.map(|graph| (graph, phase)));
            rows.map(|(graph, phase)| {
                frame::size_of_code(wire.bytes(carried(graph, frame::Moment { round: 0, phase })))
            })
        });
        numbers.chain(codes).max().unwrap_or(0)
    }

    /// The head and the row of a frame that lies in pieces; or what is wrong with it.
    pub fn read_pieces<'p>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]> + Clone,
        mut row: Vec<f64>,
    ) -> Result<(Head, Vec<f64>), String> {
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

    /// Puts the row of a frame, as it is to be added up, into a buffer; or says what is wrong with it. Nothing is allocated but a
    /// row of the right width.
    pub fn read(&self, frame: &Frame<'_>, mut row: Vec<f64>) -> Result<Vec<f64>, String> {
        let (graph, at) = (frame.head.graph, frame.head.at);
        let width = self.widths[graph as usize];
        match (frame.content, &self.wire) {
            (Content::Numbers(numbers), None) if numbers.len() == width => {
                row.clear();
                row.extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
                Ok(row)
            }
            (Content::Numbers(numbers), None) => {
                Err(format!("it has {} numbers, not {width}", numbers.len()))
            }
            (Content::Coded { weight, bytes }, Some(wire)) => {
                row.resize(width, 0.0);
                wire.decode(carried(graph, at), bytes, &mut row).map_err(|error| error.to_string())?;
                if graph == Graph::Push {
                    row.iter_mut().for_each(|x| *x *= weight); // C_ij·q_j
                }
                Ok(row)
            }
            (Content::Numbers(_), Some(_)) => Err("it is not encoded".to_owned()),
            (Content::Coded { .. }, None) => Err("it is encoded".to_owned()),
        }
    }
}
