//! Small games with real parameters for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_game::{Continuous, Family, Notation, Parameter, Position, Role, Shape};

/// The rules of a small game. States are lists of numbers; the first one counts the steps.
pub(super) trait Rules: Send + Sync {
    /// Returns the shape.
    fn shape(&self) -> Shape;
    /// Returns the families of a role: the interval of each parameter.
    fn families(&self, state: &[f64], role: usize) -> Vec<Vec<(f64, f64)>>;
    /// Returns the next state.
    fn next(&self, state: &[f64], joint: &[Move]) -> Vec<f64>;
    /// Returns whether play has ended.
    fn is_terminal(&self, state: &[f64]) -> bool;
    /// Returns the payoff of a role.
    fn payoff(&self, state: &[f64], role: usize) -> f64;
    /// Returns how far the state is from what the rules ask for.
    fn margins(&self, _: &[f64]) -> Vec<f64> {
        Vec::new()
    }
}

/// A move: the family and the bits of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub(super) family: usize,
    bits: Vec<u64>,
}

impl Move {
    pub(super) fn new(family: usize, values: &[f64]) -> Move {
        Move { family, bits: values.iter().map(|value| value.to_bits()).collect() }
    }

    pub(super) fn value(&self, parameter: usize) -> f64 {
        f64::from_bits(self.bits[parameter])
    }
}

/// A small game that is being played.
#[derive(Clone)]
pub(super) struct Toy {
    rules: Arc<dyn Rules>,
    shape: Shape,
    state: Arc<Vec<f64>>,
    families: Vec<Vec<Family>>,
    listed: Vec<Vec<Move>>,
    /// Number of steps that this position and its clones have made.
    pub(super) n_steps: Arc<AtomicU64>,
}

impl Toy {
    pub(super) fn new(rules: impl Rules + 'static, start: &[f64]) -> Toy {
        let rules: Arc<dyn Rules> = Arc::new(rules);
        let mut toy = Toy {
            shape: rules.shape(),
            rules,
            state: Arc::new(start.to_vec()),
            families: Vec::new(),
            listed: Vec::new(),
            n_steps: Arc::default(),
        };
        toy.update();
        toy
    }

    fn update(&mut self) {
        self.families.clear();
        self.listed.clear();
        for role in 0..self.shape.role_names.len() {
            let intervals = if self.is_terminal() {
                Vec::new()
            } else {
                self.rules.families(&self.state, role)
            };
            let family = |(index, all): (usize, &Vec<(f64, f64)>)| Family {
                text: format!("f{index}"),
                parameters: all
                    .iter()
                    .enumerate()
                    .map(|(i, &(low, high))| Parameter { name: format!("p{i}"), low, high })
                    .collect(),
            };
            let families: Vec<Family> = intervals.iter().enumerate().map(family).collect();
            let mut listed = Vec::new();
            for (index, family) in families.iter().enumerate() {
                let shares: &[f64] =
                    if family.parameters.is_empty() { &[0.0] } else { &[0.0, 0.5, 1.0] };
                for &share in shares {
                    let values: Vec<f64> =
                        family.parameters.iter().map(|p| p.at_share(share)).collect();
                    listed.push(Move::new(index, &values));
                }
            }
            self.families.push(families);
            self.listed.push(listed);
        }
    }
}

impl Position for Toy {
    type Move = Move;
    type State = Arc<Vec<f64>>;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.rules.is_terminal(&self.state)
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.listed[role.index()]
    }

    fn is_legal(&self, role: Role, m: &Move) -> bool {
        let values: Vec<f64> = (0..m.bits.len()).map(|i| m.value(i)).collect();
        self.member(role, m.family, &values).is_some()
    }

    fn payoff(&self, player: Role) -> f64 {
        self.rules.payoff(&self.state, player.index())
    }

    fn advance(&mut self, joint: &[Move]) {
        for (role, m) in self.shape.roles().zip(joint) {
            assert!(self.is_legal(role, m), "{m:?} is not a legal move of {role:?}");
        }
        self.n_steps.fetch_add(1, Ordering::Relaxed);
        self.state = Arc::new(self.rules.next(&self.state, joint));
        self.update();
    }

    fn state(&self) -> &Arc<Vec<f64>> {
        &self.state
    }

    fn go_to(&mut self, state: &Arc<Vec<f64>>) {
        self.state = Arc::clone(state);
        self.update();
    }

    fn key(&self) -> u64 {
        self.state.iter().fold(1, |key, value| crate::hash::fold(key, value.to_bits()))
    }
}

impl Notation for Toy {
    fn move_text(&self, m: &Move) -> String {
        let values: Vec<String> = (0..m.bits.len()).map(|i| m.value(i).to_string()).collect();
        format!("f{} {}", m.family, values.join(" "))
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Move> {
        let mut words = text.split_whitespace();
        let family = words.next()?.strip_prefix('f')?.parse().ok()?;
        let values: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        self.member(role, family, &values?)
    }

    fn state_text(&self) -> Vec<String> {
        vec![format!("{:?}", self.state)]
    }
}

impl Continuous for Toy {
    fn families(&self, role: Role) -> &[Family] {
        &self.families[role.index()]
    }

    fn member(&self, role: Role, family: usize, parameters: &[f64]) -> Option<Move> {
        let known = self.families[role.index()].get(family)?;
        let is_inside = known.parameters.len() == parameters.len()
            && known.parameters.iter().zip(parameters).all(|(p, x)| (p.low..=p.high).contains(x));
        is_inside.then(|| Move::new(family, parameters))
    }

    fn coordinates(&self, role: Role, m: &Move) -> Option<(usize, Vec<f64>)> {
        let values: Vec<f64> = (0..m.bits.len()).map(|i| m.value(i)).collect();
        self.member(role, m.family, &values).map(|_| (m.family, values))
    }

    fn margins(&self) -> Vec<f64> {
        self.rules.margins(&self.state)
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// One concurrent step: the first player gets `payoff(x, y)`, the second the opposite.
pub(super) struct OneShot {
    pub(super) interval: (f64, f64),
    pub(super) payoff: fn(f64, f64) -> f64,
}

impl Rules for OneShot {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: -10.0..=10.0,
            constant_sum: Some(0.0),
            continuous: true,
            ..Shape::new(names(&["row", "column"]), None)
        }
    }

    fn families(&self, _: &[f64], _: usize) -> Vec<Vec<(f64, f64)>> {
        vec![vec![self.interval]]
    }

    fn next(&self, _: &[f64], joint: &[Move]) -> Vec<f64> {
        vec![1.0, (self.payoff)(joint[0].value(0), joint[1].value(0))]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] > 0.0
    }

    fn payoff(&self, state: &[f64], role: usize) -> f64 {
        if role == 0 { state[1] } else { -state[1] }
    }
}

/// The traveller's dilemma with prices from 2 to 100 and a bonus of 2, as a discrete game.
pub(super) struct Travellers;

impl Rules for Travellers {
    fn shape(&self) -> Shape {
        Shape { payoffs: 0.0..=101.0, ..Shape::new(names(&["first", "second"]), None) }
    }

    fn families(&self, _: &[f64], _: usize) -> Vec<Vec<(f64, f64)>> {
        vec![Vec::new(); 99]
    }

    fn next(&self, _: &[f64], joint: &[Move]) -> Vec<f64> {
        vec![1.0, joint[0].family as f64 + 2.0, joint[1].family as f64 + 2.0]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] > 0.0
    }

    fn payoff(&self, state: &[f64], role: usize) -> f64 {
        match state {
            [_, first, second] => {
                let (own, other) = if role == 0 { (first, second) } else { (second, first) };
                own.min(*other) + 2.0 * (other - own).clamp(-1.0, 1.0)
            }
            _ => 0.0,
        }
    }
}

/// One player chooses two numbers in each of three steps. The optimum is 100, at points that
/// depend on the step and on the number before.
pub(super) struct Steps;

impl Steps {
    pub(super) const N: f64 = 3.0;
}

impl Rules for Steps {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: 0.0..=100.0,
            turn_taking: true,
            continuous: true,
            ..Shape::new(names(&["only"]), None)
        }
    }

    fn families(&self, _: &[f64], _: usize) -> Vec<Vec<(f64, f64)>> {
        vec![vec![(-1.0, 2.0), (0.0, 5.0)]]
    }

    fn next(&self, state: &[f64], joint: &[Move]) -> Vec<f64> {
        let (x, y) = (joint[0].value(0), joint[0].value(1));
        let step = state[0];
        let (a, b) = (x - 0.3 * (step + 1.0) - 0.2 * state[2], y - 1.0 - step);
        vec![step + 1.0, state[1] + a * a + 0.5 * b * b + 0.3 * a * b, x]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] >= Steps::N
    }

    fn payoff(&self, state: &[f64], _: usize) -> f64 {
        (100.0 - 5.0 * state[1]).max(0.0)
    }
}

/// Pursuit on a line: in each step both players choose a speed at the same time. The evader gets
/// the distance at the end.
pub(super) struct Pursuit {
    pub(super) pursuer: f64,
    pub(super) evader: f64,
    pub(super) n_steps: f64,
}

impl Rules for Pursuit {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: 0.0..=20.0,
            constant_sum: Some(20.0),
            continuous: true,
            ..Shape::new(names(&["pursuer", "evader"]), None)
        }
    }

    fn families(&self, _: &[f64], role: usize) -> Vec<Vec<(f64, f64)>> {
        let speed = if role == 0 { self.pursuer } else { self.evader };
        vec![vec![(-speed, speed)]]
    }

    fn next(&self, state: &[f64], joint: &[Move]) -> Vec<f64> {
        vec![state[0] + 1.0, state[1] + joint[1].value(0) - joint[0].value(0)]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] >= self.n_steps
    }

    fn payoff(&self, state: &[f64], role: usize) -> f64 {
        let distance = state[1].abs().min(20.0);
        if role == 1 { distance } else { 20.0 - distance }
    }
}

/// Pursuit on the plane: both players choose a direction at the same time. The pursuer gets 100
/// minus 10 for each step if it comes within reach, and nothing after ten steps. The state is the
/// number of steps and the way from the pursuer to the evader.
pub(super) struct Chase;

impl Chase {
    fn excess(state: &[f64]) -> f64 {
        state[1] * state[1] + state[2] * state[2] - 0.25
    }
}

impl Rules for Chase {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: 0.0..=100.0,
            constant_sum: Some(100.0),
            continuous: true,
            ..Shape::new(names(&["pursuer", "evader"]), None)
        }
    }

    fn families(&self, _: &[f64], _: usize) -> Vec<Vec<(f64, f64)>> {
        vec![vec![(-3.2, 3.2)]]
    }

    fn next(&self, state: &[f64], joint: &[Move]) -> Vec<f64> {
        let (a, b) = (joint[0].value(0), joint[1].value(0));
        let x = state[1] + 0.5 * libm::cos(b) - libm::cos(a);
        let y = state[2] + 0.5 * libm::sin(b) - libm::sin(a);
        vec![state[0] + 1.0, x, y]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] >= 10.0 || Chase::excess(state) <= 0.0
    }

    fn payoff(&self, state: &[f64], role: usize) -> f64 {
        let pursuer = if Chase::excess(state) <= 0.0 { 100.0 - 10.0 * state[0] } else { 0.0 };
        if role == 0 { pursuer } else { 100.0 - pursuer }
    }

    fn margins(&self, state: &[f64]) -> Vec<f64> {
        vec![state[0] - 10.0, -Chase::excess(state)]
    }
}

/// Nature adds -1, 0 or 1 to a number that a player chooses, in two steps. The best numbers are 0.6
/// and then the opposite of the sum.
pub(super) struct Noisy;

impl Rules for Noisy {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: 0.0..=100.0,
            turn_taking: true,
            continuous: true,
            ..Shape::new(names(&["player", "random"]), Some(Role::new(1)))
        }
    }

    fn families(&self, _: &[f64], role: usize) -> Vec<Vec<(f64, f64)>> {
        if role == 0 { vec![vec![(-3.0, 3.0)]] } else { vec![Vec::new(); 3] }
    }

    fn next(&self, state: &[f64], joint: &[Move]) -> Vec<f64> {
        let noise = joint[1].family as f64 - 1.0;
        let x = joint[0].value(0);
        let cost = if state[0] == 0.0 { (x - 0.6) * (x - 0.6) } else { 0.0 };
        vec![state[0] + 1.0, state[1] + x + 0.5 * noise, state[2] + cost]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] >= 2.0
    }

    fn payoff(&self, state: &[f64], _: usize) -> f64 {
        (100.0 - 2.0 * state[1] * state[1] - 4.0 * state[2]).max(0.0)
    }
}

/// Parrilo's game with a payoff that nature raises or lowers by 0.5.
pub(super) struct NoisyParrilo;

impl Rules for NoisyParrilo {
    fn shape(&self) -> Shape {
        Shape {
            payoffs: -12.0..=12.0,
            constant_sum: Some(0.0),
            continuous: true,
            ..Shape::new(names(&["row", "column", "random"]), Some(Role::new(2)))
        }
    }

    fn families(&self, _: &[f64], role: usize) -> Vec<Vec<(f64, f64)>> {
        if role == 2 { vec![Vec::new(); 2] } else { vec![vec![(-1.0, 1.0)]] }
    }

    fn next(&self, _: &[f64], joint: &[Move]) -> Vec<f64> {
        let (x, y) = (joint[0].value(0), joint[1].value(0));
        let noise = joint[2].family as f64 - 0.5;
        vec![1.0, 5.0 * x * y - 2.0 * x * x - 2.0 * x * y * y - y + noise]
    }

    fn is_terminal(&self, state: &[f64]) -> bool {
        state[0] > 0.0
    }

    fn payoff(&self, state: &[f64], role: usize) -> f64 {
        match role {
            0 => state[1],
            1 => -state[1],
            _ => 0.0,
        }
    }
}
