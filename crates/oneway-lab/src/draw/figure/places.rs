//! Where agents stand in a drawing, in a square from −1 to 1, y downwards.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use oneway::graph::{Digraph, families};

/// A point.
pub(crate) type Place = (f64, f64);

/// A tidy arrangement: petals for a flower, rows and columns for a grid, and for anything else a circle.
pub(crate) fn tidy(digraph: &Digraph) -> Vec<Place> {
    flower(digraph).or_else(|| grid(digraph)).unwrap_or_else(|| circle(digraph.agents()))
}

/// Clockwise from the top, by id.
pub(crate) fn circle(agents: usize) -> Vec<Place> {
    if agents == 1 {
        return vec![(0.0, 0.0)];
    }
    (0..agents).map(|i| polar(1.0, TAU * i as f64 / agents as f64)).collect()
}

/// Coordinates of a map, y upwards, scaled to fill the square, and moved apart where badges would cover each
/// other.
pub(crate) fn map(points: impl IntoIterator<Item = Place>) -> Vec<Place> {
    let mut places = fill(points.into_iter().map(|(x, y)| (x, -y)).collect());
    for _ in 0..200 {
        if !part(&mut places) {
            break;
        }
        places = fill(places);
    }
    places
}

/// The distance between the two agents that are nearest to each other; 2 where there are not two.
pub(crate) fn nearest(places: &[Place]) -> f64 {
    let pairs = places.iter().enumerate().flat_map(|(i, a)| places[..i].iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).fold(2.0, f64::min)
}

/// The least distance between two agents: their badges do not touch.
const APART: f64 = 0.155;

/// Moves agents that are too near half of what is missing each; whether any were.
fn part(places: &mut [Place]) -> bool {
    let mut moved = false;
    for i in 1..places.len() {
        for j in 0..i {
            let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
            let distance = dx.hypot(dy);
            if distance >= APART {
                continue;
            }
            moved = true;
            // On the same spot any way will do, but not the same for all.
            let (x, y) = if distance > 1e-9 { (dx / distance, dy / distance) } else { polar(1.0, i as f64) };
            let by = 0.5 * (APART + 0.005 - distance);
            places[i] = (places[i].0 + by * x, places[i].1 + by * y);
            places[j] = (places[j].0 - by * x, places[j].1 - by * y);
        }
    }
    moved
}

/// Scales to fill the square without changing angles.
fn fill(points: Vec<Place>) -> Vec<Place> {
    let bounds = |of: fn(&Place) -> f64| {
        points
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    };
    let ((left, right), (bottom, top)) = (bounds(|p| p.0), bounds(|p| p.1));
    let half = (0.5 * (right - left).max(top - bottom)).max(f64::MIN_POSITIVE);
    let place = |&(x, y): &Place| ((x - 0.5 * (left + right)) / half, (y - 0.5 * (bottom + top)) / half);
    points.iter().map(place).collect()
}

/// An angle clockwise from the top.
fn polar(radius: f64, angle: f64) -> Place {
    (radius * (angle - FRAC_PI_2).cos(), radius * (angle - FRAC_PI_2).sin())
}

/// Loops about agent 0, if the digraph is cycles through agent 0 that share nothing else, two of them or
/// more.
fn flower(digraph: &Digraph) -> Option<Vec<Place>> {
    let agents = digraph.agents();
    let petals = digraph.out_neighbours(0);
    let simple =
        (1..agents).all(|i| digraph.out_neighbours(i).len() == 1 && digraph.in_neighbours(i).len() == 1);
    if petals.len() < 2 || !simple {
        return None;
    }
    let mut places = vec![(0.0, 0.0); agents];
    let sector = TAU / petals.len() as f64;
    let mut placed = 1;
    for (petal, &first) in petals.iter().enumerate() {
        let mut cycle = vec![];
        let mut at = first as usize;
        while at != 0 && cycle.len() < agents {
            cycle.push(at);
            at = *digraph.out_neighbours(at).first()? as usize;
        }
        placed += cycle.len();
        for (j, &agent) in cycle.iter().enumerate() {
            // A leaf: out along one side, round the tip and back along the other.
            let along = (j + 1) as f64 / (cycle.len() + 1) as f64;
            let radius = (PI * along).sin().powf(0.62);
            let side = 0.42 * sector.min(1.9) * -(PI * along).cos();
            places[agent] = polar(radius, sector * petal as f64 + side);
        }
    }
    (placed == agents).then_some(places)
}

/// Rows and columns, if the digraph is the grid or the torus of its size.
fn grid(digraph: &Digraph) -> Option<Vec<Place>> {
    let agents = digraph.agents();
    // Only a few columns are possible, and no more than a few edges: this costs little.
    let columns = (2..agents).filter(|columns| agents.is_multiple_of(*columns)).find(|&columns| {
        let same = |graph: oneway::Result<Digraph>| graph.is_ok_and(|graph| graph == *digraph);
        same(families::grid(agents, Some(columns))) || same(families::torus(agents, Some(columns)))
    })?;
    Some(map((0..agents).map(|i| ((i % columns) as f64, -((i / columns) as f64)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_their_shapes() {
        let flower = tidy(&families::flower(20, 4).unwrap());
        assert_eq!(flower[0], (0.0, 0.0));
        let grid = tidy(&families::grid(12, None).unwrap());
        assert!(grid.iter().filter(|place| (place.1 - grid[0].1).abs() < 1e-9).count() > 1);
        assert_eq!(tidy(&families::ring(8).unwrap()), circle(8));
        assert_eq!(tidy(&families::ring(1).unwrap()), [(0.0, 0.0)]);
    }

    #[test]
    fn agents_stay_in_the_square_and_apart() {
        for family in families::FAMILIES {
            for agents in [2, 3, 8, 20, 40] {
                let Ok(graphs) = family.digraphs(agents, [], 1) else { continue };
                let places = tidy(&graphs[0]);
                assert_eq!(places.len(), agents);
                for (i, a) in places.iter().enumerate() {
                    assert!(a.0.abs() <= 1.0 + 1e-9 && a.1.abs() <= 1.0 + 1e-9, "{} {a:?}", family.name);
                    for b in &places[..i] {
                        let apart = (a.0 - b.0).hypot(a.1 - b.1);
                        assert!(apart > 0.12, "{} of {agents}: {apart}", family.name);
                    }
                }
            }
        }
    }

    #[test]
    fn a_map_keeps_its_shape() {
        assert_eq!(map([(0.0, 0.0), (4.0, 2.0)]), [(-1.0, 0.5), (1.0, -0.5)]);
        assert_eq!(map([(3.0, 3.0)]), [(0.0, 0.0)]);
        assert!(map([]).is_empty());
    }

    #[test]
    fn agents_on_one_spot_are_parted() {
        let places = map((0..30).map(|i| (f64::from(i % 3), f64::from(i % 2))));
        for (i, a) in places.iter().enumerate() {
            for b in &places[..i] {
                assert!((a.0 - b.0).hypot(a.1 - b.1) > 0.13, "{a:?} {b:?}");
            }
        }
    }
}
