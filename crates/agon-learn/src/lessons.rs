//! Lessons: what a learnt evaluation says about a game, as statements that a person can read.
//!
//! A statement is about counts of facts: some fact of a kind holds, or there are more facts of one
//! kind than of another. Statements are chosen one after another, each the one that explains most
//! of what the evaluation says and the ones before do not (matching pursuit: Mallat & Zhang 1993).
//! How true a statement is comes from the results of plays that had no part in the choice.

use std::collections::BTreeMap;

use agon_game::{Children, Notation, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use crate::facts::Fact;
use crate::model::{CannotLearn, LearntEvaluator};
use crate::train::Players;

/// How lessons are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonOptions {
    /// Number of plays. One half chooses statements, the other tests them.
    pub n_plays: usize,
    /// Maximum number of lessons.
    pub n_lessons: usize,
    /// The seed of the plays.
    pub seed: u64,
}

impl Default for LessonOptions {
    fn default() -> LessonOptions {
        LessonOptions { n_plays: 1000, n_lessons: 10, seed: 1 }
    }
}

/// A statement with its measured truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// The condition, in words, with facts in the notation of the game.
    pub condition: String,
    /// The player for whom it is good.
    pub favours: Role,
    /// Number of positions of the test in which the condition speaks for one of the players.
    pub n: usize,
    /// The mean result of the player for whom it speaks there, from 0 for a loss to 1.
    pub result: f64,
    /// The mean result of the same players in all positions of the test.
    pub usual: f64,
}

/// Lessons with the size of their test.
#[derive(Clone, Debug, PartialEq)]
pub struct Lessons {
    /// The lessons, the one that explains most first.
    pub lessons: Vec<Lesson>,
    /// Number of positions that chose statements, and of those that tested them.
    pub n_positions: [usize; 2],
    /// The part of the variance of the evaluation that the lessons explain, where they were chosen.
    pub explained: f64,
}

/// The probability of a random move.
const EXPLORATION: f64 = 0.2;
/// Number of random moves at the beginning of a play, at most.
const MAX_OPENING: u32 = 6;
/// Maximum number of steps of a play.
const MAX_STEPS: usize = 300;
/// Positions of a play are this many steps apart, because neighbours say the same.
const STRIDE: usize = 3;
/// A statement must speak in this part of the positions, and in so many of the test.
const MIN_PART: f64 = 0.03;
const MIN_TESTED: usize = 20;
/// A kind of facts that has more values of an argument than this is not split by it.
const MAX_VALUES: usize = 40;
/// Values of an argument are compared pairwise if there are at most so many.
const MAX_COMPARED: usize = 6;
/// Maximum number of statements that are tried.
const MAX_STATEMENTS: usize = 20_000;

/// A position of a play.
struct Sampled {
    /// The number of the play.
    play: usize,
    words: Vec<u64>,
    /// What the evaluation says, and what came of it, for the first player.
    value: f64,
    result: f64,
}

/// A condition on counts of facts.
struct Statement {
    text: String,
    plus: Vec<u64>,
    /// Empty: the condition is that a fact of `plus` holds.
    minus: Vec<u64>,
}

impl Statement {
    /// Returns 1 if the condition holds, -1 if its opposite does, 0 if it does not speak.
    fn sign(&self, words: &[u64]) -> i8 {
        let count = |mask: &[u64]| -> u32 {
            mask.iter().zip(words).map(|(mask, word)| (mask & word).count_ones()).sum()
        };
        let (plus, minus) = (count(&self.plus), count(&self.minus));
        match (self.minus.is_empty(), plus.cmp(&minus)) {
            (_, std::cmp::Ordering::Greater) => 1,
            (false, std::cmp::Ordering::Less) => -1,
            _ => 0,
        }
    }
}

/// Finds what an evaluation says about a game.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players alone, or does not keep states as bits.
pub fn lessons<P: Notation>(
    start: &P,
    evaluator: &mut LearntEvaluator<P>,
    options: &LessonOptions,
) -> Result<Lessons, CannotLearn> {
    let players: Vec<Role> = start.shape().players().collect();
    let [first, second] = players[..] else { return Err(CannotLearn::NotTwoPlayers) };
    if evaluator.n_values() != 1 {
        return Err(CannotLearn::NotTwoPlayers);
    }
    let [chosen, tested] = sample(start, evaluator, options)?;
    let statements = statements(&start.feature_texts());
    let n = chosen.len().max(1) as f64;
    let mean = chosen.iter().map(|sampled| sampled.value).sum::<f64>() / n;
    let mut rest: Vec<f64> = chosen.iter().map(|sampled| sampled.value - mean).collect();
    let variance: f64 = rest.iter().map(|rest| rest * rest).sum();
    let signs: Vec<Vec<i8>> = statements
        .iter()
        .map(|statement| chosen.iter().map(|sampled| statement.sign(&sampled.words)).collect())
        .collect();
    let mut is_used = vec![false; statements.len()];
    let mut found = Vec::new();
    while found.len() < options.n_lessons {
        let mut best: Option<(f64, usize, [f64; 2])> = None;
        for (number, signs) in signs.iter().enumerate() {
            if is_used[number] {
                continue;
            }
            let fit = fit(signs, &rest);
            let is_frequent = signs.iter().filter(|sign| **sign != 0).count() as f64
                >= MIN_PART * n
                && fit.spread > MIN_PART * n;
            if is_frequent && best.is_none_or(|(gain, _, _)| fit.gain > gain) {
                best = Some((fit.gain, number, [fit.slope, fit.mean]));
            }
        }
        // Less than a thousandth of what there was to explain is not worth a sentence.
        let Some((_, number, [slope, middle])) =
            best.filter(|(gain, _, _)| *gain > 1e-3 * variance)
        else {
            break;
        };
        is_used[number] = true;
        let lesson = test(&statements[number], slope, [first, second], &tested);
        // A statement that the test does not confirm explains nothing.
        if let Some(lesson) = lesson {
            for (rest, sign) in rest.iter_mut().zip(&signs[number]) {
                *rest -= slope * (f64::from(*sign) - middle);
            }
            found.push(lesson);
        }
    }
    let left: f64 = rest.iter().map(|rest| rest * rest).sum();
    Ok(Lessons {
        lessons: found,
        n_positions: [chosen.len(), tested.len()],
        explained: if variance > 0.0 { 1.0 - left / variance } else { 0.0 },
    })
}

/// How well signs explain numbers, by least squares.
struct Fit {
    /// The part of the squares of the numbers that is explained.
    gain: f64,
    slope: f64,
    /// The mean of the signs, and the sum of the squares of their distances from it.
    mean: f64,
    spread: f64,
}

fn fit(signs: &[i8], numbers: &[f64]) -> Fit {
    let n = signs.len().max(1) as f64;
    let mean = signs.iter().map(|sign| f64::from(*sign)).sum::<f64>() / n;
    let signs = || signs.iter().map(|sign| f64::from(*sign) - mean);
    let spread: f64 = signs().map(|sign| sign * sign).sum();
    let product: f64 = signs().zip(numbers).map(|(sign, rest)| sign * rest).sum();
    let slope = if spread > 0.0 { product / spread } else { 0.0 };
    Fit { gain: slope * product, slope, mean, spread }
}

/// A statement is true if what it promises exceeds what is usual by this many standard errors: with
/// an error probability of 5 percent.
const STANDARD_ERRORS: f64 = 1.65;
/// A statement that promises less than this beyond what is usual is not worth a sentence.
const MIN_GAIN: f64 = 0.01;

/// Measures a statement at positions that did not choose it. Returns `None` if it rarely speaks or
/// is not true there beyond what chance explains.
fn test(
    statement: &Statement,
    slope: f64,
    [first, second]: [Role; 2],
    tested: &[Sampled],
) -> Option<Lesson> {
    let (mut n, mut result, mut usual) = (0, 0.0, 0.0);
    let all = tested.iter().map(|sampled| sampled.result).sum::<f64>() / tested.len().max(1) as f64;
    // Positions of one play have the same result, so only plays are independent: by play, the
    // number of positions and the sum of what exceeds the usual there.
    let mut plays: Vec<(f64, f64)> = Vec::new();
    for of_play in tested.chunk_by(|one, other| one.play == other.play) {
        let (mut n_there, mut gain) = (0.0, 0.0);
        for sampled in of_play {
            let sign = statement.sign(&sampled.words);
            if sign == 0 {
                continue;
            }
            let is_first = f64::from(sign) * slope > 0.0;
            let own = if is_first { sampled.result } else { 1.0 - sampled.result };
            let expected = if is_first { all } else { 1.0 - all };
            n += 1;
            result += own;
            usual += expected;
            n_there += 1.0;
            gain += own - expected;
        }
        plays.push((n_there, gain));
    }
    let count = n as f64;
    let mean = (result - usual) / count.max(1.0);
    // The error of a mean over clusters of different sizes.
    let squares: f64 = plays.iter().map(|(n, gain)| (gain - n * mean) * (gain - n * mean)).sum();
    let is_true =
        n >= MIN_TESTED && mean >= MIN_GAIN && mean * count > STANDARD_ERRORS * squares.sqrt();
    is_true.then(|| Lesson {
        condition: statement.text.clone(),
        favours: if slope > 0.0 { first } else { second },
        n,
        result: result / count,
        usual: usual / count,
    })
}

/// Plays by the evaluation with some random moves. Returns positions of both halves of the plays.
fn sample<P: Notation>(
    start: &P,
    evaluator: &mut LearntEvaluator<P>,
    options: &LessonOptions,
) -> Result<[Vec<Sampled>; 2], CannotLearn> {
    let players = Players::new(start.shape());
    let roles: Vec<Role> = start.shape().players().collect();
    let mut batch = start.batch(options.seed).ok_or(CannotLearn::NoBits)?;
    let mut children = Children::new(start.shape().role_names.len());
    let mut rng = Rng::seed_from_u64(options.seed);
    let mut halves = [Vec::new(), Vec::new()];
    let mut position = start.clone();
    for play in 0..options.n_plays {
        position.go_to(start.state());
        let mut seen: Vec<Sampled> = Vec::new();
        let mut n_random = rng.random_range(0..=MAX_OPENING);
        let mut end = None;
        for step in 0..MAX_STEPS {
            let state = position.state().clone();
            batch.expand(&[&state], &mut children);
            if children.is_empty() {
                break;
            }
            let explores = n_random > 0 || rng.random::<f64>() < EXPLORATION;
            n_random = n_random.saturating_sub(1);
            let sign = if position.legal_moves(roles[1]).len() > 1 { -1.0 } else { 1.0 };
            let mut best = (f64::NEG_INFINITY, rng.random_range(0..children.len()));
            for child in 0..children.len() {
                let value = match children.ended[child] {
                    true => f64::from(players.result(children.payoffs(child), 0)),
                    false => f64::from(evaluator.value(&children.states[child])),
                };
                if !explores && sign * value > best.0 {
                    best = (sign * value, child);
                }
            }
            if step % STRIDE == play % STRIDE {
                let words = P::state_words(&state).ok_or(CannotLearn::NoBits)?.to_vec();
                let value = f64::from(evaluator.value(&state));
                seen.push(Sampled { play, words, value, result: 0.0 });
            }
            if children.ended[best.1] {
                end = Some(f64::from(players.result(children.payoffs(best.1), 0)));
                break;
            }
            position.go_to(&children.states[best.1]);
        }
        if let Some(end) = end {
            seen.iter_mut().for_each(|sampled| sampled.result = end);
            halves[play % 2].extend(seen);
        }
    }
    Ok(halves)
}

/// A kind of facts: its words, where `None` stands for any.
type Kind<'t> = Vec<Option<&'t str>>;

/// Makes statements of the facts of a game: that a fact of a kind holds, where a kind has some of
/// its arguments fixed, and that there are more of one kind than of another, where the two differ
/// in one argument.
fn statements(texts: &[String]) -> Vec<Statement> {
    let facts: Vec<Fact> = texts.iter().map(|text| Fact::parse(text)).collect();
    let n_words = texts.len().div_ceil(64);
    let mut forms: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
    for (number, fact) in facts.iter().enumerate() {
        forms.entry((fact.name(), fact.arguments().len())).or_default().push(number);
    }
    // Kinds of facts: a name with some arguments fixed, and its facts.
    let mut kinds: BTreeMap<Kind<'_>, Vec<u64>> = BTreeMap::new();
    for ((name, arity), members) in &forms {
        let n_values = |at: usize| {
            let mut values: Vec<&str> =
                members.iter().map(|&fact| facts[fact].arguments()[at].as_str()).collect();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        let fixable: Vec<bool> = (0..*arity).map(|at| n_values(at) <= MAX_VALUES).collect();
        for &fact in members {
            for subset in 0_u32..1 << (*arity).min(6) {
                let is_fixed = |at: usize| subset >> at & 1 == 1;
                if (0..*arity).any(|at| at < 6 && is_fixed(at) && !fixable[at]) {
                    continue;
                }
                let arguments = facts[fact].arguments().iter().enumerate();
                let mut kind = vec![Some(*name)];
                kind.extend(arguments.map(|(at, word)| is_fixed(at).then_some(word.as_str())));
                let mask = kinds.entry(kind).or_insert_with(|| vec![0; n_words]);
                mask[fact / 64] |= 1 << (fact % 64);
            }
        }
    }
    let text = |kind: &[Option<&str>]| {
        let words: Vec<&str> = kind.iter().map(|word| word.unwrap_or("?")).collect();
        if words.len() == 1 { words[0].to_owned() } else { format!("({})", words.join(" ")) }
    };
    let mut found: Vec<Statement> = Vec::new();
    for (kind, mask) in &kinds {
        let text = format!("{} holds", text(kind));
        found.push(Statement { text, plus: mask.clone(), minus: Vec::new() });
    }
    // Groups of kinds that differ in one argument.
    let mut groups: BTreeMap<(usize, Kind<'_>), Vec<&Kind<'_>>> = BTreeMap::new();
    for kind in kinds.keys() {
        for at in (1..kind.len()).filter(|&at| kind[at].is_some()) {
            let mut open = kind.clone();
            open[at] = None;
            groups.entry((at, open)).or_default().push(kind);
        }
    }
    for group in groups.values().filter(|group| group.len() <= MAX_COMPARED) {
        for (number, one) in group.iter().enumerate() {
            for other in &group[number + 1..] {
                let is_single = one.iter().all(Option::is_some);
                let text = match is_single {
                    true => format!("{} rather than {}", text(one), text(other)),
                    false => format!("more {} than {}", text(one), text(other)),
                };
                let (plus, minus) = (kinds[*one].clone(), kinds[*other].clone());
                found.push(Statement { text, plus, minus });
            }
        }
    }
    // A game with many kinds of facts loses some comparisons.
    found.truncate(MAX_STATEMENTS);
    found
}

#[cfg(test)]
mod tests {
    use agon_game::Budget;

    use super::*;
    use crate::tests::start;
    use crate::{Learner, TrainOptions};

    #[test]
    fn kinds_of_facts_become_statements() {
        let texts = ["(cell 1 x)", "(cell 2 x)", "(cell 1 o)", "(control x)"];
        let statements = statements(&texts.map(str::to_owned));
        let find = |text: &str| {
            let found = statements.iter().find(|statement| statement.text == text);
            found.unwrap_or_else(|| panic!("{text}"))
        };
        assert_eq!(find("more (cell ? o) than (cell ? x)").sign(&[0b0100]), 1);
        assert_eq!(find("more (cell ? o) than (cell ? x)").sign(&[0b0111]), -1);
        assert_eq!(find("(cell 1 o) rather than (cell 1 x)").sign(&[0b0010]), 0);
        assert_eq!(find("(cell 2 x) holds").sign(&[0b0010]), 1);
        assert_eq!(find("(cell 2 x) holds").sign(&[0b0101]), 0);
    }

    #[test]
    fn least_squares_finds_the_slope() {
        let fit = fit(&[1, -1, 1, -1], &[2.0, -2.0, 4.0, -4.0]);
        assert_eq!((fit.slope, fit.mean, fit.gain), (3.0, 0.0, 36.0));
    }

    /// A statement is dropped if its gain is within what chance explains: ten plays with many
    /// positions each are ten results.
    #[test]
    fn statements_need_more_than_chance() {
        let statement = Statement { text: "one holds".to_owned(), plus: vec![1], minus: vec![] };
        // By play: whether the statement holds, and the result.
        let sampled = |plays: &[(u64, f64)]| -> Vec<Sampled> {
            let of_play = |(play, &(word, result)): (usize, &(u64, f64))| {
                let one = move |_| Sampled { play, words: vec![word], value: 0.5, result };
                (0..10).map(one).collect::<Vec<_>>()
            };
            plays.iter().enumerate().flat_map(of_play).collect()
        };
        let roles = [Role::new(0), Role::new(1)];
        let luck = [(1, 1.0), (1, 1.0), (1, 0.0), (0, 1.0), (0, 0.0), (0, 0.0)];
        assert_eq!(test(&statement, 1.0, roles, &sampled(&luck)), None);
        let truth: Vec<(u64, f64)> = (0..40)
            .map(|play| (play % 2, if play % 10 == 0 { 1.0 } else { (play % 2) as f64 }))
            .collect();
        let found = test(&statement, 1.0, roles, &sampled(&truth)).expect("it is true");
        assert_eq!((found.n, found.result, found.favours), (200, 1.0, roles[0]));
        assert_eq!(test(&statement, -1.0, roles, &sampled(&truth)), None, "it is the other way");
    }

    /// Breakthrough is about having more pawns; the lessons say so and are true.
    #[test]
    fn material_matters_in_breakthrough() {
        let start = start("breakthrough");
        let mut learner = Learner::new(&start, TrainOptions::default(), None).expect("learnt");
        learner.learn(&Budget::iterations(1500));
        let options = LessonOptions { n_plays: 600, ..LessonOptions::default() };
        let found = lessons(&start, &mut learner.evaluator(), &options).expect("two players");
        assert!(!found.lessons.is_empty() && found.lessons.len() <= 10, "{found:#?}");
        assert!(found.explained > 0.1, "{found:#?}");
        for lesson in &found.lessons {
            let gain = lesson.result - lesson.usual;
            assert!(gain >= MIN_GAIN && lesson.n >= MIN_TESTED, "{lesson:?}");
        }
        let is_material = |lesson: &Lesson| {
            lesson.condition.contains("(pawn ? ? black) than (pawn ? ? white)")
                || lesson.condition.contains("(pawn ? ? white) than (pawn ? ? black)")
        };
        assert!(found.lessons.iter().any(is_material), "{found:#?}");
        let refused = crate::tests::start("three-way-tic-tac-toe");
        let learner = Learner::new(&refused, TrainOptions::default(), None).expect("learnt");
        let refused = lessons(&refused, &mut learner.evaluator(), &options);
        assert_eq!(refused, Err(CannotLearn::NotTwoPlayers));
    }
}
