//! The design is even in single answers and in pairs of them, also for other spaces than that of the map.

use super::READINGS;
use super::design::balanced;
use super::space::{Answers, Space};

/// How far the count of an answer is from its fair share at most, and that of a pair of answers.
fn unevenness(levels: &[usize], readings: &[Answers]) -> [f64; 2] {
    let count = readings.len() as f64;
    let (mut alone, mut paired) = (0.0_f64, 0.0_f64);
    for one in 0..levels.len() {
        for other in one..levels.len() {
            let mut met = vec![vec![0.0_f64; levels[other]]; levels[one]];
            readings.iter().for_each(|reading| met[reading[one]][reading[other]] += 1.0);
            for (answer, to_it) in met.iter().enumerate() {
                if one == other {
                    alone = alone.max((to_it[answer] - count / levels[one] as f64).abs());
                    continue;
                }
                let fair = count / (levels[one] * levels[other]) as f64;
                paired = to_it.iter().fold(paired, |worst, n| worst.max((n - fair).abs()));
            }
        }
    }
    [alone, paired]
}

#[test]
fn every_answer_and_every_pair_of_answers_has_its_fair_share() {
    let space = Space::parse(READINGS).unwrap();
    let levels: Vec<usize> = space.factors.iter().map(|factor| factor.levels.len()).collect();
    let more: Vec<usize> = levels.iter().copied().chain([4, 2, 3, 2]).collect();
    for (levels, count) in [(&levels, space.design.sampled), (&more, 320), (&more, 641), (&levels, 16)] {
        let readings = balanced(levels, count);
        let [alone, paired] = unevenness(levels, &readings);
        assert!(readings.len() == count && alone < 1.0 && paired < 2.5, "{count}: {alone}, {paired}");
    }
    // 1000 readings of questions whose answers divide them: exactly even in both
    assert_eq!(unevenness(&[2, 5, 4, 2], &balanced(&[2, 5, 4, 2], 1000)), [0.0, 0.0]);
}

#[test]
fn three_answers_meet_as_often_as_chance_has_it() {
    // of a pattern, as of three questions whose answers add up to an even number, some would never meet
    let levels = vec![2; 8];
    let readings = balanced(&levels, 320);
    for one in 0..8 {
        for other in one + 1..8 {
            for third in other + 1..8 {
                let odd = |reading: &&Answers| (reading[one] + reading[other] + reading[third]) % 2 == 1;
                let odd = readings.iter().filter(odd).count();
                // five standard errors of as many throws of a coin
                assert!(odd.abs_diff(160) < 45, "{odd} of 320");
            }
        }
    }
}

#[test]
fn small_designs_and_few_questions_are_possible() {
    assert_eq!(balanced(&[3, 2], 0), Vec::<Answers>::new());
    assert_eq!(balanced(&[], 2), vec![Answers::new(); 2]);
    let mut six = balanced(&[6], 6).concat();
    six.sort_unstable();
    assert_eq!(six, [0, 1, 2, 3, 4, 5]);
    assert_eq!(balanced(&[5, 3], 1).concat().len(), 2);
    assert_eq!(balanced(&[13, 2, 5], 40), balanced(&[13, 2, 5], 40));
}

#[test]
fn readings_near_the_words_come_once() {
    let space = Space::parse(READINGS).unwrap();
    let near = space.near();
    assert_eq!(near.len(), space.near_count());
    let mut once = near.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), near.len());
    assert!(near.iter().all(|answers| answers.iter().filter(|level| **level > 0).count() <= 2));
}
