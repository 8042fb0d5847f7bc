//! Text of the translated game.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use agon_datalog::TermId;

use super::arena::{Arena, Payoff, number};
use super::cases::Change;
use super::formula::{Form, Relation, Val, Var, and, ex};
use super::lift::Table;
use super::names::Names;
use super::sample_evaluator::order;
use super::{Argument, Construct, RuleMove, ToTossError, Translation};

/// Maximum arity of a relation in the language.
const MAX_WIDTH: usize = 8;

/// Writes a game as text.
pub(super) struct Writer<'a, 'd> {
    arena: &'a mut Arena<'d>,
    relations: Names,
    /// Names of relations.
    called: BTreeMap<Relation, String>,
    /// Tables with constants in some columns: the table of the remaining columns.
    selected: BTreeMap<(usize, Vec<Option<TermId>>), usize>,
    /// The tables with a single term.
    singles: BTreeMap<TermId, usize>,
    used_tables: BTreeSet<usize>,
    used_fluents: BTreeSet<usize>,
    elements: BTreeMap<TermId, String>,
    /// Whether payoffs read numbers from elements.
    reads_numbers: bool,
}

/// Writes the game as text, with the GDL moves that its moves stand for.
pub(super) fn write(arena: &mut Arena<'_>, max_bytes: usize) -> Result<Translation, ToTossError> {
    let mut writer = Writer {
        arena,
        relations: Names::of_relations(),
        called: BTreeMap::new(),
        selected: BTreeMap::new(),
        singles: BTreeMap::new(),
        used_tables: BTreeSet::new(),
        used_fluents: BTreeSet::new(),
        elements: BTreeMap::new(),
        reads_numbers: false,
    };
    let translation = writer.game()?;
    if translation.text.len() > max_bytes {
        let why = format!("the translation has {} bytes", translation.text.len());
        return Err(ToTossError { construct: Construct::Size, why, line: None });
    }
    Ok(translation)
}

impl Writer<'_, '_> {
    fn game(&mut self) -> Result<Translation, ToTossError> {
        let domain = self.arena.lifter.domain;
        let nature = domain.game.rules().nature();
        let role_text = |role: usize| {
            // Nature has a fixed name in the language, regardless of its spelling in the rulesheet.
            if nature == Some(role) {
                "random".to_owned()
            } else {
                domain.game.text(domain.game.role_terms()[role])
            }
        };
        let mut player_names = Names::of_players();
        let players: Vec<String> =
            (0..domain.moves.len()).map(|role| player_names.name(&role_text(role))).collect();
        self.name_fluents();
        let used = self.arena.used_definitions();
        let ordered: Vec<usize> =
            order(&self.arena.lifter).into_iter().filter(|index| used.contains(index)).collect();
        for &index in &ordered {
            let name = self.relations.name(&self.arena.lifter.defined[index].name);
            self.called.insert(Relation::Defined(index), name);
        }
        let mut text = format!("PLAYERS {}\n", players.join(", "));
        for &index in &ordered {
            self.definition(index, &mut text);
        }
        let mut rule_names = Names::of_rules();
        let mut rules: BTreeMap<String, RuleMove> = BTreeMap::new();
        let mut edges: Vec<Vec<Vec<(String, usize)>>> =
            vec![vec![Vec::new(); players.len()]; self.arena.turns.locations.len()];
        for index in 0..self.arena.translated_rules.len() {
            let (location, target, _) = self.arena.translated_rules[index];
            let (name, made) = self.rule(index, &mut rule_names, &mut text);
            edges[location][made.role].push((name.clone(), target));
            rules.insert(name, made);
        }
        self.check_widths()?;
        let mut locations = String::new();
        for (index, edges) in edges.iter().enumerate() {
            self.location(index, edges, &players, &mut locations)?;
        }
        self.start(&mut text, &locations);
        let start = self.arena.turns.start;
        if start != 0 {
            let _ = writeln!(text, "STATE LOC {}", self.arena.turns.locations[start].name);
        }
        let places: BTreeSet<TermId> =
            self.arena.place_map.places.values().flatten().copied().collect();
        let parts = |term: TermId| -> Vec<String> {
            if places.contains(&term) {
                domain.bank.arguments(term).map(|part| domain.game.text(part)).collect()
            } else {
                vec![domain.game.text(term)]
            }
        };
        let elements =
            self.elements.iter().map(|(&term, name)| (name.clone(), parts(term))).collect();
        let waiting = self
            .arena
            .turns
            .waiting
            .iter()
            .map(|term| term.map(|term| domain.game.text(term)))
            .collect();
        Ok(Translation { text, rules, elements, waiting })
    }

    /// Returns an error if a relation has too many arguments.
    fn check_widths(&self) -> Result<(), ToTossError> {
        let lifter = &self.arena.lifter;
        let tables = self
            .used_tables
            .iter()
            .map(|&index| (&lifter.tables[index].name, lifter.tables[index].arity));
        let defined = self.arena.used_definitions().into_iter().map(|index| &lifter.defined[index]);
        let defined = defined.map(|defined| (&defined.name, defined.parameters.len()));
        match tables.chain(defined).find(|(_, width)| *width > MAX_WIDTH) {
            Some((name, width)) => {
                let why = format!(
                    "`{name}` would have {width} arguments, and relations have at most {MAX_WIDTH}"
                );
                Err(ToTossError { construct: Construct::Size, why, line: None })
            }
            None => Ok(()),
        }
    }

    fn name_fluents(&mut self) {
        let domain = self.arena.lifter.domain;
        for (index, predicate) in domain.predicates.iter().enumerate() {
            let mut name = self.arena.lifter.symbol_name(predicate.functor.0).to_owned();
            for &value in &predicate.names {
                name.push('_');
                name.push_str(&domain.game.text(value));
            }
            let name = self.relations.name(&name);
            self.called.insert(Relation::Fluent(index), name);
        }
    }

    fn definition(&mut self, index: usize, text: &mut String) {
        let defined = self.arena.lifter.defined[index].clone();
        let body = self.without_constants(&defined.body);
        let mut scope = Scope::default();
        let parameters: Vec<String> =
            defined.parameters.iter().map(|&v| self.variable(v, &mut scope)).collect();
        let parameters = parameters.join(", ");
        let name = self.called[&Relation::Defined(index)].clone();
        let body = self.form(&body, &mut scope, Place::Top);
        if defined.is_recursive {
            let _ =
                writeln!(text, "REL {name}({parameters}) = lfp {name}({parameters}) = ({body})");
        } else {
            let _ = writeln!(text, "REL {name}({parameters}) = {body}");
        }
    }

    fn rule(&mut self, index: usize, names: &mut Names, text: &mut String) -> (String, RuleMove) {
        let domain = self.arena.lifter.domain;
        let translated_rule = self.arena.translated_rules[index].2.clone();
        let condition = self.arena.condition(&translated_rule);
        let mut name = self.arena.lifter.symbol_name(translated_rule.functor.0).to_owned();
        for value in &translated_rule.arguments {
            if let Val::Term(term) = value {
                name.push('_');
                name.push_str(&domain.game.text(*term));
            }
        }
        let name = names.name(&name);
        let mut elements = translated_rule.elements.clone();
        let mut parts = vec![self.without_constants(&condition)];
        let changes =
            self.changes_without_constants(&translated_rule.changes, &mut elements, &mut parts);
        let condition = and(parts);
        let mut scope = Scope::default();
        let listed: Vec<String> = elements.iter().map(|&v| self.variable(v, &mut scope)).collect();
        let condition = self.form(&condition, &mut scope, Place::Top);
        let _ = writeln!(text, "RULE {name}:");
        let _ = writeln!(text, "  {}", format!("ELEMS {}", listed.join(", ")).trim_end());
        let _ = writeln!(text, "  MATCH {condition}");
        if !changes.is_empty() {
            let changes: Vec<String> = changes
                .iter()
                .map(|(holds, predicate, tuple)| {
                    self.used_fluents.insert(*predicate);
                    let tuple: Vec<String> = tuple
                        .iter()
                        .map(|cell| {
                            cell.map_or_else(|| "_".to_owned(), |v| self.variable(v, &mut scope))
                        })
                        .collect();
                    let called = &self.called[&Relation::Fluent(*predicate)];
                    format!("{}{called}({})", if *holds { "" } else { "not " }, tuple.join(", "))
                })
                .collect();
            let _ = writeln!(text, "  RELS {}", changes.join("; "));
        }
        let arguments = translated_rule
            .arguments
            .iter()
            .map(|value| match value {
                Val::Term(term) => Argument::Fixed(domain.game.text(*term)),
                Val::Var(v) => {
                    let (own, coordinate) =
                        translated_rule.coordinates.get(v).copied().unwrap_or((*v, 0));
                    Argument::Element {
                        index: elements.iter().position(|e| *e == own).unwrap_or(0),
                        coordinate,
                    }
                }
            })
            .collect();
        let functor = self.arena.lifter.symbol_name(translated_rule.functor.0).to_owned();
        (name, RuleMove { role: translated_rule.role, functor, arguments })
    }

    /// Replaces the constants in changes by new elements of the embedding. `parts` gets a condition
    /// for each of these elements.
    fn changes_without_constants(
        &mut self,
        changes: &[Change],
        elements: &mut Vec<Var>,
        parts: &mut Vec<Form>,
    ) -> Vec<(bool, usize, Vec<Option<Var>>)> {
        let mut constants: BTreeMap<TermId, Var> = BTreeMap::new();
        let mut variable = |cell: &Val| match cell {
            Val::Var(v) => *v,
            Val::Term(term) => *constants.entry(*term).or_insert_with(|| {
                let text = self.arena.lifter.domain.game.text(*term);
                let fresh = self.arena.lifter.fresh(&text);
                let single = Relation::Static(self.single(*term));
                parts.push(Form::Atom(single, vec![Val::Var(fresh)]));
                elements.push(fresh);
                fresh
            }),
        };
        let mut tuple = |change: &Change| {
            let cells = change.tuple.iter();
            cells.map(|cell| cell.as_ref().map(&mut variable)).collect()
        };
        changes.iter().map(|change| (change.holds, change.predicate, tuple(change))).collect()
    }

    fn location(
        &mut self,
        index: usize,
        edges: &[Vec<(String, usize)>],
        players: &[String],
        text: &mut String,
    ) -> Result<(), ToTossError> {
        let location = self.arena.turns.locations[index].clone();
        let targets: BTreeSet<usize> = edges
            .iter()
            .flatten()
            .map(|(_, target)| *target)
            .filter(|&target| target != usize::MAX)
            .collect();
        if location.active.len() > 1 && targets.len() > 1 {
            let why =
                "several roles act at once, and the next turn depends on their moves".to_owned();
            return Err(ToTossError { construct: Construct::Turns, why, line: None });
        }
        let common = targets.first().copied().unwrap_or(index);
        let _ = writeln!(text, "LOC {} {{", location.name);
        for (role, player) in players.iter().enumerate() {
            let payoff = self.arena.payoffs[index][role].clone();
            let payoff = self.payoff(&payoff);
            let moves: Vec<String> = edges[role]
                .iter()
                .map(|(rule, target)| {
                    let target = if *target == usize::MAX { common } else { *target };
                    format!("[{rule} -> {}]", self.arena.turns.locations[target].name)
                })
                .collect();
            let moves = if moves.is_empty() {
                String::new()
            } else {
                format!(" MOVES {}", moves.join("; "))
            };
            let _ = writeln!(text, "  PLAYER {player} {{ PAYOFF {payoff}{moves} }}");
        }
        let _ = writeln!(text, "}}");
        Ok(())
    }

    fn payoff(&mut self, payoff: &Payoff) -> String {
        let mut sum = Vec::new();
        for (value, form) in &payoff.fixed {
            let form = self.without_constants(form);
            let form = self.form(&form, &mut Scope::default(), Place::Top);
            sum.push(if form == "true" {
                value.to_string()
            } else {
                format!("{value} * :({form})")
            });
        }
        for (v, form) in &payoff.read {
            self.reads_numbers = true;
            let form = self.without_constants(form);
            let mut scope = Scope::default();
            let name = self.variable(*v, &mut scope);
            let form = self.form(&form, &mut scope, Place::Top);
            sum.push(format!("Sum ({name} | {form} : :value({name}))"));
        }
        if sum.is_empty() { "0".to_owned() } else { sum.join(" + ") }
    }

    /// Writes the locations and the initial structure.
    fn start(&mut self, text: &mut String, locations: &str) {
        let domain = self.arena.lifter.domain;
        let mut ordered: Vec<TermId> = self.used_terms().into_iter().collect();
        ordered.sort_by(|&a, &b| domain.game.compare(a, b));
        let mut names = Names::of_elements();
        for &term in &ordered {
            let name = names.name(&domain.game.text(term));
            self.elements.insert(term, name);
        }
        let relations = self.initial_relations();
        let mut functions = String::new();
        if self.reads_numbers {
            let values: Vec<String> = ordered
                .iter()
                .filter_map(|&term| {
                    Some(format!("{} -> {}", self.elements[&term], number(domain, term)?))
                })
                .collect();
            if !values.is_empty() {
                functions = format!("value {{ {} }}", values.join(", "));
            }
        }
        text.push_str(locations);
        let mut elements: Vec<&str> =
            ordered.iter().map(|term| self.elements[term].as_str()).collect();
        if elements.is_empty() {
            // A structure must not be empty.
            elements.push("table");
        }
        let _ = writeln!(
            text,
            "START [ {} |\n  {}\n| {functions} ]",
            elements.join(", "),
            relations.join(";\n  ")
        );
    }

    /// Returns the terms that become elements.
    fn used_terms(&self) -> BTreeSet<TermId> {
        let domain = self.arena.lifter.domain;
        let mut terms: BTreeSet<TermId> = BTreeSet::new();
        for &index in &self.used_fluents {
            terms.extend(
                domain.predicates[index].rows.iter().flat_map(|row| self.arena.row(index, row)),
            );
        }
        for &index in &self.used_tables {
            terms.extend(self.arena.lifter.tables[index].rows.iter().flatten());
        }
        for (_, _, translated_rule) in &self.arena.translated_rules {
            let shape = &domain.moves[translated_rule.role][&translated_rule.functor];
            for (values, argument) in shape.values.iter().zip(&translated_rule.arguments) {
                if let Val::Var(v) = argument
                    && !translated_rule.coordinates.contains_key(v)
                {
                    terms.extend(values);
                }
            }
        }
        terms
    }

    /// Returns the texts of all relations with their initial tuples.
    fn initial_relations(&self) -> Vec<String> {
        let domain = self.arena.lifter.domain;
        let row = |row: &[TermId]| {
            let cells: Vec<&str> = row.iter().map(|term| self.elements[term].as_str()).collect();
            format!("({})", cells.join(", "))
        };
        let mut relations: Vec<String> = Vec::new();
        for &index in &self.used_tables {
            let table = &self.arena.lifter.tables[index];
            let rows: Vec<String> = table.rows.iter().map(|r| row(r)).collect();
            let called = &self.called[&Relation::Static(index)];
            relations.push(listed(called, table.arity, &rows));
        }
        let mut held: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for &term in domain.game.initial_fluents() {
            if let Some((predicate, coordinates)) = domain.place(term)
                && self.used_fluents.contains(&predicate)
            {
                held.entry(predicate)
                    .or_default()
                    .push(row(&self.arena.row(predicate, &coordinates)));
            }
        }
        for &index in &self.used_fluents {
            let arity = domain.predicates[index]
                .rows
                .first()
                .map_or(0, |row| self.arena.row(index, row).len());
            let called = &self.called[&Relation::Fluent(index)];
            relations.push(listed(called, arity, held.get(&index).map_or(&[], Vec::as_slice)));
        }
        relations
    }

    /// Returns the table with a single term.
    fn single(&mut self, term: TermId) -> usize {
        if let Some(&known) = self.singles.get(&term) {
            return known;
        }
        let name = format!("is_{}", self.arena.lifter.term_name(term));
        let rows = BTreeSet::from([vec![term]]);
        let id = self.arena.lifter.add_table(Table { name, arity: 1, rows });
        self.singles.insert(term, id);
        id
    }

    /// Removes terms from atoms, because the language has no constants.
    fn without_constants(&mut self, form: &Form) -> Form {
        match form {
            Form::Atom(Relation::Static(table), arguments)
                if arguments.iter().any(|value| matches!(value, Val::Term(_))) =>
            {
                let pattern: Vec<Option<TermId>> =
                    arguments.iter().map(|value| value.term()).collect();
                let selected = self.select(*table, pattern);
                let left = arguments
                    .iter()
                    .copied()
                    .filter(|value| matches!(value, Val::Var(_)))
                    .collect();
                Form::Atom(Relation::Static(selected), left)
            }
            Form::Atom(relation, arguments)
                if arguments.iter().any(|value| matches!(value, Val::Term(_))) =>
            {
                let mut parts = Vec::new();
                let mut locals = Vec::new();
                let mut values = Vec::new();
                for value in arguments {
                    values.push(match value {
                        Val::Var(_) => *value,
                        Val::Term(term) => {
                            let name = self.arena.lifter.term_name(*term);
                            let fresh = self.arena.lifter.fresh(&name);
                            locals.push(fresh);
                            let single = self.single(*term);
                            parts.push(Form::Atom(Relation::Static(single), vec![Val::Var(fresh)]));
                            Val::Var(fresh)
                        }
                    });
                }
                parts.push(Form::Atom(*relation, values));
                ex(&locals, and(parts))
            }
            Form::Same(Val::Var(v), Val::Term(term)) | Form::Same(Val::Term(term), Val::Var(v)) => {
                let single = self.single(*term);
                Form::Atom(Relation::Static(single), vec![Val::Var(*v)])
            }
            Form::Atom(..) | Form::Same(..) | Form::Before(..) | Form::Foreign => form.clone(),
            Form::Not(inner) => super::formula::not(self.without_constants(inner)),
            Form::And(parts) => {
                and(parts.iter().map(|part| self.without_constants(part)).collect::<Vec<_>>())
            }
            Form::Or(parts) => super::formula::or(
                parts.iter().map(|part| self.without_constants(part)).collect::<Vec<_>>(),
            ),
            Form::Ex(variables, body) => ex(variables, self.without_constants(body)),
        }
    }

    /// Returns the rows of a table with given values in some columns, without these columns.
    fn select(&mut self, table: usize, pattern: Vec<Option<TermId>>) -> usize {
        if let Some(&known) = self.selected.get(&(table, pattern.clone())) {
            return known;
        }
        let whole = &self.arena.lifter.tables[table];
        let fits = |row: &&Vec<TermId>| {
            row.iter().zip(&pattern).all(|(cell, p)| p.is_none_or(|p| p == *cell))
        };
        let left = |row: &Vec<TermId>| {
            row.iter()
                .zip(&pattern)
                .filter(|(_, p)| p.is_none())
                .map(|(cell, _)| *cell)
                .collect::<Vec<TermId>>()
        };
        let rows: BTreeSet<Vec<TermId>> = whole.rows.iter().filter(fits).map(left).collect();
        let mut name = whole.name.clone();
        for value in &pattern {
            name.push('_');
            match value {
                Some(term) => name.push_str(&self.arena.lifter.term_name(*term)),
                None => name.push('x'),
            }
        }
        let arity = pattern.iter().filter(|p| p.is_none()).count();
        let id = self.arena.lifter.add_table(Table { name, arity, rows });
        self.selected.insert((table, pattern), id);
        id
    }

    /// Returns the name of a variable.
    fn variable(&self, v: Var, scope: &mut Scope) -> String {
        if let Some(known) = scope.called.get(&v) {
            return known.clone();
        }
        let name = scope.names.name(&self.arena.lifter.names[v as usize]);
        scope.called.insert(v, name.clone());
        name
    }

    fn form(&mut self, form: &Form, scope: &mut Scope, place: Place) -> String {
        match form {
            Form::Atom(relation, arguments) => {
                if let Relation::Static(table) = relation {
                    self.used_tables.insert(*table);
                    if !self.called.contains_key(relation) {
                        let name = self.relations.name(&self.arena.lifter.tables[*table].name);
                        self.called.insert(*relation, name);
                    }
                }
                if let Relation::Fluent(index) = relation {
                    self.used_fluents.insert(*index);
                }
                let arguments: Vec<String> =
                    arguments.iter().map(|value| self.argument(value, scope)).collect();
                format!("{}({})", self.called[relation], arguments.join(", "))
            }
            Form::Same(a, b) => {
                format!("{} = {}", self.argument(a, scope), self.argument(b, scope))
            }
            Form::Before(a, b) => {
                format!("&{} < &{}", self.argument(a, scope), self.argument(b, scope))
            }
            Form::Foreign => "false".to_owned(),
            Form::Not(inner) => match &**inner {
                Form::Same(a, b) => {
                    format!("{} != {}", self.argument(a, scope), self.argument(b, scope))
                }
                inner => format!("not {}", self.form(inner, scope, Place::Single)),
            },
            Form::And(parts) if parts.is_empty() => "true".to_owned(),
            Form::Or(parts) if parts.is_empty() => "false".to_owned(),
            Form::And(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.form(part, scope, Place::Conjunct)).collect();
                let joined = parts.join(" and ");
                if place == Place::Single { format!("({joined})") } else { joined }
            }
            Form::Or(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.form(part, scope, Place::Top)).collect();
                let joined = parts.join(" or ");
                if place == Place::Top { joined } else { format!("({joined})") }
            }
            Form::Ex(variables, body) => {
                let variables: Vec<String> =
                    variables.iter().map(|&v| self.variable(v, scope)).collect();
                format!("ex {} {}", variables.join(", "), self.form(body, scope, Place::Single))
            }
        }
    }

    fn argument(&self, value: &Val, scope: &mut Scope) -> String {
        match value {
            Val::Var(v) => self.variable(*v, scope),
            Val::Term(term) => self.arena.lifter.term_name(*term),
        }
    }
}

/// Position of a formula, which decides whether it needs parentheses.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    Top,
    Conjunct,
    Single,
}

/// Names of variables in a rule or definition.
#[derive(Default)]
struct Scope {
    names: Names,
    called: BTreeMap<Var, String>,
}

fn listed(name: &str, arity: usize, rows: &[String]) -> String {
    if rows.is_empty() {
        return format!("{name}:{arity} {{}}");
    }
    format!("{name}:{arity} {{{}}}", rows.join("; "))
}
