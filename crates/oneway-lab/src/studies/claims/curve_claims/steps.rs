//! The same comparison with the paper's steps and with one step for all, and the verdict on all of it.

use crate::studies::claims::runs::Runs;
use crate::studies::claims::statistics::Answer;
use crate::studies::claims::{Experiments, Verdict};

/// The runs of an experiment under one choice of initial steps.
#[derive(Debug, Clone)]
pub(super) struct Steps<'a> {
    /// "the paper's steps" or "0.1 for all".
    pub(super) name: String,
    is_paper: bool,
    pub(super) runs: Runs<'a>,
}

impl<'a> Steps<'a> {
    pub(super) fn on_multi_sub_ring(experiments: &Experiments<'a>) -> Vec<Self> {
        let all = experiments.one_step.map(|one| Self::one(one.step, Runs(one.multi_sub_ring)));
        std::iter::once(Self::paper(Runs(experiments.multi_sub_ring))).chain(all).collect()
    }

    pub(super) fn on_exponential(experiments: &Experiments<'a>) -> Vec<Self> {
        let all = experiments.one_step.map(|one| Self::one(one.step, Runs(one.exponential)));
        std::iter::once(Self::paper(Runs(experiments.exponential))).chain(all).collect()
    }

    fn paper(runs: Runs<'a>) -> Self {
        Self { name: "the paper's steps".to_owned(), is_paper: true, runs }
    }

    fn one(step: &str, runs: Runs<'a>) -> Self {
        Self { name: format!("{step} for all"), is_paper: false, runs }
    }

    /// What the labels of its numbers begin with: nothing for the paper's steps.
    pub(super) fn prefix(&self) -> String {
        if self.is_paper { String::new() } else { format!("{}: ", self.name) }
    }
}

/// Which links SMTPP uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Full,
    Trees,
}

/// An answer, and to which question: with these steps, on these links where that is a choice.
#[derive(Debug, Clone)]
pub(super) struct Case {
    steps: String,
    is_paper: bool,
    links: Option<Links>,
    answer: Answer,
}

impl Case {
    pub(super) fn new(steps: &Steps<'_>, links: Option<Links>, answer: Answer) -> Self {
        Self { steps: steps.name.clone(), is_paper: steps.is_paper, links, answer }
    }
}

/// Holds if every case does. If some do, it holds for these (no other fails) or only if it is one of these
/// (some do). If none does, it does not hold if it fails in every case with the paper's steps, and is
/// undecided otherwise.
pub(super) fn verdict(cases: &[Case]) -> Verdict {
    let [yes, no, unclear] = [Answer::Yes, Answer::No, Answer::Unclear].map(|answer| list(cases, answer));
    match (yes, no, unclear) {
        (Some(_), None, None) => Verdict::Holds,
        (Some(yes), None, Some(unclear)) => Verdict::holds_for(&yes, &unclear),
        (Some(yes), Some(no), None) => Verdict::HoldsOnlyIf(format!("taken with {yes}; not with {no}")),
        (Some(yes), Some(no), Some(unclear)) => {
            Verdict::HoldsOnlyIf(format!("taken with {yes}; not with {no}; undecided with {unclear}"))
        }
        (None, Some(_), _)
            if cases.iter().filter(|case| case.is_paper).all(|case| case.answer == Answer::No) =>
        {
            Verdict::DoesNotHold
        }
        _ => Verdict::Undecided,
    }
}

/// "It holds at neither common step."
pub(super) fn where_it_holds(cases: &[Case]) -> String {
    let common: Vec<Case> = cases.iter().filter(|case| !case.is_paper).cloned().collect();
    match (list(&common, Answer::Yes), list(&common, Answer::No)) {
        (Some(yes), Some(no)) => format!("At a common step it holds with {yes}, and does not with {no}."),
        (Some(yes), None) => format!("At a common step it holds with {yes}."),
        (None, Some(no)) => format!("It holds at neither common step, and surely does not with {no}."),
        (None, None) => "It holds at neither common step, nor is the reverse sure.".to_owned(),
    }
}

/// The cases with an answer, in words: "0.1 for all on trees, 0.2 for all"; none if there are none.
fn list(cases: &[Case], answer: Answer) -> Option<String> {
    let mut words: Vec<String> = vec![];
    for (i, case) in cases.iter().enumerate() {
        let same: Vec<&Case> = cases.iter().filter(|other| other.steps == case.steps).collect();
        let all = same.iter().all(|other| other.answer == answer);
        let first = cases[..i].iter().all(|other| other.steps != case.steps);
        match case.links {
            _ if case.answer != answer || (all && !first) => {}
            _ if all => words.push(case.steps.clone()),
            Some(Links::Full) => words.push(format!("{} on the full digraph", case.steps)),
            Some(Links::Trees) => words.push(format!("{} on trees", case.steps)),
            None => words.push(case.steps.clone()),
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(answers: [Answer; 6]) -> Vec<Case> {
        let steps = [("the paper's steps", true), ("0.1 for all", false), ("0.2 for all", false)];
        let of = |i: usize, answer| {
            let (steps, is_paper) = steps[i / 2];
            let links = Some(if i.is_multiple_of(2) { Links::Full } else { Links::Trees });
            Case { steps: steps.to_owned(), is_paper, links, answer }
        };
        answers.into_iter().enumerate().map(|(i, answer)| of(i, answer)).collect()
    }

    #[test]
    fn verdicts_name_the_cases() {
        use Answer::{No, Unclear, Yes};
        let of = |answers| verdict(&cases(answers)).to_string();
        assert_eq!(of([Yes; 6]), "holds");
        assert_eq!(of([No, No, Unclear, Unclear, No, Unclear]), "does not hold");
        assert_eq!(of([No, Unclear, No, No, No, No]), "undecided");
        assert_eq!(of([Unclear; 6]), "undecided");
        assert_eq!(
            of([Yes, Yes, Yes, Unclear, Unclear, Unclear]),
            "holds for the paper's steps, 0.1 for all on the full digraph; undecided for 0.1 for all on trees, 0.2 for all"
        );
        assert_eq!(
            of([No, No, Unclear, Yes, Unclear, Unclear]),
            "holds only if taken with 0.1 for all on trees; not with the paper's steps; undecided with 0.1 for all on \
             the full digraph, 0.2 for all"
        );
        let found = where_it_holds(&cases([Yes, Yes, Unclear, Yes, Unclear, No]));
        assert_eq!(
            found,
            "At a common step it holds with 0.1 for all on trees, and does not with 0.2 for all on trees."
        );
        assert!(where_it_holds(&cases([Yes; 6])).contains("with 0.1 for all, 0.2 for all."));
        assert!(where_it_holds(&cases([Unclear; 6])).contains("neither"));
    }
}
