//! A rule's equations in print, from what its code does to symbols.

use std::collections::HashSet;

use super::trace::COMMON_INPUTS;
use super::{Ask, Carries, Network, Trace, TracedExchange};
use crate::numeric::formula::{Formula, MEAN};
use crate::numeric::formulas::{Formulas, Part};

/// Letters for what is sent, where an update computes it again; the first that the state does not have.
const SENT: [&str; 4] = ["s", "p", "q", "h"];

/// An equation, and the letters that it uses.
struct Line {
    /// The vector of the state that it is for.
    state: Option<usize>,
    left: String,
    right: String,
    uses: Vec<String>,
}

impl Line {
    fn new(state: Option<usize>, left: String, right: &Formula, text: String) -> Self {
        let mut uses = vec![];
        right.each_letter(&mut |letter| uses.push(letter.to_owned()));
        Self { state, left, right: text, uses }
    }

    /// How often it uses a letter.
    fn times(&self, letter: &str) -> usize {
        self.uses.iter().filter(|used| *used == letter).count()
    }

    fn text(&self) -> String {
        format!("{} = {}", self.left, self.right)
    }
}

/// Words for the gradients that are asked for.
struct Gradients {
    ask: Ask,
    next: String,
    other: String,
    /// What `next` stands for, where it is no more than a letter.
    meaning: Option<String>,
}

impl Gradients {
    /// Those at `point`, and at `last` if two points are asked for; `mark` is that of the time, ⁺ or ₀.
    fn new(ask: Ask, point: &str, last: &str, mark: &str) -> Self {
        let at = |point: &str, sample: &str| format!("∇F({point}; ξ{sample}{mark})");
        let [next, other, meaning] = match ask {
            Ask::Samples(2..) => [at(point, "_K"), format!("Σ_{{s<K}} {}", at(point, "_s")), String::new()],
            Ask::BothPoints => [format!("g{mark}"), at(last, ""), at(point, "")],
            _ => [format!("g{mark}"), String::new(), at(point, "")],
        };
        Self { ask, next, other, meaning: Some(meaning).filter(|meaning| !meaning.is_empty()) }
    }

    /// A formula with the sum of all samples written as one.
    fn text(&self, formula: &Formula) -> String {
        let text = formula.text();
        match self.ask {
            Ask::Samples(2..) => {
                let sum = self.next.replacen("_K", "_s", 1);
                text.replace(&format!("({} + {})/K", self.other, self.next), &format!("(1/K) Σ_s {sum}"))
            }
            _ => text,
        }
    }

    fn line(&self) -> Option<Line> {
        let (left, right) = (self.next.clone(), self.meaning.clone()?);
        Some(Line { state: None, left, right, uses: vec![] })
    }
}

impl Trace {
    /// The rule's equations as the code computes them, one for each letter of the state that has a part in x:
    /// `x⁺ = R(x − ηv)`.
    ///
    /// A letter stands for the vectors of all agents, stacked. g is a gradient; ⁺ marks the next round, and ′
    /// what is between two exchanges of one. Where a round has several exchanges, a line says which the
    /// equations below it belong to.
    ///
    /// ```
    /// use oneway::{method::Method, methods::Smtpp};
    /// let trace = Smtpp::new(0.1).unwrap().trace().unwrap();
    /// assert_eq!(
    ///     trace.equations(),
    ///     ["x⁺ = R(x − ηv)", "v⁺ = Cv + m⁺ − m", "m⁺ = (1 − λ)m + λg⁺", "g⁺ = ∇F(x⁺; ξ⁺)"]
    /// );
    /// assert_eq!(trace.start_equations(), ["v₀ = m₀ = 0"]);
    /// ```
    pub fn equations(&self) -> Vec<String> {
        let all: Vec<Vec<Line>> = (0..self.exchanges.len()).map(|phase| self.lines(phase)).collect();
        let live = self.live(&all);
        let mut text = vec![];
        for (phase, lines) in all.iter().enumerate() {
            if all.len() > 1 {
                text.push(match ["first", "second", "third"].get(phase) {
                    Some(ordinal) => format!("{ordinal} exchange:"),
                    None => format!("exchange {}:", phase + 1),
                });
            }
            let shown = |line: &&Line| match line.state {
                Some(i) => live[i],
                None => lines.iter().any(|other| {
                    let uses = |letter: &str| other.times(letter) > 0;
                    let wanted = uses(&line.left) || (line.left == "g⁺" && uses("g"));
                    wanted && other.state.is_none_or(|i| live[i])
                }),
            };
            text.extend(lines.iter().filter(shown).map(Line::text));
        }
        text
    }

    /// Where the rule starts: `v₀ = m₀ = 0`. Letters without a part in x are left out, and so is x₀, which
    /// the problem gives.
    pub fn start_equations(&self) -> Vec<String> {
        let all: Vec<Vec<Line>> = (0..self.exchanges.len()).map(|phase| self.lines(phase)).collect();
        let live = self.live(&all);
        let gradients = Gradients::new(self.start_ask, "x₀", "x₀", "₀");
        let formulas = Formulas::new(&self.start, |i| match i.checked_sub(COMMON_INPUTS) {
            None => self.common(i),
            Some(0) => Formula::letter("x₀"),
            Some(1) => Formula::letter(&gradients.next),
            Some(_) => Formula::letter(&gradients.other),
        });
        let first = |i: usize| match self.letter(i).strip_suffix('⁻') {
            Some(letter) => format!("{letter}₋₁"),
            None => format!("{}₀", self.letter(i)),
        };
        let mut groups: Vec<(Vec<String>, &Formula)> = vec![];
        let shown = |i: &usize| live[*i] && !self.letter(*i).is_empty() && self.gradient_kept() != Some(*i);
        for i in (0..self.names.len()).filter(shown) {
            let formula = formulas.result(i);
            if formula.as_letter() == Some(&first(i)) {
                continue;
            }
            match groups.iter_mut().find(|(_, known)| *known == formula) {
                Some((letters, _)) => letters.push(first(i)),
                None => groups.push((vec![first(i)], formula)),
            }
        }
        let mut text: Vec<String> = groups
            .iter()
            .map(|(letters, formula)| format!("{} = {}", letters.join(" = "), gradients.text(formula)))
            .collect();
        let uses_gradient =
            text.iter().any(|line| line.contains(&gradients.next)) || self.gradient_kept().is_some();
        text.extend(gradients.line().filter(|_| uses_gradient).map(|line| line.text()));
        match self.carries {
            Carries::Nothing => {}
            Carries::Weight => text.push("w₀ = 1".to_owned()),
            Carries::Eigenvector => text.push("y₀ = I".to_owned()),
        }
        text
    }

    /// The vector of the state that keeps the newest gradient as it is, if there is one: it is printed as g.
    fn gradient_kept(&self) -> Option<usize> {
        let [exchange] = &self.exchanges[..] else { return None };
        let one = self.start_ask == Ask::ONE && matches!(exchange.ask, Ask::ONE | Ask::BothPoints);
        let g = self.inputs_before_gradients();
        let kept = |i: &usize| {
            exchange.update.input_at(exchange.update.results[*i]) == Some(g)
                && self.start.input_at(self.start.results[*i]) == Some(COMMON_INPUTS + 1)
                && !self.names[*i].is_empty()
        };
        (0..self.names.len()).filter(|_| one).find(kept)
    }

    fn inputs_before_gradients(&self) -> usize {
        COMMON_INPUTS + self.names.len() + self.sends[0] + self.sends[1]
    }

    fn letter(&self, i: usize) -> &str {
        if self.gradient_kept() == Some(i) { "g" } else { self.names[i] }
    }

    fn changes(&self, phase: usize, i: usize) -> bool {
        let update = &self.exchanges[phase].update;
        update.input_at(update.results[i]) != Some(COMMON_INPUTS + i)
    }

    /// Vector i of the state after some exchanges of a round.
    fn name(&self, i: usize, exchanges: usize) -> String {
        let count = |phases: std::ops::Range<usize>| phases.filter(|phase| self.changes(*phase, i)).count();
        let (done, all) = (count(0..exchanges), count(0..self.exchanges.len()));
        let letter = match self.letter(i) {
            "" => format!("#{i}"), // is never printed
            letter => letter.to_owned(),
        };
        match done {
            0 => letter,
            done if done == all => letter + "⁺",
            done => letter + &"′".repeat(done),
        }
    }

    /// The inputs that all programs begin with.
    fn common(&self, i: usize) -> Formula {
        match (i, self.carries) {
            (0, _) => Formula::scalar("η"),
            (1, Carries::Eigenvector) => Formula::letter("[y⁺]_i"),
            (1, _) => Formula::letter("w⁺"),
            (2, _) => Formula::letter("C_ii"),
            _ => {
                let names: Vec<&str> = self.start.inputs().collect();
                Formula::scalar(names[i])
            }
        }
    }

    /// Which vectors have a part in x, the first of the state.
    fn live(&self, all: &[Vec<Line>]) -> Vec<bool> {
        let mut live: Vec<bool> = (0..self.names.len()).map(|i| i == 0).collect();
        loop {
            let lines = all.iter().flatten().filter(|line| line.state.is_none_or(|i| live[i]));
            let used: HashSet<&String> = lines.flat_map(|line| &line.uses).collect();
            let next: Vec<bool> = (0..live.len())
                .map(|i| live[i] || (0..=all.len()).any(|exchanges| used.contains(&self.name(i, exchanges))))
                .collect();
            if next == live {
                return live;
            }
            live = next;
        }
    }

    /// Which vectors are used in a later round: the others are kept for no equation, and need no name in one.
    fn remembered(&self) -> Vec<bool> {
        let mut used = HashSet::new();
        for phase in 0..self.exchanges.len() {
            let sent = self.sent(phase);
            let update = &self.exchanges[phase].update;
            let updated = Formulas::new(update, |i| self.heard(phase, &sent, i));
            for i in (0..self.names.len()).filter(|i| self.changes(phase, *i)) {
                updated.result(i).each_letter(&mut |letter| {
                    used.insert(letter.to_owned());
                });
            }
        }
        (0..self.names.len()).map(|i| used.contains(&self.name(i, 0))).collect()
    }

    /// What is sent in an exchange.
    fn sent(&self, phase: usize) -> Formulas<'_> {
        Formulas::new(&self.exchanges[phase].send, |i| self.heard_or_kept(phase, None, i))
    }

    /// Input i of an exchange before the gradients are known: they are 0.
    fn heard(&self, phase: usize, sent: &Formulas<'_>, i: usize) -> Formula {
        self.heard_or_kept(phase, Some(sent), i)
    }

    fn heard_or_kept(&self, phase: usize, sent: Option<&Formulas<'_>>, i: usize) -> Formula {
        match (i.checked_sub(COMMON_INPUTS), self.message(i), sent) {
            (None, ..) => self.common(i),
            (_, Some(p), Some(sent)) => sent.result(p).clone().mixed(self.matrix(p)),
            (Some(i), ..) if i < self.names.len() => Formula::letter(self.name(i, phase)),
            _ => Formula::default(),
        }
    }

    /// Which of the numbers that are sent an input is.
    fn message(&self, input: usize) -> Option<usize> {
        input.checked_sub(COMMON_INPUTS + self.names.len()).filter(|p| *p < self.sends[0] + self.sends[1])
    }

    /// The matrix that mixes the p-th number that is sent.
    fn matrix(&self, p: usize) -> &'static str {
        let [pull, push] = match self.network {
            Network::PushPull => ["R", "C"],
            Network::PushSum => ["", "C"],
            Network::PullOnly => ["R", ""],
            Network::Balanced | Network::Undirected => ["W", "W"],
            Network::Central => ["", MEAN],
        };
        if p < self.sends[0] { pull } else { push }
    }

    /// The gradients after an exchange, taken at a letter of the state where one has the point's formula.
    fn gradients(&self, phase: usize, sent: &Formulas<'_>) -> Gradients {
        let TracedExchange { points, update, ask, .. } = &self.exchanges[phase];
        let [points, updated] =
            [points, update].map(|program| Formulas::new(program, |i| self.heard(phase, sent, i)));
        let place = (0..self.names.len())
            .find(|i| !self.names[*i].is_empty() && updated.result(*i) == points.result(0))
            .map_or_else(|| points.result(0).text(), |i| self.name(i, phase + 1));
        Gradients::new(*ask, &place, &points.result(1).text(), "⁺")
    }

    /// The equations of one exchange, for all letters. What is sent has a letter of its own where the update
    /// uses it again.
    fn lines(&self, phase: usize) -> Vec<Line> {
        let with_letter = self.lines_with(phase, true);
        let uses = with_letter.iter().map(|line| line.times(self.letter_for_sent())).sum::<usize>();
        if uses > 1 { with_letter } else { self.lines_with(phase, false) }
    }

    /// The first letter for what is sent that the state does not have.
    fn letter_for_sent(&self) -> &'static str {
        SENT.into_iter().find(|letter| !self.names.contains(letter)).unwrap_or("s̃")
    }

    fn lines_with(&self, phase: usize, letter_for_sent: bool) -> Vec<Line> {
        let TracedExchange { update, ask, .. } = &self.exchanges[phase];
        let (sent, remembered) = (self.sent(phase), self.remembered());
        let gradients = self.gradients(phase, &sent);
        let updated = Formulas::new(update, |i| match i.checked_sub(self.inputs_before_gradients()) {
            None => self.heard(phase, &sent, i),
            Some(0) => Formula::letter(&gradients.next),
            Some(_) => Formula::letter(&gradients.other),
        });
        let next = |i: usize| self.name(i, phase + 1);
        let shown = |i: &usize| {
            self.changes(phase, *i) && !self.names[*i].is_empty() && self.gradient_kept() != Some(*i)
        };
        let vectors = || (0..self.names.len()).filter(shown);

        let mut names: Vec<(&Formula, String)> = vec![];
        for i in vectors().filter(|i| remembered[*i]) {
            let formula = updated.result(i);
            if !formula.is_atom() && names.iter().all(|(known, _)| *known != formula) {
                names.push((formula, next(i)));
            }
        }
        let again = (0..self.exchanges[phase].send.results.len())
            .filter_map(|p| sent.result(p).sum_within())
            .find(|sum| letter_for_sent && updated.steps().contains(sum));
        if let Some(sum) = &again {
            names.push((sum, self.letter_for_sent().to_owned()));
        }
        let known = |formula: &Formula| {
            let found = names.iter().find(|(known, _)| *known == formula);
            found.map(|(_, letter)| Formula::letter(letter))
        };
        let words = |part: Part<'_>| match part {
            Part::Step(formula) => known(formula),
            Part::Input(i) => {
                let p = self.message(i)?;
                let formula = known(sent.result(p)).unwrap_or_else(|| {
                    sent.named(p, &|part| match part {
                        Part::Step(formula) => known(formula),
                        Part::Input(_) => None,
                    })
                });
                Some(formula.mixed(self.matrix(p)))
            }
        };

        let mut lines: Vec<Line> = vec![];
        lines.extend(
            again.iter().map(|sum| Line::new(None, self.letter_for_sent().to_owned(), sum, sum.text())),
        );
        for i in vectors() {
            let whole = updated.result(i);
            if self.names[i].strip_suffix('⁻').is_some_and(|letter| whole.as_letter() == Some(letter)) {
                continue; // x⁻ is the last x by its name
            }
            let formula = known(whole).filter(|letter| letter.as_letter() != Some(&next(i)));
            let formula = formula.unwrap_or_else(|| updated.named(i, &words));
            lines.push(Line::new(Some(i), next(i), &formula, gradients.text(&formula)));
        }
        let carried = |left: &str, right: &str| {
            Line::new(Some(0), left.to_owned(), &Formula::default(), right.to_owned())
        };
        match self.carries {
            Carries::Nothing => {}
            Carries::Weight => lines.push(carried("w⁺", "Cw")),
            Carries::Eigenvector => lines.push(carried("y⁺", "Ry")),
        }
        lines.extend(gradients.line().filter(|_| *ask != Ask::Nothing));
        lines
    }
}
