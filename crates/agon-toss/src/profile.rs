//! What each rule of a structure rewriting game costs.

use std::sync::Arc;
use std::time::Instant;

use agon_game::{Position as _, Rng};
use agon_text::profile::{Profile, ProfileOptions, RuleProfile};
use rand::SeedableRng as _;

use crate::arena::RuleId;
use crate::interpreter::{Game, Interpreter};

/// Profiles the rules of a structure rewriting game. The cost of a rule is the number of evaluation
/// steps to find its legal embeddings. It is used at the states at which it has one, wherever
/// locations allow it.
///
/// # Errors
/// If the rules cannot be evaluated, a sentence that says why.
pub fn profile(game: &Arc<Game>, options: &ProfileOptions) -> Result<Profile, String> {
    let deadline = Instant::now().checked_add(options.time);
    let is_late =
        || options.is_stopped() || deadline.is_some_and(|deadline| Instant::now() > deadline);
    let mut meters: Vec<Meter> = game.arena().rule_ids().map(|id| Meter::new(game, id)).collect();
    let mut rng = Rng::seed_from_u64(options.seed);
    let (mut plays, mut states) = (0, 0);
    for _ in 0..options.plays {
        if is_late() {
            break;
        }
        let mut position = game.start();
        let mut joint = Vec::new();
        for _ in 0..=options.max_steps {
            meters.iter_mut().try_for_each(|meter| meter.measure(game, &position))?;
            states += 1;
            if position.is_terminal() || is_late() {
                break;
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
        plays += 1;
    }
    let rules = meters.into_iter().map(|meter| meter.finish(game)).collect();
    Ok(Profile { plays, states, has_gates: false, rules })
}

/// The measurement of a rule.
struct Meter {
    rule: RuleId,
    steps: u64,
    used: usize,
    /// By part of the condition: whether it has been true for some elements.
    was_true: Vec<bool>,
}

impl Meter {
    fn new(game: &Game, rule: RuleId) -> Meter {
        let was_true = vec![false; game.arena().rule(rule).parts.len()];
        Meter { rule, steps: 0, used: 0, was_true }
    }

    fn measure(&mut self, game: &Game, position: &Interpreter) -> Result<(), String> {
        let before = game.spent();
        let found = position.legal_embeddings(self.rule).map_err(|why| why.to_string())?;
        self.steps += game.spent() - before;
        self.used += usize::from(!found.is_empty());
        let parts = &game.arena().rule(self.rule).parts;
        for (part, was_true) in parts.iter().zip(&mut self.was_true).filter(|(_, known)| !**known) {
            let variables: Vec<_> = part.formula.free_variables().into_iter().collect();
            // A condition with too many assignments is not reported.
            *was_true = !found.is_empty()
                || position
                    .satisfying(&part.formula, &variables)
                    .map_or(true, |rows| !rows.is_empty());
        }
        Ok(())
    }

    fn finish(self, game: &Game) -> RuleProfile {
        let rule = game.arena().rule(self.rule);
        let source = &game.arena().sheet().source;
        let mut never_true: Vec<(usize, String)> = Vec::new();
        for (part, _) in rule.parts.iter().zip(&self.was_true).filter(|(_, known)| !**known) {
            let found = (source.place(part.span.start()).line, source.slice(part.span).to_owned());
            if !never_true.contains(&found) {
                never_true.push(found);
            }
        }
        RuleProfile {
            line: source.place(rule.span.start()).line,
            head: rule.name.clone(),
            steps: self.steps,
            used: self.used,
            is_measured: true,
            never_true,
            ..RuleProfile::default()
        }
    }
}
