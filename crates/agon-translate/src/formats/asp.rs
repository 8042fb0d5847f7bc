//! Exports a rulesheet as a logic program for answer set solvers such as clingo. Each answer set is
//! one play.
//!
//! Following Thielscher, "Answer Set Programming for Single-Player Games in General Game Playing"
//! (ICLP 2009), every relation that depends on the state gets the step as an additional last
//! argument: `true(F,T)`, `does(R,M,T)`, `legal(R,M,T)`, `terminal(T)`, `goal(R,V,T)`. All other
//! relations are left unchanged. `next` at a step is `true` at the following one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;

use agon_datalog::Symbol;
use agon_gdl::check::CheckedRules;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

/// A rule that an answer set solver would reject, because no positive condition binds one of its
/// variables. Agon itself can play some of these rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsafeRule {
    /// Line of the rule, starting at 1.
    pub line: usize,
    /// Name of the unbound variable.
    pub variable: String,
}

impl fmt::Display for UnsafeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: no positive condition binds `?{}`, as answer set solvers require",
            self.line, self.variable
        )
    }
}

impl std::error::Error for UnsafeRule {}

/// Writes the rules as a logic program.
///
/// Plays have at most `horizon` steps. The solver option `-c horizon=N` changes the number.
///
/// # Errors
/// Returns the first rule with an unbound variable.
pub fn program(rules: &CheckedRules, horizon: usize) -> Result<String, UnsafeRule> {
    let writer = Writer::new(rules);
    let mut text = format!(
        "% {} as a logic program: each answer set is a play.\n\
         % clingo FILE 1                one play\n\
         % clingo FILE 0 -c horizon=3   all plays of three steps\n\
         #const horizon={horizon}.\n\n\
         now(0).\n\
         now(T+1) :- now(T), not terminal(T), T < horizon.\n\
         1 {{ does(R,M,T) : legal(R,M,T) }} 1 :- role(R), now(T), now(T+1).\n\
         ended :- now(T), terminal(T).\n\
         result(R,V) :- now(T), terminal(T), goal(R,V,T).\n",
        rules.sheet().source.name().replace('\n', " ")
    );
    if let Some(&role) = rules.roles().first() {
        let _ = writeln!(
            text,
            "% Remove the first sign of a line to ask for it: that play ends, that it ends well.\n\
             %:- not ended.\n%:- not result({},100).",
            writer.word(role)
        );
    }
    text.push_str("#show does/3.\n#show result/2.\n\n");
    for rule in rules.rules() {
        text.push_str(&writer.rule(rule)?);
    }
    Ok(text)
}

/// Relations that always take a step argument, even if no rule makes them depend on the state.
const TIMED: [Symbol; 7] = [
    keyword::TRUE,
    keyword::DOES,
    keyword::NEXT,
    keyword::LEGAL,
    keyword::GOAL,
    keyword::TERMINAL,
    keyword::SEES,
];

/// Relation names that the generated program uses itself. Relations of the rules are renamed if
/// they clash.
const RESERVED: [&str; 3] = ["now", "ended", "result"];

struct Writer<'a> {
    rules: &'a CheckedRules,
    timed: BTreeSet<Symbol>,
    relations: BTreeMap<Symbol, String>,
    words: BTreeMap<Symbol, String>,
}

impl<'a> Writer<'a> {
    fn new(rules: &'a CheckedRules) -> Writer<'a> {
        let symbols = &rules.sheet().symbols;
        let (mut relations, mut words) = (BTreeMap::new(), BTreeMap::new());
        let mut taken_relations: BTreeSet<String> = RESERVED.map(str::to_owned).into();
        let mut taken_words = BTreeSet::new();
        for (symbol, name) in symbols.all() {
            relations.insert(symbol, unique(&identifier(name), &mut taken_relations));
            words.insert(symbol, unique(&identifier(name), &mut taken_words));
        }
        Writer { rules, timed: timed(rules.rules()), relations, words }
    }

    fn rule(&self, rule: &Rule) -> Result<String, UnsafeRule> {
        let names = self.variables(rule);
        let is_timed = self.timed.contains(&rule.head.relation);
        let head = match (rule.head.relation, rule.head.arguments.as_slice()) {
            (keyword::INIT, [fluent]) => format!("true({},0)", self.term(fluent, &names)),
            (keyword::NEXT, [fluent]) => format!("true({},T+1)", self.term(fluent, &names)),
            _ => self.atom(&rule.head, &names),
        };
        let mut body: Vec<String> = Vec::new();
        if is_timed {
            body.push("now(T)".to_owned());
        }
        if rule.head.relation == keyword::NEXT {
            body.push("now(T+1)".to_owned());
        }
        let bound = rule.bound_variables();
        let mut used = vec![false; bound.len()];
        rule.head.each_variable(&mut |v| used[v as usize] = true);
        for condition in &rule.body {
            condition.each_variable(&mut |v| used[v as usize] = true);
            body.push(match condition {
                Condition::Holds(atom) => self.atom(atom, &names),
                Condition::Fails(atom) => format!("not {}", self.atom(atom, &names)),
                Condition::Differ(a, b, _) => {
                    format!("{} != {}", self.term(a, &names), self.term(b, &names))
                }
            });
        }
        if let Some(v) = (0..bound.len()).find(|&v| used[v] && !bound[v]) {
            let sheet = self.rules.sheet();
            let clause = &sheet.clauses[rule.clause];
            let line = sheet.source.place(clause.span.start()).line;
            let variable =
                clause.variables.get(v).map_or_else(String::new, |variable| variable.name.clone());
            return Err(UnsafeRule { line, variable });
        }
        Ok(if body.is_empty() {
            format!("{head}.\n")
        } else {
            format!("{head} :- {}.\n", body.join(", "))
        })
    }

    fn atom(&self, atom: &RuleAtom, names: &[String]) -> String {
        let mut arguments: Vec<String> =
            atom.arguments.iter().map(|argument| self.term(argument, names)).collect();
        let name =
            if atom.relation == keyword::INIT { "true" } else { &self.relations[&atom.relation] };
        if atom.relation == keyword::INIT {
            arguments.push("0".to_owned());
        } else if self.timed.contains(&atom.relation) {
            arguments.push("T".to_owned());
        }
        if arguments.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", arguments.join(","))
        }
    }

    fn term(&self, term: &RuleTerm, names: &[String]) -> String {
        match term {
            RuleTerm::Variable(v) => names[*v as usize].clone(),
            RuleTerm::Function(symbol, arguments) if arguments.is_empty() => self.word(*symbol),
            RuleTerm::Function(symbol, arguments) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|argument| self.term(argument, names)).collect();
                format!("{}({})", self.words[symbol], arguments.join(","))
            }
        }
    }

    /// Writes a constant. Numbers stay numbers.
    fn word(&self, symbol: Symbol) -> String {
        let name = self.rules.sheet().symbols.name(symbol);
        // Solvers use 32-bit numbers, and read `007` as three numbers.
        match name.parse::<i32>() {
            Ok(number) if number.to_string() == name => name.to_owned(),
            _ => self.words[&symbol].clone(),
        }
    }

    /// Returns one name for each variable of a rule. `T` is reserved for the step.
    fn variables(&self, rule: &Rule) -> Vec<String> {
        let clause = &self.rules.sheet().clauses[rule.clause];
        let mut taken = BTreeSet::from(["T".to_owned()]);
        (0..rule.n_variables as usize)
            .map(|v| {
                let name = clause.variables.get(v).map_or("v", |variable| variable.name.as_str());
                let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
                let first = plain.chars().next().filter(char::is_ascii_alphabetic);
                let wish = match first {
                    Some(first) => format!("{}{}", first.to_ascii_uppercase(), &plain[1..]),
                    None => format!("V{plain}"),
                };
                unique(&wish, &mut taken)
            })
            .collect()
    }
}

/// Returns the relations that depend on the state or the moves.
fn timed(rules: &[Rule]) -> BTreeSet<Symbol> {
    let mut timed: BTreeSet<Symbol> = TIMED.into();
    loop {
        let n_before = timed.len();
        for rule in rules {
            let depends = |condition: &Condition| {
                condition.atom().is_some_and(|atom| timed.contains(&atom.relation))
            };
            if rule.head.relation != keyword::INIT && rule.body.iter().any(depends) {
                timed.insert(rule.head.relation);
            }
        }
        if timed.len() == n_before {
            return timed;
        }
    }
}

/// Turns a name into a valid identifier of solvers: lower-case letters, digits and `_`, starting
/// with a letter.
fn identifier(name: &str) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if plain.starts_with(|c: char| c.is_ascii_lowercase()) { plain } else { format!("n_{plain}") }
}

fn unique(wish: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = wish.to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wish}_{number}");
        number += 1;
    }
    name
}
