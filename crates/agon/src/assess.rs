//! An assessment of a game for its author: how it plays at different strengths, whether it ends,
//! what in its rules is never used, and what it is worth under perfect play.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_analysis::properties::{Properties, PropertyLimits};
use agon_game::{Budget, Rng, Shape};
use agon_match::{Ending, Event, Match};
use agon_search::solve::{SolveOptions, solve};
use rand::SeedableRng as _;
use serde_json::{Value, json};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::match_setup::{MatchLimits, MatchSetup, NoOutsidePlayers};
use crate::player::parse_players;

/// How much is played and searched.
#[derive(Clone, Debug)]
pub struct AssessOptions {
    /// Number of random plays.
    pub plays: usize,
    /// Number of matches at each of the other strengths.
    pub matches: usize,
    /// Iterations per move of weak players.
    pub weak: u64,
    /// Iterations per move of strong players.
    pub strong: u64,
    /// Time for each strength, for proofs and for solving.
    pub time: Duration,
    /// Maximum number of steps of a play.
    pub max_steps: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for AssessOptions {
    fn default() -> AssessOptions {
        AssessOptions {
            plays: 500,
            matches: 20,
            weak: 30,
            strong: 600,
            time: Duration::from_secs(20),
            max_steps: 1_000,
            seed: 1,
        }
    }
}

/// How plays at one strength went.
#[derive(Clone, Debug, Default)]
pub struct Plays {
    /// The strength: `random`, `weak` or `strong`.
    pub strength: String,
    /// Number of plays that ended.
    pub n_ended: usize,
    /// Number of plays that were given up because they were too long or could not go on.
    pub n_given_up: usize,
    /// Whether the time was up before all plays were played. The last one was left.
    pub is_cut: bool,
    /// By player: mean payoff and half of its 95 % interval.
    pub payoffs: Vec<(f64, f64)>,
    /// Share of plays in which all players have the same payoff.
    pub draws: f64,
    /// Mean, shortest and longest number of steps.
    pub length: (f64, usize, usize),
    /// Mean number of choices of a player that has a choice. 0 if it was not counted.
    pub branching: f64,
    /// Mean number of times that the expected winner changed; `None` if no player said what it
    /// expects.
    pub lead_changes: Option<f64>,
}

/// Whether play always ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// It is proved that a play has at most this many steps.
    Proved(u64),
    /// A position occurred twice in a play: the step of its first occurrence, and the joint moves
    /// that lead back to it.
    Cycle {
        /// Step of the first occurrence.
        step: usize,
        /// The joint moves from there to the second occurrence.
        moves: Vec<Vec<String>>,
    },
    /// No position was repeated in the plays, and nothing is proved. The longest play is given.
    Observed(usize),
}

/// An assessment of a game. It displays as text.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// The names of the players, without nature.
    pub players: Vec<String>,
    /// The plays at each strength.
    pub plays: Vec<Plays>,
    /// Whether play always ends.
    pub termination: Termination,
    /// Moves that the rules allow somewhere, but that were never legal in the plays. `None` if the
    /// possible moves are not known.
    pub unused_moves: Option<Vec<String>>,
    /// Warnings about rules that have no effect.
    pub unused_rules: Vec<String>,
    /// The symmetries, with how they are known.
    pub symmetries: Vec<String>,
    /// By player: the payoff of perfect play, or why it is not known.
    pub solution: Result<Vec<f64>, String>,
}

/// Assesses a game. `watch` is told what is done next.
pub fn assess(game: &Game, options: &AssessOptions, watch: &mut dyn FnMut(&str)) -> Assessment {
    let shape = game.shape().clone();
    let players: Vec<String> =
        shape.players().map(|role| shape.role_names[role.index()].clone()).collect();
    watch("random plays");
    let mut seen = Seen::default();
    let mut plays = vec![random_plays(game, options, &mut seen)];
    for (strength, iterations) in [("weak", options.weak), ("strong", options.strong)] {
        watch(&format!("{strength} plays"));
        plays.push(matches(game, strength, iterations, options));
    }
    watch("proofs");
    let deadline = Instant::now() + options.time;
    let properties = game.analysis().ok().map(|analysis| {
        let limits = PropertyLimits::until(deadline);
        Properties::find(analysis.game(), analysis.compiled().map(AsRef::as_ref), &limits)
    });
    let bound = properties.as_ref().and_then(|properties| properties.length.bound);
    let longest = plays.iter().map(|plays| plays.length.2).max().unwrap_or(0);
    let termination = match (bound, seen.cycle) {
        (Some((steps, _)), _) => Termination::Proved(steps),
        (None, Some((step, moves))) => Termination::Cycle { step, moves },
        (None, None) => Termination::Observed(longest),
    };
    let symmetries = properties.map_or(Vec::new(), |properties| {
        let texts = properties.symmetries.iter();
        texts.map(|symmetry| format!("{} ({})", symmetry.text, symmetry.known)).collect()
    });
    watch("perfect play");
    let solution = game.run(Solve { time: options.time });
    let unused_moves = game.compiled().map(|compiled| {
        let roles = compiled.circuit.roles.iter();
        let possible = roles.flat_map(|role| role.moves.iter().cloned());
        possible.filter(|text| !seen.legal.contains(text)).collect::<BTreeSet<String>>()
    });
    Assessment {
        players,
        plays,
        termination,
        unused_moves: unused_moves.map(|moves| moves.into_iter().collect()),
        unused_rules: unused_rules(game),
        symmetries,
        solution,
    }
}

/// What random plays have shown.
#[derive(Default)]
struct Seen {
    legal: BTreeSet<String>,
    cycle: Option<(usize, Vec<Vec<String>>)>,
}

fn random_plays(game: &Game, options: &AssessOptions, seen: &mut Seen) -> Plays {
    let shape = game.shape().clone();
    let mut rng = Rng::seed_from_u64(options.seed);
    let until = Instant::now() + options.time;
    let mut tally = Tally::new(&shape);
    let (mut n_choices, mut n_choosers) = (0_usize, 0_usize);
    let start = game.table();
    for _ in 0..options.plays {
        let mut table = start.fork();
        let mut steps = 0;
        let mut visited: BTreeMap<u64, usize> = BTreeMap::new();
        let mut joints: Vec<Vec<String>> = Vec::new();
        while !table.is_terminal() && steps < options.max_steps && Instant::now() < until {
            if seen.cycle.is_none() {
                let key = table.key();
                if let Some(&first) = visited.get(&key) {
                    seen.cycle = Some((first, joints[first..].to_vec()));
                }
                visited.insert(key, steps);
            }
            for role in shape.players() {
                let legal = table.legal_moves(role);
                if legal.len() > 1 {
                    n_choices += legal.len();
                    n_choosers += 1;
                }
                seen.legal.extend(legal);
            }
            if let Some(nature) = shape.nature {
                seen.legal.extend(table.legal_moves(nature));
            }
            let joint = table.draw(&mut rng);
            let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
            if table.advance(&texts).is_err() {
                break;
            }
            joints.push(joint);
            steps += 1;
        }
        if !table.is_terminal() && Instant::now() >= until {
            tally.is_cut = true;
            break;
        }
        let has_ended = table.is_terminal() && table.fault().is_none();
        let payoffs: Vec<f64> = shape.players().map(|role| table.payoff(role)).collect();
        tally.add(has_ended.then_some(payoffs), steps);
    }
    let mut plays = tally.finish("random");
    plays.branching = n_choices as f64 / n_choosers.max(1) as f64;
    plays
}

/// Plays matches of a player against itself.
fn matches(game: &Game, strength: &str, iterations: u64, options: &AssessOptions) -> Plays {
    let shape = game.shape().clone();
    let mut tally = Tally::new(&shape);
    let until = Instant::now() + options.time;
    let mut changes: Vec<f64> = Vec::new();
    let names = vec!["auto"; shape.players().count()].join(", ");
    for number in 0..options.matches {
        if Instant::now() >= until {
            tally.is_cut = true;
            break;
        }
        let limits = MatchLimits {
            iterations: Some(iterations),
            seed: options.seed + number as u64,
            max_steps: options.max_steps,
            ..MatchLimits::default()
        };
        let Ok(players) = parse_players(&names) else { break };
        let Ok(setup) = MatchSetup::new(game.clone(), players, limits) else { break };
        let Ok(seated) = setup.seat(&NoOutsidePlayers) else { break };
        let is_aborted = Arc::clone(&setup.is_aborted);
        let mut leads: Vec<bool> = Vec::new();
        let first = shape.players().next();
        let played: Match = setup.play(seated, Vec::new(), &|| 0, &mut |_, event| {
            // A single match may take minutes.
            if Instant::now() >= until {
                is_aborted.store(true, Ordering::Relaxed);
            }
            if let Event::Chosen(role, Ok(choice), _) = event
                && let Some(value) = choice.thought.as_ref().and_then(|thought| thought.value)
                && value != 50.0
            {
                leads.push((value > 50.0) == (Some(role) == first));
            }
        });
        if matches!(played.ending(), Some(Ending::Aborted)) {
            tally.is_cut = true;
            break;
        }
        if shape.players().count() == 2 && !leads.is_empty() {
            changes.push(leads.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64);
        }
        let payoffs = match played.ending() {
            Some(Ending::Finished(payoffs)) => {
                Some(shape.players().map(|role| payoffs[role.index()]).collect())
            }
            _ => None,
        };
        tally.add(payoffs, played.steps().len());
    }
    let mut plays = tally.finish(strength);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    plays.lead_changes = (!changes.is_empty()).then(|| mean(&changes));
    plays
}

/// Sums over plays.
struct Tally {
    payoffs: Vec<Vec<f64>>,
    n_players: usize,
    lengths: Vec<usize>,
    n_draws: usize,
    n_given_up: usize,
    is_cut: bool,
}

impl Tally {
    fn new(shape: &Shape) -> Tally {
        let n_players = shape.players().count();
        Tally {
            payoffs: Vec::new(),
            n_players,
            lengths: Vec::new(),
            n_draws: 0,
            n_given_up: 0,
            is_cut: false,
        }
    }

    fn add(&mut self, payoffs: Option<Vec<f64>>, steps: usize) {
        match payoffs {
            None => self.n_given_up += 1,
            Some(payoffs) => {
                self.n_draws += usize::from(payoffs.windows(2).all(|pair| pair[0] == pair[1]));
                self.payoffs.push(payoffs);
                self.lengths.push(steps);
            }
        }
    }

    fn finish(self, strength: &str) -> Plays {
        let n = self.payoffs.len();
        let interval = |player: usize| {
            let mean = self.payoffs.iter().map(|p| p[player]).sum::<f64>() / n as f64;
            let squares: f64 =
                self.payoffs.iter().map(|p| (p[player] - mean) * (p[player] - mean)).sum();
            let deviation = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
            // 1.96 deviations of the mean are a 95 % interval.
            (mean, 1.96 * deviation / (n as f64).sqrt())
        };
        let payoffs = if n == 0 { Vec::new() } else { (0..self.n_players).map(interval).collect() };
        let mean = self.lengths.iter().sum::<usize>() as f64 / n.max(1) as f64;
        let shortest = self.lengths.iter().copied().min().unwrap_or(0);
        let longest = self.lengths.iter().copied().max().unwrap_or(0);
        Plays {
            strength: strength.to_owned(),
            n_ended: n,
            n_given_up: self.n_given_up,
            is_cut: self.is_cut,
            payoffs,
            draws: self.n_draws as f64 / n.max(1) as f64,
            length: (mean, shortest, longest),
            branching: 0.0,
            lead_changes: None,
        }
    }
}

/// The task of solving a game.
struct Solve {
    time: Duration,
}

impl GameTask for Solve {
    type Output = Result<Vec<f64>, String>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Result<Vec<f64>, String> {
        let budget =
            Budget { deadline: Instant::now().checked_add(self.time), ..Budget::default() };
        let options = SolveOptions { bytes: 512 << 20, ..SolveOptions::default() };
        let solution =
            solve(&start, &budget, &options).map_err(|unsolved| unsolved.reason.to_string())?;
        Ok(start.shape().players().map(|role| solution.values[role.index()]).collect())
    }
}

/// Returns the warnings of the checks that say that a rule or a relation has no effect.
fn unused_rules(game: &Game) -> Vec<String> {
    const CODES: [&str; 7] = [
        "dead-constant",
        "dead-fluent",
        "dead-move",
        "duplicate-rule",
        "subsumed-rule",
        "unreachable-rule",
        "unused-relation",
    ];
    let Some(gdl) = game.gdl() else { return Vec::new() };
    let source = &gdl.rules().sheet().source;
    let findings = agon_gdl::check::check(std::sync::Arc::clone(source)).findings;
    findings
        .0
        .iter()
        .filter(|finding| CODES.contains(&finding.code))
        .map(|finding| {
            format!("line {}: {}", source.place(finding.span.start()).line, finding.message)
        })
        .collect()
}

impl Assessment {
    /// Returns the assessment as JSON.
    pub fn to_json(&self) -> Value {
        let plays: Vec<Value> = self
            .plays
            .iter()
            .map(|plays| {
                let payoffs: serde_json::Map<String, Value> = self
                    .players
                    .iter()
                    .zip(&plays.payoffs)
                    .map(|(name, (mean, half))| {
                        (name.clone(), json!({"mean": mean, "interval": half}))
                    })
                    .collect();
                // Without plays nothing is known of them.
                let (mean, min, max) = plays.length;
                let known = |value: Value| if plays.n_ended > 0 { value } else { Value::Null };
                json!({
                    "strength": plays.strength, "plays": plays.n_ended,
                    "given_up": plays.n_given_up, "time_was_up": plays.is_cut, "payoffs": payoffs,
                    "draws": known(json!(plays.draws)),
                    "decisive": known(json!(1.0 - plays.draws)),
                    "length": known(json!({"mean": mean, "min": min, "max": max})),
                    "branching": if plays.branching > 0.0 { json!(plays.branching) } else { Value::Null },
                    "lead_changes": plays.lead_changes,
                    "first_player_advantage": first_advantage(plays),
                })
            })
            .collect();
        let termination = match &self.termination {
            Termination::Proved(steps) => json!({"known": "proved", "max_steps": steps}),
            Termination::Cycle { step, moves } => {
                json!({"known": "cycle", "step": step, "moves": moves})
            }
            Termination::Observed(longest) => json!({"known": "observed", "longest": longest}),
        };
        let solution = match &self.solution {
            Ok(values) => {
                let values: serde_json::Map<String, Value> =
                    self.players.iter().cloned().zip(values.iter().map(|v| json!(v))).collect();
                json!({"solved": true, "values": values})
            }
            Err(why) => json!({"solved": false, "reason": why}),
        };
        json!({
            "players": self.players, "play": plays, "termination": termination,
            "unused_moves": self.unused_moves, "unused_rules": self.unused_rules,
            "symmetries": self.symmetries, "solution": solution,
        })
    }
}

/// Returns the mean payoff of the first player minus that of the others together, per player.
fn first_advantage(plays: &Plays) -> Option<f64> {
    let (first, others) = plays.payoffs.split_first()?;
    if others.is_empty() {
        return None;
    }
    Some(first.0 - others.iter().map(|(mean, _)| mean).sum::<f64>() / others.len() as f64)
}

/// Maximum number of moves and rules that are listed in the text.
const SHOWN: usize = 8;

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.plays.is_empty() {
            writeln!(
                f,
                "for each strength of play: the mean payoff of each role with its 95 % interval, \
                 and shares of all plays"
            )?;
        }
        for plays in &self.plays {
            let cut = if plays.is_cut { ", then the time was up" } else { "" };
            writeln!(f, "{} play ({} plays{cut})", plays.strength, plays.n_ended)?;
            let payoffs = self.players.iter().zip(&plays.payoffs);
            for (name, (mean, half)) in payoffs {
                writeln!(f, "  {name:14} {mean:5.1} ± {half:.1}")?;
            }
            let (mean, shortest, longest) = plays.length;
            if plays.n_ended > 0 {
                writeln!(f, "  length         {mean:5.1} steps, {shortest} to {longest}")?;
            }
            if self.players.len() > 1 && plays.n_ended > 0 {
                writeln!(
                    f,
                    "  draws          {:5.1} %, decisive {:.1} %",
                    100.0 * plays.draws,
                    100.0 - 100.0 * plays.draws
                )?;
            }
            if plays.branching > 0.0 {
                writeln!(f, "  branching      {:5.1} moves at a choice", plays.branching)?;
            }
            if let Some(advantage) = first_advantage(plays) {
                writeln!(f, "  first player   {advantage:+5.1} points ahead of the others")?;
            }
            if let Some(changes) = plays.lead_changes {
                writeln!(f, "  lead changes   {changes:5.1} per match")?;
            }
            if plays.n_given_up > 0 {
                writeln!(f, "  given up       {:5} plays without an end", plays.n_given_up)?;
            }
        }
        match &self.termination {
            Termination::Proved(steps) => {
                let noun = if *steps == 1 { "step" } else { "steps" };
                writeln!(f, "ends: always, after at most {steps} {noun} (proved)")?;
            }
            Termination::Cycle { step, moves } => {
                let line: Vec<String> = moves.iter().take(6).map(|joint| joint.join(" ")).collect();
                let more = if moves.len() > 6 { " …" } else { "" };
                writeln!(
                    f,
                    "ends: not always; a position after {step} steps repeats after {} more: {}{more}",
                    moves.len(),
                    line.join(" | ")
                )?;
            }
            Termination::Observed(longest) => {
                writeln!(f, "ends: in all plays, the longest with {longest} steps (not proved)")?;
            }
        }
        match &self.unused_moves {
            None => writeln!(f, "moves never legal: not known, because there is no circuit")?,
            Some(moves) if moves.is_empty() => writeln!(f, "moves never legal: none")?,
            Some(moves) => writeln!(f, "moves never legal in random play: {}", listed(moves))?,
        }
        if self.unused_rules.is_empty() {
            writeln!(f, "rules without effect: none found")?;
        } else {
            writeln!(f, "rules without effect: {}", listed(&self.unused_rules))?;
        }
        if self.symmetries.is_empty() {
            writeln!(f, "symmetries: none found")?;
        } else {
            writeln!(f, "symmetries: {}", self.symmetries.join("; "))?;
        }
        match &self.solution {
            Ok(values) => {
                let values = self.players.iter().zip(values);
                let values: Vec<String> = values.map(|(name, v)| format!("{name} {v}")).collect();
                write!(f, "perfect play: {}", values.join(", "))
            }
            Err(why) => write!(f, "perfect play: not known, because {why}"),
        }
    }
}

fn listed(items: &[String]) -> String {
    let shown: Vec<&str> = items.iter().take(SHOWN).map(String::as_str).collect();
    match items.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tic_tac_toe_is_a_draw_that_ends_and_favours_the_first_player_at_random() {
        let game = Game::open("tic-tac-toe").expect("the game is shipped");
        let options = AssessOptions {
            plays: 300,
            matches: 2,
            strong: 60,
            weak: 5,
            time: Duration::from_secs(10),
            ..AssessOptions::default()
        };
        let found = assess(&game, &options, &mut |_| {});
        assert_eq!(found.solution, Ok(vec![50.0, 50.0]));
        assert!(matches!(found.termination, Termination::Proved(steps) if steps >= 9));
        let random = &found.plays[0];
        assert!(random.payoffs[0].0 > random.payoffs[1].0, "{:?}", random.payoffs);
        assert!(random.length.1 >= 5 && random.length.2 <= 9);
        let text = found.to_string();
        assert!(text.starts_with("for each strength of play: the mean payoff"), "{text}");
        let json = found.to_json();
        assert_eq!(json["play"].as_array().map(Vec::len), Some(3));
        assert_eq!(json["solution"]["solved"], true);
    }

    #[test]
    fn a_play_is_left_when_the_time_is_up() {
        let game = Game::open("connect-four").expect("the game is shipped");
        let options = AssessOptions {
            plays: 1,
            matches: 1,
            weak: 20_000,
            strong: 20_000,
            time: Duration::from_millis(1),
            ..AssessOptions::default()
        };
        let found = assess(&game, &options, &mut |_| {});
        // The time is up after the first move at the latest.
        for plays in &found.plays[1..] {
            assert!(plays.is_cut && plays.n_ended == 0 && plays.n_given_up == 0, "{plays:?}");
        }
        let json = found.to_json();
        assert_eq!(json["play"][1]["time_was_up"], true);
        assert!(json["play"][1]["draws"].is_null() && json["play"][1]["length"].is_null());
        let text = found.to_string();
        assert!(text.contains("weak play (0 plays, then the time was up)"), "{text}");
        assert!(!text.contains("0 to 0"), "{text}");
    }

    #[test]
    fn a_cycle_is_shown() {
        let rules = "(role a) (init (at left)) (init (n 0))
            (<= (legal a (go left)) (true (at right))) (<= (legal a (go right)) (true (at left)))
            (legal a stop)
            (<= (next (at ?x)) (does a (go ?x)))
            (<= (next done) (does a stop))
            (<= terminal (true done)) (goal a 100)";
        let game = Game::open(rules).expect("the rules are correct");
        let options = AssessOptions {
            plays: 60,
            matches: 0,
            time: Duration::from_secs(5),
            ..AssessOptions::default()
        };
        let found = assess(&game, &options, &mut |_| {});
        let Termination::Cycle { moves, .. } = &found.termination else {
            panic!("{:?}", found.termination)
        };
        assert_eq!(moves.len(), 2, "{moves:?}");
    }
}
