//! The laws of continuous games, on a game of one player who walks three steps of chosen lengths.

use rand::RngExt;

use crate::laws::{self, Law, Plan};
use crate::{Continuous, Family, Notation, Parameter, Position, Rng, Role, Shape};

/// What is wrong with a walk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Defect {
    None,
    ListedMoveHasNoFamily,
    FamiliesAtTheEnd,
    TwoFamiliesOfOneText,
    MembersOutsideOfTheInterval,
    MembersAreNotLegal,
    CoordinatesAreRounded,
    TextsAreRounded,
    DrawsOutsideOfTheInterval,
}

#[derive(Clone)]
struct Walk {
    defect: Defect,
    shape: Shape,
    /// The lengths of the steps so far.
    steps: Vec<Step>,
    legal: Vec<Step>,
    families: Vec<Family>,
}

/// A step of some length between 0 and 1, kept as its bits so that steps can be compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Step(u64);

impl Step {
    fn new(length: f64) -> Step {
        Step(length.to_bits())
    }

    fn length(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl Walk {
    fn new(defect: Defect) -> Walk {
        let mut shape = Shape::new(vec!["walker".to_owned()], None);
        shape.continuous = true;
        let mut walk =
            Walk { defect, shape, steps: Vec::new(), legal: Vec::new(), families: Vec::new() };
        walk.enter();
        walk
    }

    /// Computes the moves here.
    fn enter(&mut self) {
        let is_over = self.steps.len() == 3;
        self.legal = if is_over { Vec::new() } else { [0.0, 0.5, 1.0].map(Step::new).to_vec() };
        let length = Parameter { name: "x".to_owned(), low: 0.0, high: 1.0 };
        let family = Family { text: "(step)".to_owned(), parameters: vec![length] };
        let n_families = match self.defect {
            Defect::FamiliesAtTheEnd => 1,
            Defect::TwoFamiliesOfOneText if !is_over => 2,
            _ => usize::from(!is_over),
        };
        self.families = vec![family; n_families];
    }
}

impl Position for Walk {
    type Move = Step;
    type State = Vec<Step>;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.steps.len() == 3
    }

    fn legal_moves(&self, _role: Role) -> &[Step] {
        &self.legal
    }

    fn payoff(&self, _player: Role) -> f64 {
        self.steps.iter().map(|step| step.length()).sum()
    }

    fn advance(&mut self, joint: &[Step]) {
        self.steps.push(joint[0]);
        self.enter();
    }

    fn state(&self) -> &Vec<Step> {
        &self.steps
    }

    fn go_to(&mut self, state: &Vec<Step>) {
        self.steps.clone_from(state);
        self.enter();
    }

    fn key(&self) -> u64 {
        self.steps.iter().fold(1, |key, step| key * 31 + (step.0 >> 20))
    }

    fn is_legal(&self, _role: Role, candidate: &Step) -> bool {
        let is_listed = self.legal.contains(candidate);
        let fits = !self.is_terminal() && (0.0..=1.0).contains(&candidate.length());
        is_listed || (fits && self.defect != Defect::MembersAreNotLegal)
    }

    fn draw(&self, rng: &mut Rng, joint: &mut Vec<Step>) {
        joint.clear();
        let beyond = if self.defect == Defect::DrawsOutsideOfTheInterval { 1.5 } else { 0.0 };
        let length: f64 = rng.random();
        // Where only listed moves are legal, only those are drawn.
        let is_sampled = self.defect == Defect::MembersAreNotLegal;
        joint.push(if is_sampled { self.legal[1] } else { Step::new(length + beyond) });
    }
}

impl Notation for Walk {
    fn move_text(&self, m: &Step) -> String {
        match self.defect {
            Defect::TextsAreRounded => format!("(step (x {:.1}))", m.length()),
            _ => format!("(step (x {}))", m.length()),
        }
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Step> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ").to_lowercase();
        let length = text.strip_prefix("(step (x ")?.strip_suffix("))")?.parse().ok()?;
        let step = Step::new(length);
        self.is_legal(role, &step).then_some(step)
    }

    fn state_text(&self) -> Vec<String> {
        let steps = self.steps.iter().enumerate();
        steps.map(|(n, step)| format!("(went {n} {})", step.length())).collect()
    }
}

impl Continuous for Walk {
    fn families(&self, _role: Role) -> &[Family] {
        &self.families
    }

    fn member(&self, _role: Role, family: usize, parameters: &[f64]) -> Option<Step> {
        let [length] = parameters else { return None };
        let fits = family < self.families.len() && (0.0..=1.0).contains(length);
        (fits || self.defect == Defect::MembersOutsideOfTheInterval).then(|| Step::new(*length))
    }

    fn coordinates(&self, _role: Role, m: &Step) -> Option<(usize, Vec<f64>)> {
        let length = match self.defect {
            Defect::CoordinatesAreRounded => (m.length() * 2.0).round() / 2.0,
            Defect::ListedMoveHasNoFamily => return None,
            _ => m.length(),
        };
        Some((0, vec![length]))
    }
}

#[test]
fn a_walk_keeps_the_laws() {
    let summary = laws::check_continuous(&Walk::new(Defect::None), &Plan::default());
    let summary = summary.unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!((summary.finished, summary.steps), (10, 30));
}

#[test]
fn broken_laws_of_continuous_games_are_found() {
    for (defect, law) in [
        (Defect::ListedMoveHasNoFamily, Law::Families),
        (Defect::FamiliesAtTheEnd, Law::Families),
        (Defect::TwoFamiliesOfOneText, Law::Families),
        (Defect::MembersOutsideOfTheInterval, Law::Members),
        (Defect::MembersAreNotLegal, Law::Members),
        (Defect::CoordinatesAreRounded, Law::Members),
        (Defect::TextsAreRounded, Law::Notation),
        (Defect::DrawsOutsideOfTheInterval, Law::Provided),
    ] {
        let found = laws::check_continuous(&Walk::new(defect), &Plan::default());
        let violation = found.expect_err(&format!("{defect:?} breaks a law"));
        assert_eq!(violation.law, law, "{defect:?}: {violation}");
    }
}

#[test]
fn mistakes_in_numbers_are_named() {
    let interval = |name: &str, low: f64| Parameter { name: name.to_owned(), low, high: 1.0 };
    let family = Family {
        text: "(Chase 2)".to_owned(),
        parameters: vec![interval("t", 0.5), interval("px", -1.0)],
    };
    for (text, mistake) in [
        ("(Chase 2 (t 0.5) (px 1))", None),
        ("(chase 2 (px 1) (T 0.5))", None),
        ("(Run 2 (t 0.5) (px 7))", None),
        ("Chase", None),
        ("(Chase 2 (t 0.5) (px 7))", Some("px = 7 does not lie from -1 to 1")),
        ("(Chase 2 (t 0) (px 1))", Some("t = 0 does not lie from 0.5 to 1")),
        ("(Chase 2 (t 0.5))", Some("`px` is missing; it lies from -1 to 1")),
        ("(Chase 2)", Some("`t` is missing; it lies from 0.5 to 1")),
        ("(Chase 2 (t 0.5) (px 1) (pz 0))", Some("it has no parameter `pz`")),
        ("(Chase 2 (t 0.5) (px 1) (px 1))", Some("`px` is given twice")),
        ("(Chase 2 (t 2/3) (px 1))", Some("`2/3` is not a decimal number; `t` lies from 0.5 to 1")),
        ("(Chase 2 (t NaN) (px 1))", Some("`nan` is not a decimal number; `t` lies from 0.5 to 1")),
    ] {
        assert_eq!(family.mistake(text).as_deref(), mistake, "{text}");
        assert_eq!(family.contains(text), mistake.is_none() && text.contains("hase 2"), "{text}");
    }
}
