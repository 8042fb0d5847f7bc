//! A position in plain words: its picture, who chooses, and how the game can end within the next
//! steps. Everything said here is certain, because it was played out.

use std::collections::BTreeMap;
use std::time::Instant;

use agon_board::{Layout, TextOptions};
use agon_game::{Notation, Role};
use serde_json::{Value, json};

use super::Section;

/// Maximum number of moves that are named in a sentence.
const N_NAMED: usize = 6;
/// Maximum number of facts of a position without a picture that are listed.
const MAX_FACTS: usize = 12;
/// Maximum number of positions that are played out.
const MAX_POSITIONS: usize = 60_000;
/// Maximum number of joint moves that are played out where several roles choose at once.
const MAX_JOINT: usize = 2_000;

/// Whether players see all of a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// They do.
    Open,
    /// Something is hidden from some player in the course of play.
    OfReferee,
}

/// Describes a position: its picture, whose turn it is, and how the game can end soon. Looking ahead
/// ends at the deadline.
pub(super) fn describe<P: Notation>(
    position: &P,
    layout: &Layout,
    view: View,
    deadline: Option<Instant>,
) -> (Section, Value) {
    let mut lines = picture(position, layout);
    match view {
        View::Open => {}
        View::OfReferee => {
            lines.push("this is what the referee sees; players see less".to_owned());
        }
    }
    lines.extend(turn_lines(position));
    let soon = Soon::of(position, deadline);
    lines.extend(soon.lines(position));
    let value = soon.json(position);
    (Section::new("The position", lines), value)
}

/// Draws a position as text, with the meaning of the letters. Lists the facts if there is nothing
/// to draw.
fn picture<P: Notation>(position: &P, layout: &Layout) -> Vec<String> {
    let facts = position.state_text();
    let scene = layout.scene(&facts);
    if scene.boards.is_empty() && scene.panels.is_empty() {
        return vec![facts_line(&facts)];
    }
    let text = agon_board::text::text(&scene, &TextOptions::default());
    let mut lines: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    if lines.is_empty() {
        return vec![facts_line(&facts)];
    }
    // Pieces of both sides may be drawn with the same letter.
    let mut legend: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let pieces = if position.shape().continuous { Vec::new() } else { layout.legend(&scene) };
    for (glyph, name) in pieces {
        let is_chess_piece = glyph.chars().any(|c| ('\u{2654}'..='\u{265f}').contains(&c));
        if text.contains(glyph.as_str()) && !is_chess_piece && glyph != "●" {
            legend.entry(glyph).or_default().push(name);
        }
    }
    let legend: Vec<String> = legend
        .into_iter()
        .map(|(glyph, names)| format!("{glyph} is {}", joined(&names, "or")))
        .collect();
    if !legend.is_empty() && legend.len() <= 2 * N_NAMED {
        lines.push(legend.join(", "));
    }
    lines
}

fn facts_line(facts: &[String]) -> String {
    let shown = facts.iter().take(MAX_FACTS).cloned().collect::<Vec<_>>().join(" ");
    match facts.len().saturating_sub(MAX_FACTS) {
        0 if facts.is_empty() => "no fact holds".to_owned(),
        0 => shown,
        1 => format!("{shown} and one more fact"),
        more => format!("{shown} and {more} more facts"),
    }
}

/// Says whose turn it is, or how the game has ended.
fn turn_lines<P: Notation>(position: &P) -> Vec<String> {
    let shape = position.shape();
    let name = |role: Role| shape.role_names[role.index()].as_str();
    if let Some(fault) = position.fault() {
        return vec![format!("play cannot go on from here: {fault}")];
    }
    if position.is_terminal() {
        let payoffs = shape.players();
        let payoffs =
            payoffs.map(|role| format!("{} gets {}", name(role), number(position.payoff(role))));
        return vec![format!("the game has ended: {}", listed(&payoffs.collect::<Vec<_>>()))];
    }
    if shape.continuous {
        return Vec::new();
    }
    let choosers: Vec<Role> = position.choosers().collect();
    let moves = |role: Role| position.legal_moves(role).len();
    vec![match choosers.as_slice() {
        [] => "no role has a choice here".to_owned(),
        [role] if shape.nature == Some(*role) => {
            format!("chance decides next: {} outcomes are possible", moves(*role))
        }
        [role] if shape.players().count() == 1 => {
            format!("{} has {} moves", name(*role), moves(*role))
        }
        [role] => format!("it is the turn of {}, which has {} moves", name(*role), moves(*role)),
        several => {
            let each: Vec<String> = several
                .iter()
                .map(|&role| format!("{} ({} moves)", name(role), moves(role)))
                .collect();
            format!("{} choose at the same time", listed(&each))
        }
    }]
}

/// How a step of a role ends the game.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum End {
    /// The role gets more than every other player.
    Won,
    /// Another player gets more than the role.
    Lost,
    /// Neither, or there is only one player.
    Level,
}

/// A move of the only role with a choice, with what follows from it.
struct Candidate {
    text: String,
    /// The payoffs of all players, if the move ends the game.
    payoffs: Option<Vec<f64>>,
    /// How the move ends the game, if it does.
    end: Option<End>,
    /// The role that wins at once after the move, and its winning moves.
    punished: Option<(Role, Vec<String>)>,
    /// Whether the role wins with its next move, whatever the others answer.
    is_forced_win: bool,
}

/// How the game can end within the next steps.
struct Soon {
    /// The moves of the only role with a choice. Empty if there is none.
    role: Option<Role>,
    moves: Vec<Candidate>,
    /// Whether all answers to all moves were looked at.
    are_answers_known: bool,
    /// Whether forced wins were looked for after all moves.
    are_wins_known: bool,
    /// Whether the role and another one choose in turn as far as was looked.
    are_turns_taken: bool,
    /// Where several roles choose: the number of joint moves, and of those that end the game.
    joint: Option<(usize, usize)>,
}

/// The work that may still be done.
struct Work {
    n_left: usize,
    deadline: Option<Instant>,
}

impl Work {
    /// Counts a position. Returns whether it may be played out.
    fn take(&mut self) -> bool {
        let Some(left) = self.n_left.checked_sub(1) else { return false };
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.n_left = 0;
            return false;
        }
        self.n_left = left;
        true
    }
}

impl Soon {
    fn of<P: Notation>(position: &P, deadline: Option<Instant>) -> Soon {
        let mut soon = Soon {
            role: None,
            moves: Vec::new(),
            are_answers_known: false,
            are_wins_known: false,
            are_turns_taken: true,
            joint: None,
        };
        let shape = position.shape();
        if position.is_terminal() || shape.continuous {
            return soon;
        }
        let mut work = Work { n_left: MAX_POSITIONS, deadline };
        let choosers: Vec<Role> = position.choosers().collect();
        match choosers.as_slice() {
            [role] if shape.nature != Some(*role) => soon.look_after(position, *role, &mut work),
            several if several.len() > 1 => soon.joint = endings(position, &mut work),
            _ => {}
        }
        soon
    }

    /// Plays out the moves of the only role with a choice, then the answers, then its next moves.
    fn look_after<P: Notation>(&mut self, position: &P, role: Role, work: &mut Work) {
        self.role = Some(role);
        let mut open: Vec<(usize, P)> = Vec::new();
        for m in position.legal_moves(role) {
            if !work.take() {
                return;
            }
            let after = after(position, &Some((role, m.clone())));
            let is_over = is_over(&after);
            let players = position.shape().players();
            self.moves.push(Candidate {
                text: position.move_text(m),
                payoffs: is_over.then(|| players.map(|player| after.payoff(player)).collect()),
                end: is_over.then(|| end(&after, role)),
                punished: None,
                is_forced_win: false,
            });
            if !after.is_terminal() {
                open.push((self.moves.len() - 1, after));
            }
        }
        let is_alone = position.shape().players().count() == 1;
        if is_alone || self.moves.iter().any(|m| m.end == Some(End::Won)) {
            return;
        }
        for (at, position) in &open {
            let Some(answers) = choices(position, |other| other != role) else {
                self.are_turns_taken = false;
                continue;
            };
            for answer in &answers {
                if !work.take() {
                    return;
                }
                let Some(winner) = winner(&after(position, answer)).filter(|&by| by != role) else {
                    continue;
                };
                let m = match answer {
                    Some((by, m)) if *by == winner => m,
                    _ => &position.legal_moves(winner)[0],
                };
                let punished = &mut self.moves[*at].punished;
                let (_, answers) = punished.get_or_insert_with(|| (winner, Vec::new()));
                answers.push(position.move_text(m));
            }
        }
        self.are_answers_known = true;
        for (at, position) in &open {
            if self.moves[*at].punished.is_some() {
                continue;
            }
            match wins_next(position, role, work) {
                WinsNext::Yes => self.moves[*at].is_forced_win = true,
                WinsNext::No => {}
                WinsNext::Unknown => self.are_turns_taken = false,
                WinsNext::TooMuch => return,
            }
        }
        self.are_wins_known = true;
    }

    fn lines<P: Notation>(&self, position: &P) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((n, n_ends)) = self.joint.filter(|&(_, n_ends)| n_ends > 0) {
            lines.push(match n_ends == n {
                true => "the game ends with this step, whatever they choose".to_owned(),
                false => format!("{n_ends} of the {n} joint moves end the game at once"),
            });
        }
        let Some(role) = self.role else { return lines };
        let name = |role: Role| position.shape().role_names[role.index()].as_str();
        let own = name(role);
        let is_alone = position.shape().players().count() == 1;
        let ends = |wanted: End| -> Vec<String> {
            let found = self.moves.iter().filter(|m| m.end == Some(wanted));
            found.map(|m| m.text.clone()).collect()
        };
        if is_alone {
            lines.extend(self.endings_of_one());
            return lines;
        }
        let won = ends(End::Won);
        if !won.is_empty() {
            lines.push(format!("{own} wins at once with {}", either(&won)));
            return lines;
        }
        for (end, what) in [(End::Level, "without a winner"), (End::Lost, "as a loss")] {
            let texts = ends(end);
            if !texts.is_empty() && texts.len() == position.legal_moves(role).len() {
                lines.push(format!("every move of {own} ends the game {what}"));
            } else if !texts.is_empty() {
                let verb = if texts.len() == 1 { "ends" } else { "end" };
                lines.push(format!("{} {verb} the game at once {what}", several(&texts)));
            }
        }
        lines.extend(self.threat_lines(position, own));
        let forced: Vec<String> =
            self.moves.iter().filter(|m| m.is_forced_win).map(|m| m.text.clone()).collect();
        if !forced.is_empty() {
            lines.push(format!(
                "{own} wins by force with {}: whatever the answer, the move after it wins",
                either(&forced)
            ));
        }
        if !self.are_answers_known {
            lines.push("the time did not suffice to look at all answers to these moves".to_owned());
        } else if lines.is_empty() && self.are_wins_known && self.are_turns_taken {
            let others = position.shape().players().filter(|&other| other != role);
            let other = match others.collect::<Vec<_>>().as_slice() {
                [other] => name(*other),
                _ => "another player",
            };
            lines.push(format!(
                "{own} cannot win within its next two moves by force, and no move lets {other} win \
                 at once"
            ));
        }
        lines
    }

    /// Says which moves of the role let another one win at once.
    fn threat_lines<P: Notation>(&self, position: &P, own: &str) -> Vec<String> {
        let punished: Vec<&Candidate> =
            self.moves.iter().filter(|m| m.punished.is_some()).collect();
        let Some((by, _)) = punished.first().and_then(|m| m.punished.as_ref()) else {
            return Vec::new();
        };
        let name = position.shape().role_names[by.index()].as_str();
        // The answer that punishes most moves is the threat.
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for (_, answers) in punished.iter().filter_map(|m| m.punished.as_ref()) {
            answers.iter().for_each(|answer| *counts.entry(answer).or_default() += 1);
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let threats: Vec<String> =
            counts.iter().filter(|(_, n)| **n == most).map(|(text, _)| (*text).clone()).collect();
        let with = match most == punished.len() {
            true => format!(" with {}", either(&threats)),
            false => String::new(),
        };
        let is_safe = |m: &&Candidate| m.punished.is_none() && m.end != Some(End::Lost);
        let safe: Vec<String> = self.moves.iter().filter(is_safe).map(|m| m.text.clone()).collect();
        let texts: Vec<String> = punished.iter().map(|m| m.text.clone()).collect();
        let verb = if texts.len() == 1 { "lets" } else { "let" };
        let is_one_threat = most == punished.len();
        vec![if !self.are_answers_known || safe.len() > texts.len() {
            format!("{} {verb} {name} win at once{with}", several(&texts))
        } else if safe.is_empty() {
            format!("whatever {own} does, {name} can win at once{with}")
        } else if is_one_threat {
            let verb = if safe.len() == 1 { "prevents" } else { "prevent" };
            format!("{name} threatens to win{with}; only {} {verb} it", several(&safe))
        } else {
            format!("all moves of {own} but {} let {name} win at once", several(&safe))
        }]
    }

    /// Says which moves of a single player end the game, the best first.
    fn endings_of_one(&self) -> Vec<String> {
        let mut by_payoff: Vec<(f64, Vec<String>)> = Vec::new();
        for m in &self.moves {
            let Some(&[payoff]) = m.payoffs.as_deref() else { continue };
            match by_payoff.iter_mut().find(|(known, _)| *known == payoff) {
                Some((_, texts)) => texts.push(m.text.clone()),
                None => by_payoff.push((payoff, vec![m.text.clone()])),
            }
        }
        by_payoff.sort_by(|a, b| b.0.total_cmp(&a.0));
        let line = |(payoff, texts): (f64, Vec<String>)| {
            let verb = if texts.len() == 1 { "ends" } else { "end" };
            format!("{} {verb} the game with {}", several(&texts), number(payoff))
        };
        by_payoff.into_iter().map(line).collect()
    }

    fn json<P: Notation>(&self, position: &P) -> Value {
        let names = &position.shape().role_names;
        let moves = self.moves.iter().map(|m| {
            json!({
                "move": m.text, "payoffs": m.payoffs, "is_forced_win": m.is_forced_win,
                "lost_to": m.punished.as_ref().map(|(role, answers)| {
                    json!({"role": names[role.index()], "moves": answers})
                }),
            })
        });
        json!({
            "role": self.role.map(|role| &names[role.index()]),
            "moves": moves.collect::<Vec<_>>(),
            "answers_known": self.are_answers_known,
            "forced_wins_known": self.are_wins_known,
            "joint_moves": self.joint.map(|(n, n_ends)| json!({"all": n, "ending": n_ends})),
        })
    }
}

/// A step in which at most one role has a choice: that role and its move.
type Choice<M> = Option<(Role, M)>;

/// Returns the possible steps of a position in which at most one role has a choice, and that role
/// is wanted. `None` for other positions.
fn choices<P: Notation>(
    position: &P,
    is_wanted: impl Fn(Role) -> bool,
) -> Option<Vec<Choice<P::Move>>> {
    let choosers: Vec<Role> = position.choosers().collect();
    match choosers.as_slice() {
        [] => Some(vec![None]),
        [role] if is_wanted(*role) && position.shape().nature != Some(*role) => {
            Some(position.legal_moves(*role).iter().map(|m| Some((*role, m.clone()))).collect())
        }
        _ => None,
    }
}

/// Returns the position after a step.
fn after<P: Notation>(position: &P, choice: &Choice<P::Move>) -> P {
    let roles = position.shape().roles();
    let joint: Vec<P::Move> = roles
        .map(|role| match choice {
            Some((chooser, m)) if *chooser == role => m.clone(),
            _ => position.legal_moves(role)[0].clone(),
        })
        .collect();
    let mut after = position.clone();
    after.advance(&joint);
    after
}

/// Returns the player that gets more than every other one, if the game has ended.
fn winner<P: Notation>(position: &P) -> Option<Role> {
    if !is_over(position) {
        return None;
    }
    let players: Vec<Role> = position.shape().players().collect();
    let payoff = |role: Role| position.payoff(role);
    let is_best =
        |role: &Role| players.iter().all(|other| other == role || payoff(*other) < payoff(*role));
    players.iter().copied().filter(|_| players.len() > 1).find(is_best)
}

/// Returns whether the game has ended by its rules.
fn is_over<P: Notation>(position: &P) -> bool {
    position.is_terminal() && position.fault().is_none()
}

/// Returns how the game has ended for a role.
fn end<P: Notation>(position: &P, role: Role) -> End {
    let own = position.payoff(role);
    let mut others = position.shape().players().filter(|&other| other != role);
    if winner(position) == Some(role) {
        End::Won
    } else if others.any(|other| position.payoff(other) > own) {
        End::Lost
    } else {
        End::Level
    }
}

/// Whether a role wins with its next move.
enum WinsNext {
    /// It does, whatever another role answers first.
    Yes,
    /// Some answer prevents it.
    No,
    /// The roles do not take turns here, so it was not looked at.
    Unknown,
    /// The work did not suffice to tell.
    TooMuch,
}

/// Returns whether a role wins with its next move, after any answer of another role.
fn wins_next<P: Notation>(position: &P, role: Role, work: &mut Work) -> WinsNext {
    let Some(answers) = choices(position, |other| other != role) else {
        return WinsNext::Unknown;
    };
    for answer in &answers {
        if !work.take() {
            return WinsNext::TooMuch;
        }
        let then = after(position, answer);
        if then.is_terminal() {
            return WinsNext::No;
        }
        let Some(own) = choices(&then, |other| other == role) else { return WinsNext::Unknown };
        let mut has_win = false;
        for choice in &own {
            if !work.take() {
                return WinsNext::TooMuch;
            }
            has_win = winner(&after(&then, choice)) == Some(role);
            if has_win {
                break;
            }
        }
        if !has_win {
            return WinsNext::No;
        }
    }
    WinsNext::Yes
}

/// Counts the joint moves, and those that end the game. `None` if there are too many.
fn endings<P: Notation>(position: &P, work: &mut Work) -> Option<(usize, usize)> {
    let roles: Vec<Role> = position.shape().roles().collect();
    let counts: Vec<usize> = roles.iter().map(|&role| position.legal_moves(role).len()).collect();
    let n = counts.iter().try_fold(1_usize, |product, &n| product.checked_mul(n))?;
    if n > MAX_JOINT {
        return None;
    }
    let mut n_ends = 0;
    for number in 0..n {
        if !work.take() {
            return None;
        }
        let mut rest = number;
        let mut joint = Vec::new();
        for (&role, &count) in roles.iter().zip(&counts) {
            joint.push(position.legal_moves(role)[rest % count].clone());
            rest /= count;
        }
        let mut after = position.clone();
        after.advance(&joint);
        n_ends += usize::from(is_over(&after));
    }
    Some((n, n_ends))
}

/// Writes a payoff without needless digits.
fn number(payoff: f64) -> String {
    let text = format!("{payoff:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Joins texts with commas and a final "and".
fn listed(texts: &[String]) -> String {
    joined(texts, "and")
}

/// Joins texts with commas and a final "or". A long list is cut short.
fn either(texts: &[String]) -> String {
    match texts.len() {
        n if n <= N_NAMED => joined(texts, "or"),
        n => format!("any of {n} moves, such as {}", joined(&texts[..2], "or")),
    }
}

/// Joins texts as the subject of a sentence. A long list is cut short.
fn several(texts: &[String]) -> String {
    match texts.len() {
        n if n <= N_NAMED => joined(texts, "and"),
        n => format!("{n} moves, such as {},", joined(&texts[..2], "and")),
    }
}

fn joined(texts: &[String], last_word: &str) -> String {
    match texts {
        [first @ .., last] if !first.is_empty() => {
            format!("{} {last_word} {last}", first.join(", "))
        }
        texts => texts.concat(),
    }
}
