//! Which readings of the space are sampled: drawn at random, and made even.

use oneway::numeric::sample::{Draws, Purpose};

use super::space::Answers;

/// Swaps that are tried for each reading. A tenth of them leave pairs of answers as much as 1.7 off their fair share,
/// ten times as many 0.9.
const TRIES: usize = 1000;

/// So many readings of a space whose questions have so many answers each.
///
/// Answers to a question are dealt in equal shares, to within one, in random order. Then two readings drawn at random
/// swap their answers to a question drawn at random, again and again, unless pairs of answers came out less even by it:
/// χ² = Σ (n − f)²/f over all pairs of answers to two questions, n the readings that have both, f a fair share. What an
/// answer has alone stays as it was. Draws are of one seed: to a space there is one design.
///
/// Three answers and more meet as chance has it, so that nothing is tied to a pattern.
pub(super) fn balanced(levels: &[usize], count: usize) -> Vec<Answers> {
    let mut draws = Draws::new(0, Purpose::Partition, 0, 0);
    let mut readings = vec![vec![0; levels.len()]; count];
    for (question, levels) in levels.iter().enumerate() {
        let mut dealt: Answers = (0..count).map(|at| at * levels / count).collect();
        draws.shuffle(&mut dealt);
        readings.iter_mut().zip(dealt).for_each(|(reading, answer)| reading[question] = answer);
    }
    if levels.len() < 2 {
        return readings;
    }
    let mut pairs = Pairs::of(levels, &readings);
    for _ in 0..count * TRIES {
        let question = draws.below(levels.len());
        let [one, other] = [(); 2].map(|()| draws.below(count));
        if pairs.change(&readings[one], &readings[other], question) > 0 {
            continue;
        }
        for (reading, by) in [(one, -1), (other, -1)] {
            pairs.add(&readings[reading], question, by);
        }
        let answer = readings[one][question];
        readings[one][question] = std::mem::replace(&mut readings[other][question], answer);
        for (reading, by) in [(one, 1), (other, 1)] {
            pairs.add(&readings[reading], question, by);
        }
    }
    readings
}

/// How many readings have each pair of answers.
struct Pairs<'a> {
    levels: &'a [usize],
    /// Where a question's answers begin among all.
    first: Vec<usize>,
    /// Answers of all questions.
    all: usize,
    /// By answer and answer, both ways round.
    counts: Vec<i64>,
}

impl<'a> Pairs<'a> {
    fn of(levels: &'a [usize], readings: &[Answers]) -> Self {
        let first = (0..levels.len()).map(|question| levels[..question].iter().sum()).collect();
        let all = levels.iter().sum();
        let mut pairs = Self { levels, first, all, counts: vec![0; all * all] };
        for reading in readings {
            for question in 0..levels.len() {
                // each pair once: with the questions before
                pairs.add(&reading[..=question], question, 1);
            }
        }
        pairs
    }

    fn place(&self, (one, answer): (usize, usize), (other, to_it): (usize, usize)) -> usize {
        (self.first[one] + answer) * self.all + self.first[other] + to_it
    }

    /// Counts the pairs of a reading's answer to a question with all others.
    fn add(&mut self, reading: &[usize], question: usize, by: i64) {
        let own = (question, reading[question]);
        for other in reading.iter().copied().enumerate().filter(|(other, _)| *other != question) {
            let places = [self.place(own, other), self.place(other, own)];
            places.into_iter().for_each(|place| self.counts[place] += by);
        }
    }

    /// What χ² would grow by if two readings swapped their answers to a question, but for a factor of the question's own:
    /// with every other question that they answer differently two of four pairs lose a reading and two gain one,
    /// and Σ n²/f changes by 2(n₊ + n₊′ − n₋ − n₋′ + 2)/f.
    fn change(&self, one: &[usize], other: &[usize], question: usize) -> i64 {
        let [mine, yours] = [one, other].map(|reading| (question, reading[question]));
        let with = |(at, (&p, &q)): (usize, (&usize, &usize))| {
            let met = |answer, to| self.counts[self.place(answer, (at, to))];
            let more = met(yours, p) + met(mine, q) - met(mine, p) - met(yours, q) + 2;
            if p == q || at == question { 0 } else { self.levels[at] as i64 * more }
        };
        if mine == yours { 0 } else { one.iter().zip(other).enumerate().map(with).sum() }
    }
}
