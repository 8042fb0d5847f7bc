//! What is known of the name under the cursor.

use std::fmt::Write as _;

use agon_datalog::{Level, Symbol};
use agon_gdl::check::{ArgumentPlace, NameAndArity};
use agon_gdl::symbols::{Symbols, keyword};
use agon_text::Span;
use agon_text::profile::{Profile, RuleProfile};
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::index::{Class, Mention};
use crate::keywords::help;
use crate::slow::{Facts, RewrittenRelation};
use crate::snapshot::{Snapshot, WordKind};
use crate::text::Places;

/// Maximum number of names of a domain that are shown.
const MAX_SHOWN: usize = 16;

/// Returns what is known of the word at a byte.
pub(crate) fn hover(
    snapshot: &Snapshot,
    facts: Option<&Facts>,
    places: Places<'_>,
    byte: usize,
) -> Value {
    let Some((span, text)) = text_at(snapshot, facts, byte) else { return Value::Null };
    json!({"contents": {"kind": "markdown", "value": text}, "range": places.range(span)})
}

fn text_at(snapshot: &Snapshot, facts: Option<&Facts>, byte: usize) -> Option<(Span, String)> {
    if let Some(mention) = snapshot.index.at(byte) {
        let text = Describe { snapshot, facts }.mention(mention)?;
        return Some((mention.span, text));
    }
    let word = snapshot.word_at(byte)?;
    if matches!(word.kind, WordKind::Comment | WordKind::Text) {
        return None;
    }
    let shown = snapshot.source.slice(word.span);
    Some((word.span, help_text(shown, snapshot.rules().is_none())?))
}

fn help_text(word: &str, is_toss: bool) -> Option<String> {
    let help = help(word, is_toss)?;
    let fence = if is_toss { "toss" } else { "kif" };
    Some(format!("```{fence}\n{}\n```\n{}\n", help.form, help.text))
}

struct Describe<'a> {
    snapshot: &'a Snapshot,
    facts: Option<&'a Facts>,
}

impl Describe<'_> {
    fn mention(&self, mention: &Mention) -> Option<String> {
        match mention.key.class {
            Class::Keyword => self.keyword(mention),
            Class::Relation => self.relation(mention),
            Class::Term => self.term(mention),
            Class::Variable => self.variable(mention),
            Class::Toss(kind) => Some(self.toss(mention, kind)),
        }
    }

    fn symbols(&self) -> Option<&Symbols> {
        self.snapshot.rules().map(|sheet| &sheet.symbols)
    }

    fn keyword(&self, mention: &Mention) -> Option<String> {
        let mut text = help_text(&mention.key.name, false)?;
        let symbol = mention.symbol?;
        self.domains(symbol, mention.arity, ArgumentPlace::Relation, &mut text);
        let titles: &[&str] = match symbol {
            keyword::TERMINAL => &["length"],
            keyword::GOAL => &["payoffs"],
            keyword::LEGAL | keyword::DOES => &["turns", "once"],
            keyword::ROLE => &["turns", "payoffs", "symmetry"],
            keyword::TRUE | keyword::NEXT | keyword::INIT => &["mode", "persistence", "parts"],
            _ => &[],
        };
        self.properties(titles, &mut text);
        self.cost(&mention.key.name, mention.arity, &mut text);
        Some(text)
    }

    fn relation(&self, mention: &Mention) -> Option<String> {
        let symbol = mention.symbol?;
        let mut text = format!("**{}**/{}", mention.key.name, mention.arity);
        let about = self.facts.and_then(|facts| {
            facts.relations.iter().find(|relation| {
                relation.arity == mention.arity
                    && relation.name.eq_ignore_ascii_case(&mention.key.name)
            })
        });
        if let Some(relation) = about {
            let level = match relation.level {
                Level::Static => "never changes",
                Level::State => "depends on the state",
                Level::Move => "depends on the moves",
            };
            let _ = write!(
                text,
                ": {level}; {}, {}",
                count(relation.n_facts, "fact"),
                count(relation.n_rules, "rule")
            );
        } else {
            let heads = self.snapshot.index.all(&mention.key);
            let n_heads = heads.filter(|m| m.is_definition && m.arity == mention.arity).count();
            let _ = write!(text, ": {}", count(n_heads, "clause"));
        }
        text.push_str("\n\n");
        self.domains(symbol, mention.arity, ArgumentPlace::Relation, &mut text);
        self.relation_properties(&mention.key.name, &mut text);
        self.cost(&mention.key.name, mention.arity, &mut text);
        Some(text)
    }

    fn term(&self, mention: &Mention) -> Option<String> {
        let symbol = mention.symbol?;
        let name = &mention.key.name;
        let mut text = match mention.arity {
            0 => format!("constant **{name}**\n\n"),
            n => format!("term **{name}**/{n}\n\n"),
        };
        if symbol == keyword::RANDOM {
            text.push_str(&help_text("random", false)?);
        }
        self.domains(symbol, mention.arity, ArgumentPlace::Function, &mut text);
        let modes = self.facts.and_then(|facts| facts.modes.get(&name.to_lowercase()));
        for mode in modes.into_iter().flatten() {
            let _ = writeln!(text, "- mode {mode}");
        }
        self.relation_properties(name, &mut text);
        let places = self.snapshot.index.all(&mention.key).count();
        let _ = writeln!(text, "- {} in the rules", count(places, "place"));
        Some(text)
    }

    fn variable(&self, mention: &Mention) -> Option<String> {
        let shown = self.snapshot.source.slice(mention.span);
        let mut text = format!("variable **{shown}**");
        let values = mention
            .clause
            .zip(mention.variable)
            .and_then(|(clause, variable)| self.snapshot.domains()?.variable(clause, variable));
        match values {
            Some(values) if values.is_empty() => {
                text.push_str(": no value is possible, so the rule never applies");
            }
            Some(values) => {
                let _ = write!(text, " ∈ {}", self.set(&values)?);
            }
            None => {}
        }
        text.push('\n');
        Some(text)
    }

    /// Adds the possible names at each argument.
    fn domains(
        &self,
        symbol: Symbol,
        arity: usize,
        place: fn(Symbol, usize, usize) -> ArgumentPlace,
        text: &mut String,
    ) {
        let Some(domains) = self.snapshot.domains() else { return };
        for position in 0..arity {
            let names = domains.at(place(symbol, arity, position));
            let shown = match &names {
                None => "anything".to_owned(),
                Some(names) if names.is_empty() => "nothing".to_owned(),
                Some(names) => self.set(names).unwrap_or_default(),
            };
            let _ = writeln!(text, "- argument {}: {shown}", position + 1);
        }
        text.push('\n');
    }

    /// Shows a set of names. Whole numbers without gaps are shown as a range.
    fn set(&self, names: &[NameAndArity]) -> Option<String> {
        let symbols = self.symbols()?;
        let mut numbers: Vec<i64> = Vec::new();
        let mut words: Vec<String> = Vec::new();
        for &(symbol, arity) in names {
            let name = symbols.name(symbol);
            match (name.parse(), arity) {
                (Ok(number), 0) => numbers.push(number),
                (_, 0) => words.push(format!("`{name}`")),
                _ => words.push(format!("`{name}`/{arity}")),
            }
        }
        numbers.sort_unstable();
        let n_all = numbers.len() + words.len();
        let mut shown: Vec<String> = Vec::new();
        match (numbers.first(), numbers.last()) {
            (Some(first), Some(last))
                if numbers.len() > 2 && last.abs_diff(*first) as usize == numbers.len() - 1 =>
            {
                shown.push(format!("`{first}`…`{last}`"));
            }
            _ => shown.extend(numbers.iter().take(MAX_SHOWN).map(|number| format!("`{number}`"))),
        }
        let n_more = words.len().saturating_sub(MAX_SHOWN);
        shown.extend(words.into_iter().take(MAX_SHOWN));
        let more = if n_more > 0 || shown.len() + n_more < n_all && numbers.len() > MAX_SHOWN {
            format!(", … ({n_all} in all)")
        } else {
            String::new()
        };
        Some(format!("{{{}{more}}}", shown.join(", ")))
    }

    /// Adds the cost of all rules of a relation: in the circuit, and in random play.
    fn cost(&self, name: &str, arity: usize, text: &mut String) {
        let Some(facts) = self.facts else { return };
        let key = (name.to_lowercase(), arity);
        if let Some(cost) = facts.relation_costs.get(&key).filter(|cost| cost.instances > 0) {
            let all: usize = facts.relation_costs.values().map(|cost| cost.conditions).sum();
            let share = 100.0 * cost.conditions as f64 / all.max(1) as f64;
            let _ = writeln!(
                text,
                "- cost: {} with {} ({share:.0} % of all)",
                count(cost.instances, "ground instance"),
                count(cost.conditions, "condition"),
            );
        }
        if let Some(profile) = &facts.profile {
            let is_own = |line: usize| self.defines(line, name, arity);
            let own = profile.rules.iter().filter(|rule| rule.is_measured && is_own(rule.line));
            let (n_rules, steps) = own.fold((0, 0), |(n, sum), rule| (n + 1, sum + rule.steps));
            if n_rules > 0 {
                let share = 100.0 * steps as f64 / profile.steps().max(1) as f64;
                let _ = writeln!(
                    text,
                    "- cost in the interpreter: {share:.0} % of all steps in {}",
                    count(profile.plays, "random play")
                );
            }
        }
    }

    /// Returns whether a rule of the relation starts at a line.
    fn defines(&self, line: usize, name: &str, arity: usize) -> bool {
        self.snapshot.rules().is_some_and(|sheet| {
            sheet.clauses.iter().any(|clause| {
                clause.head.arguments.len() == arity
                    && sheet.source.line_of(clause.span.start()) == line
                    && sheet.symbols.name(clause.head.relation).eq_ignore_ascii_case(name)
            })
        })
    }

    /// Adds the proved properties with one of the titles.
    fn properties(&self, titles: &[&str], text: &mut String) {
        let Some(facts) = self.facts else { return };
        let wanted = |title: &str| titles.iter().any(|wanted| title.contains(wanted));
        for (title, line) in facts.properties.iter().filter(|(title, _)| wanted(title)) {
            let _ = writeln!(text, "- {title}: {line}");
        }
    }

    /// Adds the properties whose sentences name a relation or fluent.
    fn relation_properties(&self, name: &str, text: &mut String) {
        let Some(facts) = self.facts else { return };
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        for (title, line) in facts.properties.iter().filter(|(title, _)| !title.contains("mode")) {
            if line.split(|c: char| !is_part(c)).any(|word| word.eq_ignore_ascii_case(name)) {
                let _ = writeln!(text, "- {title}: {line}");
            }
        }
    }

    fn toss(&self, mention: &Mention, kind: NameKind) -> String {
        let name = &mention.key.name;
        let what = match kind {
            NameKind::Player => "player",
            NameKind::Relation => "relation",
            NameKind::Rule => "rule",
            NameKind::Location => "location",
            NameKind::Function => "function",
            NameKind::BuiltIn => "built-in function",
            NameKind::Variable => "variable or element",
            NameKind::Number => "number",
            NameKind::Label => "label",
            NameKind::Parameter => "parameter",
            NameKind::Constant => "constant",
            NameKind::Key => "key",
        };
        let about = self.facts.and_then(|facts| facts.rewritten.get(name));
        let about = about.filter(|_| kind == NameKind::Relation);
        let arity = about.map_or_else(String::new, |about| format!("/{}", about.arity));
        let mut text = format!("{what} **{name}**{arity}\n\n");
        let index = &self.snapshot.index;
        for definition in index.all(&mention.key).filter(|m| m.is_definition).take(1) {
            let clauses = self.snapshot.clauses();
            let section = clauses.iter().find(|span| {
                span.start() <= definition.span.start() && definition.span.end() <= span.end()
            });
            let is_own = matches!(kind, NameKind::Relation | NameKind::Rule | NameKind::Location);
            if let Some(section) = section.filter(|_| is_own) {
                let lines: Vec<&str> = self.snapshot.source.slice(*section).lines().collect();
                let shown = lines[..lines.len().min(6)].join("\n");
                let _ = write!(text, "```toss\n{shown}\n```\n");
            }
        }
        if let Some(about) = about {
            rewritten(about, &mut text);
        }
        if let Some(n_moves) = self.facts.and_then(|facts| facts.moves.get(name)) {
            let _ = writeln!(text, "- cost: {} in the circuit", count(*n_moves, "move"));
        }
        if let Some(profile) = self.facts.and_then(|facts| facts.profile.as_deref())
            && let Some(rule) = profile.rules.iter().find(|rule| rule.head == *name)
            && kind == NameKind::Rule
        {
            let _ = writeln!(text, "- {}", measured(rule, profile));
        }
        let _ = writeln!(text, "- {} in the game", count(index.all(&mention.key).count(), "place"));
        text
    }
}

/// Adds what is known of a relation of a structure rewriting game that is not defined.
fn rewritten(about: &RewrittenRelation, text: &mut String) {
    let _ = writeln!(text, "- {} at the start", count(about.n_tuples, "tuple"));
    for (place, elements) in about.elements.iter().enumerate() {
        let shown: Vec<String> =
            elements.iter().take(MAX_SHOWN).map(|name| format!("`{name}`")).collect();
        let more = match elements.len() > MAX_SHOWN {
            true => format!(", … ({} in all)", elements.len()),
            false => String::new(),
        };
        let _ = writeln!(text, "- argument {}: {{{}{more}}}", place + 1, shown.join(", "));
    }
    let _ = match (about.is_fluent, about.changed_by.as_slice()) {
        (false, _) => writeln!(text, "- never changes"),
        (true, []) => writeln!(text, "- changes with the elements"),
        (true, rules) => writeln!(text, "- changed by {}", rules.join(", ")),
    };
}

/// Describes what a rule costs in random play.
pub(crate) fn measured(rule: &RuleProfile, profile: &Profile) -> String {
    let share = 100.0 * rule.steps as f64 / profile.steps().max(1) as f64;
    let used = match rule.used {
        0 => "never used".to_owned(),
        n => format!("used at {:.0} %", 100.0 * n as f64 / profile.states.max(1) as f64),
    };
    let (plays, states) = (count(profile.plays, "random play"), count(profile.states, "state"));
    format!("{share:.1} % of the interpreter's steps; {used} of {states} in {plays}")
}

pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
