//! The evaluation by fuzzy logic in words: the condition of each goal with its degree of truth, what
//! holds of it and what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::fuzzy::{leaf_text, line_of};
use super::{abbreviated, listed};
use crate::fuzzy::{ComparisonSide, FuzzyEvaluation, FuzzyEvaluator, Node, NodeId, TargetDistance};

/// Maximum number of levels below the condition of a goal that are shown.
const MAX_DEPTH: usize = 4;

/// Maximum number of parts that are named of a condition without room for its parts.
const N_SUMMARISED: usize = 3;

/// Maximum number of characters of a part that is named there. Several longer ones in one line
/// cannot be read.
const MAX_SUMMARISED: usize = 60;

/// Number of parts shown of those that have the same degree.
const N_ALIKE: usize = 2;

/// Describes the evaluation in words, with an indented line for each part. Of many alternatives at
/// most `n_shown` are shown, those with the highest degrees in the state of the evaluator first.
pub fn evaluation_text(
    fuzzy: &FuzzyEvaluation,
    mut evaluator: Option<&mut FuzzyEvaluator>,
    n_shown: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(fuzzy.unfinished.as_ref().map(|unfinished| {
        let limit = if unfinished.is_time { "time ran out" } else { "the limit was reached" };
        let goals = unfinished.goals.iter();
        let goals =
            goals.map(|&(role, goal)| format!("{} {goal}", fuzzy.game.shape().role_names[role]));
        let goals: Vec<String> = goals.collect();
        format!(
            "{limit} before all conditions were taken apart; left whole, at least in part: the \
             goals {}",
            abbreviated(&goals, n_shown)
        )
    }));
    let mut printed = BTreeSet::new();
    let mut known_goals: BTreeMap<NodeId, (usize, i64)> = BTreeMap::new();
    for (role, goals) in fuzzy.goals.iter().enumerate().filter(|(_, goals)| !goals.is_empty()) {
        let name = &fuzzy.game.shape().role_names[role];
        let value = evaluator
            .as_mut()
            .map(|evaluator| format!(": estimated payoff {:.2}", evaluator.value(role)));
        lines.push(format!("{name}{}", value.unwrap_or_default()));
        if let Some(sentence) = goals_of_single_facts(fuzzy, evaluator.as_deref(), goals) {
            lines.push(sentence);
            continue;
        }
        // The best goal, the worst, then what lies between: draws often only negate both.
        let (best, rest) = goals.split_last().expect("roles without goals are left out");
        let ordered = std::iter::once(best).chain(rest.first()).chain(rest.iter().skip(1).rev());
        for (at, &(goal, root)) in ordered.enumerate() {
            let mut printer = TreePrinter {
                fuzzy,
                n_shown,
                evaluator: evaluator.as_deref_mut(),
                printed: &mut printed,
                lines: &mut lines,
                n_left: match at {
                    0 => 2 * n_shown,
                    1 => n_shown,
                    _ => n_shown / 2,
                },
            };
            let start = format!("  goal {goal}");
            let same = same_condition(fuzzy, root, &known_goals, role)
                .or_else(|| rest_condition(fuzzy, root, &known_goals, role));
            match same {
                Some(same) => {
                    let truth = printer.truth(root);
                    lines.push(format!("{start} {truth}{same}"));
                }
                None => printer.print(root, &start, 0, None),
            }
            known_goals.entry(root).or_insert((role, goal));
        }
    }
    lines
}

/// Describes the condition of a goal by that of another goal: the same, or the contrary. `None` if
/// there is no such goal among those that were described.
fn same_condition(
    fuzzy: &FuzzyEvaluation,
    root: NodeId,
    known: &BTreeMap<NodeId, (usize, i64)>,
    role: usize,
) -> Option<String> {
    let named = |&(of, goal): &(usize, i64)| match of == role {
        true => format!("goal {goal}"),
        false => format!("goal {goal} of {}", fuzzy.game.shape().role_names[of]),
    };
    if let Some(other) = known.get(&root) {
        return Some(format!("under the condition of {}", named(other)));
    }
    let contrary = match fuzzy.tree.get(root) {
        Node::Not(child) => known.get(child),
        _ => known.iter().find_map(|(id, goal)| match fuzzy.tree.get(*id) {
            Node::Not(child) if *child == root => Some(goal),
            _ => None,
        }),
    };
    contrary.map(|other| format!("if the condition of {} does not hold", named(other)))
}

/// Describes the condition of a goal by several other goals that were described, if it says that
/// none of their conditions holds. `None` if it says something else.
fn rest_condition(
    fuzzy: &FuzzyEvaluation,
    root: NodeId,
    known: &BTreeMap<NodeId, (usize, i64)>,
    role: usize,
) -> Option<String> {
    let negated: Vec<NodeId> = match fuzzy.tree.get(root) {
        Node::Not(child) => vec![*child],
        Node::And(children) => {
            let inner = children.iter().map(|&child| match fuzzy.tree.get(child) {
                Node::Not(inner) => Some(*inner),
                _ => None,
            });
            inner.collect::<Option<_>>()?
        }
        _ => return None,
    };
    let excluded: BTreeSet<NodeId> =
        negated.into_iter().flat_map(|id| alternatives(fuzzy, id)).collect();
    let mut covered = BTreeSet::new();
    let mut goals = Vec::new();
    for (&id, &(of, goal)) in known {
        let own = alternatives(fuzzy, id);
        if of == role && own.is_subset(&excluded) {
            covered.extend(own);
            goals.push(goal);
        }
    }
    if covered != excluded || goals.len() < 2 {
        return None;
    }
    goals.sort_unstable_by(|a, b| b.cmp(a));
    Some(match goals.as_slice() {
        [a, b] => format!("if neither the condition of goal {a} nor that of goal {b} holds"),
        goals => {
            let goals: Vec<String> = goals.iter().map(i64::to_string).collect();
            format!("if none of the conditions of the goals {} holds", listed(&goals))
        }
    })
}

/// Returns the parts of which at least one must hold for a node to hold.
fn alternatives(fuzzy: &FuzzyEvaluation, id: NodeId) -> BTreeSet<NodeId> {
    match fuzzy.tree.get(id) {
        Node::Or(children) => {
            children.iter().flat_map(|&child| alternatives(fuzzy, child)).collect()
        }
        _ => BTreeSet::from([id]),
    }
}

/// Describes goals that are facts of their own, such as scores, in one sentence. Returns `None` if
/// the conditions of the goals are not that simple.
fn goals_of_single_facts(
    fuzzy: &FuzzyEvaluation,
    evaluator: Option<&FuzzyEvaluator>,
    goals: &[(i64, NodeId)],
) -> Option<String> {
    let facts = goals.iter().rev().map(|&(goal, root)| match fuzzy.tree.get(root) {
        Node::Fluent(fluent) if !fuzzy.target_distances.contains_key(&root) => {
            Some((goal, *fluent as usize))
        }
        _ => None,
    });
    let facts: Vec<(i64, usize)> = facts.collect::<Option<_>>()?;
    if facts.len() < 3 {
        return None;
    }
    let listed: Vec<String> = facts
        .iter()
        .map(|&(goal, fluent)| format!("{goal} if {}", fuzzy.fluent_text(fluent)))
        .collect();
    let now = evaluator.and_then(|e| facts.iter().find(|&&(_, fluent)| e.holds(fluent)));
    let now = now.map_or_else(String::new, |&(goal, fluent)| {
        format!("; now {} holds, which is goal {goal}", fuzzy.fluent_text(fluent))
    });
    Some(format!("  each goal depends on one fact: {}{now}", abbreviated(&listed, 4)))
}

/// Returns a condition without the word `true`, which every fact of a state has in the rules.
fn plain(text: &str) -> String {
    const OPENING: &str = "(true ";
    let mut text = text.to_owned();
    while let Some(start) = text.find(OPENING) {
        let inside = &text[start + OPENING.len()..];
        let mut depth = 1;
        let end = inside.char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((end, _)) = end else { break };
        text = format!("{}{}{}", &text[..start], &inside[..end], &inside[end + 1..]);
    }
    text
}

/// Describes how a leaf is valued. Empty if there is nothing to add.
fn remark(fuzzy: &FuzzyEvaluation, id: NodeId, evaluator: Option<&mut FuzzyEvaluator>) -> String {
    if let Some(target) = fuzzy.target_distances.get(&id) {
        return distance_remark(fuzzy, id, target, evaluator.as_deref());
    }
    match fuzzy.tree.get(id) {
        Node::Fluent(fluent) => {
            let holds = evaluator.as_ref().map(|evaluator| evaluator.holds(*fluent as usize));
            let lasting = match fuzzy.persistence(*fluent as usize) {
                (true, true) => "never changes",
                (true, false) if holds != Some(false) => "stays true once it holds",
                (false, true) if holds != Some(true) => "stays false once it does not hold",
                _ => "",
            };
            let now = match holds {
                Some(true) => "holds",
                Some(false) => "does not hold",
                None => "",
            };
            let parts = [now, lasting].into_iter().filter(|text| !text.is_empty());
            parts.collect::<Vec<_>>().join("; ")
        }
        Node::Pattern(number) => {
            let n = fuzzy.patterns[*number as usize].fluents.len();
            match evaluator.and_then(|evaluator| evaluator.solutions(id)) {
                Some(0) if n == 1 => "does not hold".to_owned(),
                Some(_) if n == 1 => "holds".to_owned(),
                Some(0) => format!("none of {n} such facts holds yet"),
                Some(1) => format!("one of {n} such facts holds"),
                Some(found) => format!("{found} of {n} such facts hold"),
                None => format!("counts how many of {n} such facts hold"),
            }
        }
        Node::Query(number) => {
            let most = fuzzy.queries[*number as usize].n_instances;
            match (evaluator.and_then(|evaluator| evaluator.solutions(id)), most) {
                (Some(0), _) => "does not hold".to_owned(),
                (Some(_), Some(1)) | (Some(1), None) => "holds".to_owned(),
                (Some(found), Some(most)) => format!("holds in {found} of {most} possible ways"),
                (Some(found), None) => format!("holds in {found} ways"),
                (None, Some(most)) => format!("counts in how many of {most} ways it holds"),
                (None, None) => "counts in how many ways it holds".to_owned(),
            }
        }
        Node::Order(number) => {
            let order = &fuzzy.orders[*number as usize];
            let name = fuzzy.game.rules().sheet().symbols.name(order.relation);
            let is_constant = |side: &ComparisonSide| match side {
                ComparisonSide::Constant(_) => true,
                ComparisonSide::Fluents(_) => false,
            };
            let between = match order.sides.iter().any(is_constant) {
                true => "the value is from the constant",
                false => "one value is from the other",
            };
            format!("counts by how far {between} in the order {name}")
        }
        Node::PairDistance(_) => "counts by the distance between the two".to_owned(),
        Node::Constant(_) | Node::Not(_) | Node::And(_) | Node::Or(_) => String::new(),
    }
}

/// Describes a place to be reached: what is nearest to it, and how many steps are left.
fn distance_remark(
    fuzzy: &FuzzyEvaluation,
    id: NodeId,
    target: &TargetDistance,
    evaluator: Option<&FuzzyEvaluator>,
) -> String {
    let arguments: Vec<String> =
        target.arguments.iter().map(|(argument, ..)| (argument + 1).to_string()).collect();
    let plural = if arguments.len() == 1 { "" } else { "s" };
    let by = format!("counts by the distance in argument{plural} {}", listed(&arguments));
    let Some(evaluator) = evaluator else { return by };
    let there = target.fluents.iter().filter(|(fluent, _)| evaluator.holds(*fluent));
    // Of equal distances that of a fact with a path counts: without one it is the largest.
    let steps = |fluent: usize| fuzzy.steps_to(target, fluent).unwrap_or(u32::MAX);
    let nearest = there
        .filter_map(|&(fluent, distance)| Some((distance?, steps(fluent), fluent)))
        .min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let Some((.., fluent)) = nearest else { return format!("{by}; nothing can reach it") };
    let text = fuzzy.fluent_text(fluent);
    match fuzzy.steps_to(target, fluent) {
        Some(0) if matches!(fuzzy.tree.get(id), Node::Fluent(own) if *own as usize == fluent) => {
            "holds".to_owned()
        }
        Some(0) => format!("reached by {text}"),
        Some(1) => format!("{by}; the nearest is {text}, one step away"),
        Some(steps) => format!("{by}; the nearest is {text}, {steps} steps away"),
        // The distance then is as large as any: the fact counts like one that just does not hold.
        None => {
            format!("does not hold; no path in argument{plural} {} leads to it", listed(&arguments))
        }
    }
}

/// Prints a tree, one line for each part.
struct TreePrinter<'a> {
    fuzzy: &'a FuzzyEvaluation,
    n_shown: usize,
    evaluator: Option<&'a mut FuzzyEvaluator>,
    /// The parts printed so far.
    printed: &'a mut BTreeSet<NodeId>,
    lines: &'a mut Vec<String>,
    /// Number of lines that may still be printed for this goal.
    n_left: usize,
}

impl TreePrinter<'_> {
    /// Prints a node and the parts below it. `line` is the line of the rule that the node above
    /// comes from; it is not repeated.
    fn print(&mut self, id: NodeId, start: &str, depth: usize, line: Option<usize>) {
        let fuzzy = self.fuzzy;
        self.n_left = self.n_left.saturating_sub(1);
        let truth = self.truth(id);
        let own_line = fuzzy.tree.origin(id).map(|rule| line_of(&fuzzy.game, rule));
        let mut notes: Vec<String> = Vec::new();
        if let Some(own) = own_line.filter(|_| own_line != line) {
            notes.push(format!("line {own}"));
        }
        // A negation is said of what it negates.
        let (inner, mut is_negated) = match fuzzy.tree.get(id) {
            Node::Not(child) => (*child, true),
            _ => (id, false),
        };
        let mut is_and = matches!(fuzzy.tree.get(inner), Node::And(_));
        let mut children: Vec<NodeId> = match fuzzy.tree.get(inner) {
            Node::And(children) | Node::Or(children) => children.clone(),
            _ => Vec::new(),
        };
        // Not one of many negations holds: all that they negate holds.
        let negated = children.iter().map(|&child| match fuzzy.tree.get(child) {
            Node::Not(inner) => Some(*inner),
            _ => None,
        });
        if let Some(all) = negated.collect::<Option<Vec<NodeId>>>().filter(|all| !all.is_empty()) {
            (children, is_and, is_negated) = (all, !is_and, !is_negated);
        }
        if children.is_empty() {
            let remark = remark(fuzzy, inner, self.evaluator.as_deref_mut());
            let remark = match is_negated {
                true if remark.starts_with("holds") => format!("but it {remark}"),
                true if remark.starts_with("does not hold") => format!("it {remark}"),
                _ => remark,
            };
            notes.splice(0..0, Some(remark).filter(|text| !text.is_empty()));
            let not = if is_negated { "not " } else { "" };
            let text = plain(&leaf_text(fuzzy, inner));
            self.lines.push(format!("{start} {truth}{not}{text}{}", in_brackets(&notes)));
            return;
        }
        let is_known = !self.printed.insert(inner);
        if is_known {
            notes.push("shown above".to_owned());
        }
        let is_plain = |child: &NodeId| {
            matches!(fuzzy.tree.get(*child), Node::Fluent(_))
                && !fuzzy.target_distances.contains_key(child)
        };
        if children.len() <= self.n_shown.max(2) && children.iter().all(is_plain) {
            let described = self.facts(is_and, is_negated, &children);
            self.lines.push(format!("{start} {truth}{described}{}", in_brackets(&notes)));
            return;
        }
        let heading = heading(is_and, is_negated, children.len());
        let is_told = !is_known && !is_and && children.iter().all(|id| self.printed.contains(id));
        if is_told {
            notes.push("all shown above".to_owned());
        }
        let is_end = is_known || is_told || depth >= MAX_DEPTH || self.n_left == 0;
        if is_end && !is_known && !is_told {
            let summary = self.summary(is_and, is_negated, &children);
            self.lines.push(format!("{start} {truth}{summary}{}", in_brackets(&notes)));
            return;
        }
        let colon = if is_end { "" } else { ":" };
        let notes = in_brackets(&notes);
        self.lines.push(format!("{start} {truth}{heading}{notes}{colon}"));
        if !is_end {
            self.print_children(is_and, children, depth, own_line);
        }
    }

    /// Prints the parts of a conjunction in the order of the rules, and those of a disjunction with
    /// the highest degrees first. Of many parts with the same degree a few say it all.
    fn print_children(
        &mut self,
        is_and: bool,
        mut children: Vec<NodeId>,
        depth: usize,
        line: Option<usize>,
    ) {
        let pad = "  ".repeat(depth + 2);
        let mut n_above = 0;
        if !is_and {
            let n_before = children.len();
            children.retain(|child| !self.printed.contains(child));
            n_above = n_before - children.len();
            if let Some(evaluator) = self.evaluator.as_mut() {
                children.sort_by(|&a, &b| evaluator.truth(b).total_cmp(&evaluator.truth(a)));
            }
        }
        let mut n_shown = 0;
        let mut n_rest = 0;
        let degrees: Vec<String> = children.iter().map(|&child| self.truth(child)).collect();
        let mut at = 0;
        while at < children.len() {
            let alike = degrees[at..].iter().take_while(|degree| **degree == degrees[at]).count();
            let is_many = !degrees[at].is_empty() && alike > N_ALIKE + 1;
            let most = if is_many { N_ALIKE } else { alike };
            let n = most.min(self.n_shown - n_shown.min(self.n_shown));
            let n = if self.n_left == 0 { 0 } else { n };
            for &child in &children[at..at + n] {
                self.print(child, &pad, depth + 1, line);
            }
            n_shown += n;
            // What is only counted is not told again.
            self.printed.extend(children[at + n..at + alike].iter().copied());
            match (n, alike - n) {
                (_, 0) => {}
                (0, more) => n_rest += more,
                (_, more) => {
                    let degree = degrees[at].trim();
                    let of = if degree.is_empty() { String::new() } else { format!(" {degree}") };
                    self.lines.push(format!("{pad} … and {more} more like that{of}"));
                }
            }
            at += alike;
        }
        if n_rest > 0 {
            self.lines.push(format!("{pad} … and {n_rest} more"));
        }
        match n_above {
            0 => {}
            1 => self.lines.push(format!("{pad} … and the one shown above")),
            n => self.lines.push(format!("{pad} … and the {n} shown above")),
        }
    }

    /// Names the parts of a condition that are conditions on facts, and counts the others, where
    /// there is no room for a line for each.
    fn summary(&self, is_and: bool, is_negated: bool, children: &[NodeId]) -> String {
        let fuzzy = self.fuzzy;
        let named = |id: NodeId| match fuzzy.tree.get(id) {
            Node::And(_) | Node::Or(_) => None,
            Node::Not(inner) => match fuzzy.tree.get(*inner) {
                Node::And(_) | Node::Or(_) => None,
                _ => Some(format!("not {}", plain(&leaf_text(fuzzy, *inner)))),
            },
            _ => Some(plain(&leaf_text(fuzzy, id))),
        };
        let mut texts: Vec<String> = children.iter().filter_map(|&id| named(id)).collect();
        texts.retain(|text| text.chars().count() <= MAX_SUMMARISED);
        texts.truncate(N_SUMMARISED);
        let n_more = children.len() - texts.len();
        if texts.is_empty() {
            let which = match (is_and, is_negated) {
                (true, false) => "all of",
                (true, true) => "not all of",
                (false, false) => "at least one of",
                (false, true) => "none of",
            };
            return format!("{which} {n_more} conditions that are not listed here");
        }
        if n_more > 0 {
            let plural = if n_more == 1 { "condition" } else { "conditions" };
            texts.push(format!("{n_more} more {plural}"));
        }
        joined(is_and, is_negated, &texts)
    }

    /// Describes a condition on plain facts: what holds, what is missing, and what can never hold
    /// any more.
    fn facts(&self, is_and: bool, is_negated: bool, children: &[NodeId]) -> String {
        let fuzzy = self.fuzzy;
        let texts =
            |of: &[NodeId]| of.iter().map(|&child| leaf_text(fuzzy, child)).collect::<Vec<_>>();
        let condition = joined(is_and, is_negated, &texts(children));
        let Some(evaluator) = self.evaluator.as_deref() else { return condition };
        let fluent = |child: NodeId| match fuzzy.tree.get(child) {
            Node::Fluent(fluent) => *fluent as usize,
            _ => unreachable!("only plain fluents are listed"),
        };
        let (held, missing): (Vec<NodeId>, Vec<NodeId>) =
            children.iter().partition(|&&child| evaluator.holds(fluent(child)));
        let dead = missing.iter().filter_map(|&child| evaluator.obstacle(fluent(child))).next();
        let lost = match dead.filter(|_| is_and && !is_negated) {
            Some(by) => format!("; lost, because {} stays", fuzzy.fluent_text(by)),
            None => String::new(),
        };
        let (held_texts, missing_texts) = (listed(&texts(&held)), listed(&texts(&missing)));
        let verb =
            |n: usize, one: &str, many: &str| if n == 1 { one.to_owned() } else { many.to_owned() };
        match (held.len(), missing.len()) {
            (n, 0) => format!(
                "{condition}: {}",
                verb(n, "it holds", if n == 2 { "both hold" } else { "all hold" })
            ),
            (0, n) => format!(
                "{condition}: {}{lost}",
                verb(n, "it does not hold", if n == 2 { "neither holds" } else { "none holds" })
            ),
            (n, m) if is_and && !is_negated => format!(
                "{held_texts} {}, {missing_texts} {} missing{lost}",
                verb(n, "holds", "hold"),
                verb(m, "is", "are")
            ),
            (1, _) => format!("{condition}: only {held_texts} holds"),
            (_, _) => format!("{condition}: {held_texts} hold"),
        }
    }

    /// Returns the degree of a node in brackets, followed by a blank. Empty without a state.
    fn truth(&mut self, id: NodeId) -> String {
        let truth = self.evaluator.as_mut().map(|evaluator| evaluator.truth(id));
        truth.map_or_else(String::new, |truth| format!("[{}] ", degree(truth)))
    }
}

/// Writes a condition whose parts are short enough for one line.
fn joined(is_and: bool, is_negated: bool, texts: &[String]) -> String {
    let all = listed(texts);
    match (is_and, is_negated, texts) {
        (true, false, _) => all,
        (true, true, [a, b]) => format!("not both {a} and {b}"),
        (true, true, _) => format!("not all of {all}"),
        (false, false, [a, b]) => format!("{a} or {b}"),
        (false, false, _) => format!("one of {all}"),
        (false, true, [a, b]) => format!("neither {a} nor {b}"),
        (false, true, _) => format!("none of {all}"),
    }
}

/// Says how many of the parts that follow must hold.
fn heading(is_and: bool, is_negated: bool, n: usize) -> String {
    match (is_and, is_negated, n) {
        (true, false, 2) => "both of these".to_owned(),
        (true, false, n) => format!("all {n} of these"),
        (true, true, 2) => "not both of these".to_owned(),
        (true, true, n) => format!("not all {n} of these"),
        (false, false, n) => format!("at least one of these {n}"),
        (false, true, 2) => "neither of these".to_owned(),
        (false, true, n) => format!("none of these {n}"),
    }
}

/// Joins remarks and puts them in brackets. Empty if there are none.
fn in_brackets(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) }
}

/// Formats a degree of truth. What is not quite false or true does not look as if it were.
fn degree(truth: f64) -> String {
    match truth {
        0.0 => "0".to_owned(),
        1.0 => "1".to_owned(),
        truth if truth < 0.0005 => "<0.001".to_owned(),
        truth if truth > 0.9995 => ">0.999".to_owned(),
        truth => format!("{truth:.3}"),
    }
}
