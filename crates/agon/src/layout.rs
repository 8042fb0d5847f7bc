//! Collects what is known of a game so that its layout can be inferred.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use agon_board::{Evidence, Hints, Layout};
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter as gdl;
use agon_toss::interpreter as toss;

use crate::game::Game;

/// Time for sampling play. Inference itself takes about as long again at most.
const SAMPLING: Duration = Duration::from_millis(700);

/// Maximum number of rows of a static relation that inference looks at.
const MAX_ROWS: usize = 20_000;

/// Infers how states of a game are drawn.
pub(crate) fn find(game: &Game) -> Layout {
    Layout::infer(&evidence(game))
}

/// Infers how states of a GDL game are drawn, from sampled play, the rules, and its circuit if there
/// is one.
pub(crate) fn find_gdl(game: &std::sync::Arc<gdl::Game>, compiled: Option<&Compiled>) -> Layout {
    let table = agon_game::PositionTable::<gdl::Interpreter>::hidden(game.start());
    let mut evidence = Evidence::from_play(&table, SAMPLING);
    add_gdl(&mut evidence, game);
    let text = game.rules().sheet().source.text();
    evidence.hints = Hints::from_header(text).unwrap_or_default();
    if let Some(compiled) = compiled {
        add_circuit(&mut evidence, compiled);
    }
    Layout::infer(&evidence)
}

/// Infers how states of a structure rewriting game are drawn, from sampled play and the rules.
pub(crate) fn find_toss(game: &std::sync::Arc<toss::Game>) -> Layout {
    let table = agon_game::PositionTable::open(game.start());
    let mut evidence = Evidence::from_play(&table, SAMPLING);
    add_toss(&mut evidence, game);
    let text = game.arena().sheet().source.text();
    evidence.hints = Hints::from_header(text).unwrap_or_default();
    Layout::infer(&evidence)
}

/// Returns what is known of a game: sampled play, static facts, the circuit's fluents and moves,
/// drawings in the rules, and hints of the author. Hints that are not understood are ignored.
fn evidence(game: &Game) -> Evidence {
    let mut evidence = Evidence::from_play(game.table().as_ref(), SAMPLING);
    if let Some(rules) = game.gdl() {
        add_gdl(&mut evidence, rules);
    }
    if let Some(rules) = game.toss() {
        add_toss(&mut evidence, rules);
    }
    if let Some(compiled) = game.compiled() {
        add_circuit(&mut evidence, compiled);
    }
    evidence.hints = hints(game).0;
    evidence
}

/// Returns why the hints of the author are ignored, if they are not understood.
pub(crate) fn fault_of_hints(game: &Game) -> Option<String> {
    hints(game).1
}

/// Returns the hints of the file beside the rulesheet, or of its header, and what is not understood.
fn hints(game: &Game) -> (Hints, Option<String>) {
    let path = Path::new(game.name());
    let beside = path.with_extension("board.toml");
    let file = (path.is_file()).then(|| crate::files::read_text(&beside).ok()).flatten();
    let mut fault = None;
    match file.as_deref().map(Hints::from_toml) {
        Some(Ok(hints)) => return (hints, None),
        Some(Err(why)) => fault = Some(format!("{}: {why}", beside.display())),
        None => {}
    }
    let text = match (game.gdl(), game.toss()) {
        (Some(rules), _) => rules.rules().sheet().source.text(),
        (None, Some(rules)) => rules.arena().sheet().source.text(),
        (None, None) => "",
    };
    match Hints::from_header(text) {
        Ok(hints) => (hints, fault),
        Err(why) => (Hints::default(), fault.or(Some(format!("{}: {why}", game.name())))),
    }
}

fn add_circuit(evidence: &mut Evidence, compiled: &Compiled) {
    let circuit = &compiled.circuit;
    evidence.fluents.clone_from(&circuit.base);
    evidence.moves = circuit.roles.iter().flat_map(|role| role.moves.clone()).collect();
}

fn add_gdl(evidence: &mut Evidence, game: &gdl::Game) {
    let symbols = &game.rules().sheet().symbols;
    for ((relation, _), rows) in game.static_rows() {
        if rows.len() > MAX_ROWS {
            continue;
        }
        let name = symbols.name(relation);
        for row in &rows {
            let arguments: Vec<String> = row.iter().map(|&term| game.text(term)).collect();
            evidence.facts.push(format!("({name} {})", arguments.join(" ")));
        }
    }
    game.rules().sheet().source.text().clone_into(&mut evidence.rules);
}

fn add_toss(evidence: &mut Evidence, game: &toss::Game) {
    let arena = game.arena();
    let (start, vocabulary) = (arena.start(), arena.vocabulary());
    for relation in vocabulary.relations().filter(|&relation| !arena.is_fluent(relation)) {
        let name = vocabulary.relation_name(relation);
        for tuple in start.tuples(relation).iter() {
            let names: Vec<&str> = tuple.iter().map(|&element| &**start.name(element)).collect();
            evidence.facts.push(format!("({name} {})", names.join(" ")));
        }
    }
    if let Some(layout) = arena.layout() {
        let row = |row: &Vec<Option<agon_structures::structure::Element>>| {
            row.iter().map(|cell| cell.map(|cell| start.name(cell).to_string())).collect()
        };
        evidence.drawing = layout.rows.iter().map(row).collect();
    }
    if let (Some(x), Some(y)) = (vocabulary.function("x"), vocabulary.function("y")) {
        let ys: BTreeMap<_, _> = start.values(y).iter().copied().collect();
        for (element, value) in start.values(x) {
            if let Some(below) = ys.get(element) {
                // Upwards in a plane is downwards on a screen.
                let place = (value.to_f64(), -below.to_f64());
                evidence.positions.insert(start.name(*element).to_string(), place);
            }
        }
    }
    if arena.is_continuous() {
        let changing = vocabulary.functions().filter(|&f| arena.is_changing_function(f));
        evidence.functions = changing.map(|f| vocabulary.function_name(f).to_string()).collect();
    }
    for location in arena.locations() {
        let roles = location.edges.iter().enumerate();
        let roles = roles.filter(|(_, edges)| !edges.is_empty()).map(|(role, _)| role).collect();
        evidence.movers.insert(format!("(location {})", location.name), roles);
    }
}
