//! Formulas as a reader writes them: sums of products, simplified where that changes nothing but the look.

/// A sum of terms; the empty sum is 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Formula(Vec<Term>);

/// A number times some factors; the empty product is 1.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    coefficient: f64,
    factors: Vec<Factor>,
}

#[derive(Debug, Clone, PartialEq)]
enum Factor {
    /// The same number for all agents and coordinates: η, λ.
    Scalar(String),
    /// A number of each agent: x, v.
    Letter(String),
    /// A sum in brackets.
    Group(Formula),
    /// a/b.
    Quotient(Formula, Formula),
    /// √a.
    Root(Formula),
    /// |a|.
    Size(Formula),
    /// max(a, b), min(a, b), sign(a).
    Named(&'static str, Vec<Formula>),
    /// b where a > 0, else c.
    Choice(Box<[Formula; 3]>),
    /// A mixing matrix times the numbers of all agents.
    Mixed(&'static str, Formula),
}

/// What stands for the mean of all agents where a matrix is named.
pub(crate) const MEAN: &str = "mean";

impl Factor {
    fn is_scalar(&self) -> bool {
        match self {
            Factor::Scalar(_) => true,
            Factor::Group(sum) => sum.is_scalar(),
            Factor::Quotient(a, b) => a.is_scalar() && b.is_scalar(),
            Factor::Root(a) | Factor::Size(a) => a.is_scalar(),
            Factor::Named(_, parts) => parts.iter().all(Formula::is_scalar),
            Factor::Choice(parts) => parts.iter().all(Formula::is_scalar),
            Factor::Letter(_) | Factor::Mixed(..) => false,
        }
    }
}

impl From<Factor> for Formula {
    fn from(factor: Factor) -> Self {
        Self(vec![Term { coefficient: 1.0, factors: vec![factor] }])
    }
}

impl Formula {
    /// A number of each agent.
    pub(crate) fn letter(name: impl Into<String>) -> Self {
        Factor::Letter(name.into()).into()
    }

    /// A number that is the same for all agents.
    pub(crate) fn scalar(name: impl Into<String>) -> Self {
        Factor::Scalar(name.into()).into()
    }

    pub(super) fn number(value: f64) -> Self {
        match value == 0.0 {
            true => Self::default(),
            false => Self(vec![Term { coefficient: value, factors: vec![] }]),
        }
    }

    /// A matrix times this formula: numbers that are the same for all agents stand before it, M(ηv) = ηMv.
    pub(crate) fn mixed(self, matrix: &'static str) -> Self {
        match &self.0[..] {
            [] => Self::default(),
            [term] => {
                let (mut factors, rest): (Vec<_>, Vec<_>) =
                    term.factors.iter().cloned().partition(Factor::is_scalar);
                let inner = Self(vec![Term { coefficient: 1.0, factors: rest }]).ungrouped();
                factors.push(Factor::Mixed(matrix, inner));
                Self(vec![Term { coefficient: term.coefficient, factors }])
            }
            _ => Factor::Mixed(matrix, self).into(),
        }
    }

    /// The sum itself, where it is nothing but a sum in brackets.
    fn ungrouped(self) -> Self {
        match &self.0[..] {
            [Term { coefficient: 1.0, factors }] => match &factors[..] {
                [Factor::Group(sum)] => sum.clone(),
                _ => self,
            },
            _ => self,
        }
    }

    /// What is left of a product without the factors that are the same for all agents, if it is a sum.
    pub(crate) fn sum_within(&self) -> Option<Formula> {
        match &self.0[..] {
            [] => None,
            [term] => {
                let mut rest = term.factors.iter().filter(|factor| !factor.is_scalar());
                match (rest.next(), rest.next()) {
                    (Some(Factor::Group(sum)), None) => Some(sum.clone()),
                    _ => None,
                }
            }
            _ => Some(self.clone()),
        }
    }

    fn is_scalar(&self) -> bool {
        self.0.iter().all(|term| term.factors.iter().all(Factor::is_scalar))
    }

    fn as_number(&self) -> Option<f64> {
        match &self.0[..] {
            [] => Some(0.0),
            [Term { coefficient, factors }] if factors.is_empty() => Some(*coefficient),
            _ => None,
        }
    }

    /// Whether it is a letter or a number, which no name would make shorter.
    pub(crate) fn is_atom(&self) -> bool {
        self.as_number().is_some() || self.as_letter().is_some()
    }

    /// The letter that it is, if it is one.
    pub(crate) fn as_letter(&self) -> Option<&str> {
        match &self.0[..] {
            [Term { coefficient: 1.0, factors }] => match &factors[..] {
                [Factor::Letter(name) | Factor::Scalar(name)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many letters and numbers it has, about.
    pub(super) fn length(&self) -> usize {
        let of = |factor: &Factor| match factor {
            Factor::Scalar(_) | Factor::Letter(_) => 1,
            Factor::Group(a) | Factor::Root(a) | Factor::Size(a) | Factor::Mixed(_, a) => a.length(),
            Factor::Quotient(a, b) => a.length() + b.length(),
            Factor::Named(_, parts) => parts.iter().map(Formula::length).sum(),
            Factor::Choice(parts) => parts.iter().map(Formula::length).sum(),
        };
        self.0.iter().map(|term| term.factors.iter().map(of).sum::<usize>().max(1)).sum()
    }

    /// Calls `look` with every letter in it.
    pub(crate) fn each_letter(&self, look: &mut impl FnMut(&str)) {
        for factor in self.0.iter().flat_map(|term| &term.factors) {
            match factor {
                Factor::Scalar(name) | Factor::Letter(name) => look(name),
                Factor::Group(a) | Factor::Root(a) | Factor::Size(a) | Factor::Mixed(_, a) => {
                    a.each_letter(look);
                }
                Factor::Named(_, parts) => parts.iter().for_each(|part| part.each_letter(look)),
                Factor::Choice(parts) => parts.iter().for_each(|part| part.each_letter(look)),
                Factor::Quotient(a, b) => [a, b].into_iter().for_each(|part| part.each_letter(look)),
            }
        }
    }

    pub(super) fn scaled(mut self, by: f64) -> Self {
        self.0.iter_mut().for_each(|term| term.coefficient *= by);
        self
    }

    /// a + b: terms with the same factors become one, where the first of them stands.
    pub(super) fn plus(mut self, other: Self) -> Self {
        for term in other.0 {
            match self.0.iter_mut().find(|known| known.factors == term.factors) {
                Some(known) => known.coefficient += term.coefficient,
                None => self.0.push(term),
            }
        }
        self.0.retain(|term| term.coefficient != 0.0);
        self
    }

    /// √self.
    pub(super) fn root(self) -> Self {
        Factor::Root(self).into()
    }

    /// `then` where it is positive, else `otherwise`: as |a|, max, min or sign where it is one of these. By a number that is the same
    /// for all agents, such as η, it is what holds in every round that takes a step.
    pub(super) fn chooses(self, then: Self, otherwise: Self) -> Self {
        let (difference, reverse) = (
            then.clone().plus(otherwise.clone().scaled(-1.0)),
            otherwise.clone().plus(then.clone().scaled(-1.0)),
        );
        let minus = self.clone().scaled(-1.0);
        let below = Factor::Choice(Box::new([minus.clone(), Self::number(-1.0), self.clone()])).into();
        match () {
            () if self.is_scalar() => then,
            () if self == then && otherwise == minus => Factor::Size(self).into(),
            () if self == difference => Factor::Named("max", vec![then, otherwise]).into(),
            () if self == reverse => Factor::Named("min", vec![then, otherwise]).into(),
            () if then.as_number() == Some(1.0) && otherwise == below => {
                Factor::Named("sign", vec![self]).into()
            }
            () => Factor::Choice(Box::new([self, then, otherwise])).into(),
        }
    }

    /// Itself as one term: a sum of several goes into brackets.
    fn into_term(self) -> Term {
        match self.0.len() {
            1 => self.0.into_iter().next().unwrap_or(Term { coefficient: 0.0, factors: vec![] }),
            _ => Term { coefficient: 1.0, factors: vec![Factor::Group(self)] },
        }
    }

    /// ab: numbers first, then what is the same for all agents, then the rest. A quotient takes what stands before it into its
    /// numerator.
    pub(super) fn times(self, other: Self) -> Self {
        match (self.as_number(), other.as_number()) {
            (Some(0.0), _) | (_, Some(0.0)) => return Self::default(),
            (Some(by), _) if by.abs() == 1.0 => return other.scaled(by),
            (_, Some(by)) if by.abs() == 1.0 => return self.scaled(by),
            _ => {}
        }
        let (a, b) = (self.into_term(), other.into_term());
        let (mut factors, rest): (Vec<_>, Vec<_>) =
            a.factors.into_iter().chain(b.factors).partition(Factor::is_scalar);
        factors.extend(rest);
        let coefficient = a.coefficient * b.coefficient;
        if let Some(Factor::Quotient(top, bottom)) = factors.last().cloned() {
            factors.pop();
            let before = Self(vec![Term { coefficient, factors }]);
            return Factor::Quotient(before.times(top), bottom).into();
        }
        Self(vec![Term { coefficient, factors }])
    }

    pub(super) fn over(self, other: Self) -> Self {
        match other.as_number() {
            _ if self.0.is_empty() => self,
            Some(by) => self.scaled(1.0 / by),
            None => Factor::Quotient(self, other).into(),
        }
    }

    /// Terms that begin with the same factors, side by side, become one: κa − κb = κ(a − b).
    fn collected(&self) -> Vec<Term> {
        let mut terms: Vec<Term> = vec![];
        let mut at = 0;
        while let Some(first) = self.0.get(at) {
            let split =
                |term: &Term| term.factors.split_last().map(|(last, before)| (last.clone(), before.to_vec()));
            let alike = |term: &&Term| match (split(first), split(term)) {
                (Some((_, ours)), Some((_, theirs))) => {
                    let shared = first.coefficient.abs() != 1.0 || !ours.is_empty();
                    shared && ours == theirs && first.coefficient.abs() == term.coefficient.abs()
                }
                _ => false,
            };
            let count = self.0[at..].iter().take_while(alike).count();
            match split(first) {
                Some((_, mut factors)) if count > 1 => {
                    let inner = self.0[at..at + count].iter().filter_map(|term| {
                        let sign = term.coefficient.signum() * first.coefficient.signum();
                        Some(Term { coefficient: sign, factors: vec![split(term)?.0] })
                    });
                    factors.push(Factor::Group(Formula(inner.collect())));
                    terms.push(Term { coefficient: first.coefficient, factors });
                }
                _ => terms.push(first.clone()),
            }
            at += count.max(1);
        }
        terms
    }

    /// It in print.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (at, term) in self.collected().iter().enumerate() {
            text += match (at, term.coefficient < 0.0) {
                (0, true) => "−",
                (0, false) => "",
                (_, true) => " − ",
                (_, false) => " + ",
            };
            text += &term.text();
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    /// It as a factor, or above or below a line: in brackets unless it is by itself.
    fn bound(&self, as_product: bool) -> String {
        let terms = self.collected();
        match &terms[..] {
            [Term { coefficient, factors }] if *coefficient > 0.0 => {
                let one = factors.len() + usize::from(*coefficient != 1.0) <= 1;
                let quotient = matches!(factors[..], [Factor::Quotient(..)]);
                let free = (one || as_product) && !quotient;
                if free { self.text() } else { format!("({})", self.text()) }
            }
            [] => "0".to_owned(),
            _ => format!("({})", self.text()),
        }
    }
}

impl Term {
    /// It in print, without its sign.
    fn text(&self) -> String {
        let mut text = match self.coefficient.abs() {
            1.0 if !self.factors.is_empty() => String::new(),
            size => number(size),
        };
        let mut at = 0;
        while let Some(factor) = self.factors.get(at) {
            let times = self.factors[at..].iter().take_while(|other| *other == factor).count();
            let alone = self.factors.len() == times && text.is_empty();
            let power = match times {
                1 => "",
                2 => "²",
                _ => "³", // no rule has more
            };
            let next = factor.text(alone && times == 1) + power;
            let named = text.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').any(|c| c == '_');
            let digit = next.starts_with(|c: char| c.is_ascii_digit());
            let word = matches!(factor, Factor::Named(..)) && !text.is_empty();
            text += if (named && next.starts_with(char::is_alphabetic)) || digit || word { "·" } else { "" };
            text += &next;
            at += times.min(3);
        }
        text
    }
}

impl Factor {
    /// It in print; `alone` says that nothing is before or behind it.
    fn text(&self, alone: bool) -> String {
        match self {
            Factor::Scalar(name) | Factor::Letter(name) if name.contains(" − ") => format!("({name})"),
            Factor::Scalar(name) | Factor::Letter(name) => name.clone(),
            Factor::Group(sum) => format!("({})", sum.text()),
            Factor::Quotient(a, b) if alone => format!("{}/{}", a.bound(true), b.bound(false)),
            Factor::Quotient(a, b) => format!("({}/{})", a.bound(true), b.bound(false)),
            Factor::Root(a) => format!("√{}", a.bound(false)),
            Factor::Size(a) => format!("|{}|", a.text()),
            Factor::Named(name, parts) => {
                let parts: Vec<String> = parts.iter().map(Formula::text).collect();
                format!("{name}({})", parts.join(", "))
            }
            Factor::Choice(parts) => {
                let [by, then, otherwise] = parts.each_ref().map(Formula::text);
                format!("({then} if {by} > 0 else {otherwise})")
            }
            Factor::Mixed(MEAN, a) => match a.as_letter() {
                Some(name) => format!("{name}\u{304}"),
                None => format!("{MEAN}({})", a.text()),
            },
            Factor::Mixed(matrix, a) => match a.as_letter() {
                Some(name) => format!("{matrix}{name}"),
                None => format!("{matrix}({})", a.text()),
            },
        }
    }
}

/// A number as papers write it.
fn number(value: f64) -> String {
    match value {
        0.5 => "½".to_owned(),
        0.25 => "¼".to_owned(),
        value => value.to_string(),
    }
}
