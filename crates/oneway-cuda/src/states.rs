//! States that come back from a device.

use oneway::engine::observe::Snapshot;
use oneway::numeric::Precision;

use crate::device::{Buffer, Program};
use crate::error::{Error, Result};

/// Copies all agents' rows, of this width and stride, from a device.
pub(crate) fn read_states(
    program: &mut dyn Program,
    states: Buffer,
    precision: Precision,
    [width, stride]: [usize; 2],
    to: &mut Snapshot<'_>,
) -> Result<()> {
    let agents = to.view().agents();
    let failed = |error: oneway::Error| Error::Failed(error.to_string());
    match precision {
        Precision::F64 => {
            let mut all = vec![0.0f64; agents * stride];
            program.read(states, bytemuck::cast_slice_mut(&mut all))?;
            for (agent, row) in all.chunks_exact(stride.max(1)).enumerate() {
                to.state_mut(agent).map_err(failed)?.copy_from_slice(&row[..width]);
            }
        }
        Precision::F32 => {
            let mut all = vec![0.0f32; agents * stride];
            program.read(states, bytemuck::cast_slice_mut(&mut all))?;
            for (agent, row) in all.chunks_exact(stride.max(1)).enumerate() {
                let places = to.state_mut(agent).map_err(failed)?.iter_mut();
                places.zip(row).for_each(|(place, x)| *place = f64::from(*x));
            }
        }
    }
    Ok(())
}
