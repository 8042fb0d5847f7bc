//! Judges that all matches of an opened game share: descriptions can take a second to find, and nothing need be found out twice.

use std::sync::{Arc, Mutex, PoisonError};

use agon_toss::interpreter::Game;

use super::{GoalJudge, GoalOptions, Method, NoTerms, goal_terms};

/// Judges remembered. A tournament has no more under way at the same time.
const MAX_RECENT: usize = 32;

/// Those that were asked for last.
static RECENT: Mutex<Vec<Made>> = Mutex::new(Vec::new());

struct Made {
    game: Arc<Game>,
    method: Method,
    options: GoalOptions,
    judge: Result<GoalJudge, NoTerms>,
}

/// The judge of a game as [`GoalJudge::for_search`] makes it: made once for each opened game, method and options, and copied. Who asks while
/// it is being made waits for it.
///
/// # Errors
/// If no terms can be made, or they cannot be evaluated.
pub fn goal_judge(
    game: &Arc<Game>,
    method: Method,
    options: &GoalOptions,
) -> Result<GoalJudge, NoTerms> {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = recent.iter().position(|made| {
        Arc::ptr_eq(&made.game, game) && made.method == method && made.options == *options
    });
    let made = match known {
        Some(at) => recent.remove(at),
        None => {
            let terms = goal_terms(game.arena(), method, options);
            let judge = terms.and_then(|terms| Ok(GoalJudge::for_search(game, &terms)?));
            Made { game: Arc::clone(game), method, options: options.clone(), judge }
        }
    };
    let judge = made.judge.clone();
    recent.push(made);
    if recent.len() > MAX_RECENT {
        recent.remove(0);
    }
    judge
}
