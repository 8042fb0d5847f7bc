//! Parses the sections of a game, in both eras of the syntax.

use std::sync::Arc;

use agon_text::{Diagnostic, Source, Span};

use super::cursor::Cursor;
use super::formula::formula;
use super::rule::rule;
use super::structure::structure;
use super::term::term;
use crate::syntax::{
    Draw, Edge, GameSheet, Interval, JointEdge, Location, Multiplicity, Name, NameKind, Payoff,
    PlayerMoves, RelationDefinition, Term,
};

/// Parses all sections.
pub(super) fn sheet(cursor: &mut Cursor<'_>, source: Arc<Source>) -> GameSheet {
    let mut sheet = GameSheet {
        source,
        players: Vec::new(),
        relations: Vec::new(),
        rules: Vec::new(),
        payoffs: Vec::new(),
        locations: Vec::new(),
        model: None,
        start: None,
        data: Vec::new(),
        sections: Vec::new(),
        mentions: Vec::new(),
    };
    while !cursor.is_at_end() {
        let start = cursor.span();
        cursor.section = sheet.sections.len();
        sheet.sections.push(start);
        if !cursor.is_section() {
            cursor.unexpected("a section such as `RULE` or `LOC`");
        } else if section(cursor, &mut sheet).is_some() {
            end_section(cursor, start, &mut sheet);
            continue;
        }
        if !cursor.is_section() || cursor.is_at_end() {
            cursor.skip_to_section();
        }
        end_section(cursor, start, &mut sheet);
    }
    sheet.mentions = std::mem::take(&mut cursor.mentions);
    sheet
}

/// Notes that a section extends to the last token that was read.
fn end_section(cursor: &Cursor<'_>, start: Span, sheet: &mut GameSheet) {
    if let Some(section) = sheet.sections.last_mut() {
        *section = cursor.since(start);
    }
}

fn section(cursor: &mut Cursor<'_>, sheet: &mut GameSheet) -> Option<()> {
    let keyword = cursor.text();
    let start = cursor.skip();
    match keyword {
        "PLAYERS" => {
            if !sheet.players.is_empty() {
                twice(cursor, start, "PLAYERS");
            }
            let first = cursor.mentions.len();
            sheet.players.extend(cursor.names("the name of a player")?);
            cursor.mentions_since(first, NameKind::Player);
            cursor.mentions[first..].iter_mut().for_each(|name| name.is_definition = true);
        }
        "REL" => sheet.relations.push(definition(cursor, start)?),
        "RULE" => sheet.rules.push(rule(cursor, start)?),
        "LOC" => sheet.locations.push(location(cursor, start)?),
        "PAYOFF" => sheet.payoffs.extend(payoffs(cursor)?),
        "MODEL" | "START" => {
            let model = structure(cursor)?;
            if sheet.model.is_some() {
                twice(cursor, start, "MODEL or START");
            }
            sheet.model.get_or_insert(model);
        }
        "STATE" => {
            if !cursor.take_word("LOC") {
                cursor.unexpected("`LOC`");
                return None;
            }
            if sheet.start.is_some() {
                twice(cursor, start, "STATE");
            }
            sheet.start = Some(cursor.name_or_number("the name of a location")?);
            cursor.mention(NameKind::Location);
        }
        "DATA" => data(cursor, sheet)?,
        "TIME" => {
            cursor.unsupported(start, "time");
            return None;
        }
        "HISTORY" => {
            cursor.unsupported(start, "a history of earlier moves");
            return None;
        }
        "PATTERN" => {
            cursor.unsupported(start, "a pattern");
            return None;
        }
        _ => {
            let finding = Diagnostic::error(
                "toss-not-supported",
                start,
                "constants have no section of their own",
            );
            cursor.report(
                finding.hint("define them in the start: `START [ … | … | … | home = a1 ]`"),
            );
            return None;
        }
    }
    Some(())
}

fn twice(cursor: &mut Cursor<'_>, span: Span, what: &str) {
    cursor.report(Diagnostic::error(
        "toss-given-twice",
        span,
        format!("{what} is given a second time"),
    ));
}

fn definition(cursor: &mut Cursor<'_>, start: Span) -> Option<RelationDefinition> {
    let name = cursor.name("the name of a relation")?;
    cursor.definition(NameKind::Relation);
    let parameters = cursor.arguments()?;
    let body = if cursor.take_sign("{") {
        let body = formula(cursor)?;
        cursor.expect("}")?;
        body
    } else {
        cursor.expect("=")?;
        formula(cursor)?
    };
    Some(RelationDefinition { name, parameters, body, span: cursor.since(start) })
}

fn location(cursor: &mut Cursor<'_>, start: Span) -> Option<Location> {
    let name = cursor.name_or_number("the number or name of a location")?;
    cursor.definition(NameKind::Location);
    let mut location =
        Location { name, payoffs: Vec::new(), moves: Vec::new(), joint: Vec::new(), span: start };
    cursor.expect("{")?;
    let mut mover: Option<Name> = None;
    while !cursor.is_sign("}") {
        let keyword = cursor.span();
        if cursor.take_word("PLAYER") {
            let player = cursor.name_or_number("the name of a player")?;
            cursor.mention(NameKind::Player);
            if cursor.is_sign("{") {
                player_block(cursor, player, &mut location)?;
            } else {
                mover = Some(player);
            }
        } else if cursor.take_word("PAYOFF") {
            location.payoffs.extend(payoffs(cursor)?);
        } else if cursor.take_word("MOVES") {
            let edges = edges(cursor)?;
            let Some(player) = mover.clone() else {
                let finding =
                    Diagnostic::error("toss-unexpected", keyword, "these moves have no player");
                cursor.report(finding.hint("write `PLAYER name` before `MOVES`"));
                continue;
            };
            location.moves.push(PlayerMoves { player, edges });
        } else if cursor.take_word("EDGES") {
            location.joint.extend(joint_edges(cursor)?);
        } else if cursor.is_section() || cursor.is_at_end() {
            cursor.unexpected("`}` at the end of the location");
            return None;
        } else if ["UNIVERSAL", "VIEW", "HEUR"].iter().any(|word| cursor.is_word(word)) {
            cursor.unsupported(keyword, "this part of a location");
            return None;
        } else {
            cursor.unexpected("`PLAYER`, `PAYOFF`, `MOVES`, `EDGES` or `}`");
            return None;
        }
    }
    cursor.skip();
    location.span = cursor.since(start);
    Some(location)
}

/// Parses `PLAYER name { PAYOFF term MOVES [..] }`.
fn player_block(cursor: &mut Cursor<'_>, player: Name, location: &mut Location) -> Option<()> {
    cursor.expect("{")?;
    while !cursor.take_sign("}") {
        if cursor.take_word("PAYOFF") {
            let value = term(cursor)?;
            location.payoffs.push(Payoff { player: player.clone(), value });
        } else if cursor.take_word("MOVES") {
            let edges = edges(cursor)?;
            location.moves.push(PlayerMoves { player: player.clone(), edges });
        } else {
            cursor.unexpected("`PAYOFF`, `MOVES` or `}`");
            return None;
        }
    }
    Some(())
}

/// Parses `{ X: term; O: term }`.
fn payoffs(cursor: &mut Cursor<'_>) -> Option<Vec<Payoff>> {
    cursor.expect("{")?;
    let mut payoffs = Vec::new();
    while !cursor.is_sign("}") {
        let player = cursor.name_or_number("the name of a player")?;
        cursor.mention(NameKind::Player);
        cursor.expect(":")?;
        payoffs.push(Payoff { player, value: term(cursor)? });
        if !cursor.take_sign(";") && !cursor.take_sign(",") {
            break;
        }
    }
    cursor.expect("}")?;
    Some(payoffs)
}

/// Parses `[Rule -> 1]; [Rule, t: 0 -- 1 -> 2 : 1/3]`.
fn edges(cursor: &mut Cursor<'_>) -> Option<Vec<Edge>> {
    let mut edges = Vec::new();
    while cursor.is_sign("[") {
        edges.push(edge(cursor)?);
        let _ = cursor.take_sign(";") || cursor.take_sign(",");
    }
    Some(edges)
}

fn edge(cursor: &mut Cursor<'_>) -> Option<Edge> {
    let start = cursor.skip();
    let rule = cursor.name("the name of a rule")?;
    cursor.mention(NameKind::Rule);
    let multiplicity = if cursor.take_sign("*") {
        Multiplicity::Some
    } else if cursor.take_word("inf") {
        Multiplicity::All
    } else {
        // One embedding may be written out, as in the paper.
        cursor.take_one();
        Multiplicity::One
    };
    let label = if cursor.take_word("as") { Some(cursor.name("a label")?) } else { None };
    if label.is_some() {
        cursor.definition(NameKind::Label);
    }
    let (mut intervals, mut draws) = (Vec::new(), Vec::new());
    while cursor.take_sign(",") {
        let name = cursor.name("a parameter")?;
        cursor.mention(NameKind::Parameter);
        if cursor.take_sign("~") {
            draws.push(draw(cursor, name)?);
            continue;
        }
        const INTERVAL: &str = "write `name: low -- high`, or `name ~ N(mean, deviation)`";
        cursor.expect_or(":", INTERVAL)?;
        let low = interval_end(cursor)?;
        let high = if cursor.take_sign("--") { interval_end(cursor)? } else { low.clone() };
        intervals.push(Interval { parameter: name, low, high });
    }
    let target = if cursor.take_sign("->") {
        Some(cursor.name_or_number("the name of a location")?)
    } else {
        None
    };
    if target.is_some() {
        cursor.mention(NameKind::Location);
    }
    let probability = if cursor.take_sign(":") { Some(term(cursor)?) } else { None };
    if target.is_none() && probability.is_some() && cursor.is_sign("->") {
        const AFTER: &str = "the probability comes after the location: `[Rule -> location : 1/2]`";
        cursor.unexpected_with("`]`", AFTER);
        return None;
    }
    if target.is_none() && !cursor.is_sign("]") {
        cursor.unexpected_with(
            "`->`, `,` or `]`",
            "write `[Rule -> location]`, `[Rule *, t: 0 -- 1, p: -1 -- 1 -> location : 1/2]`; after \
             the rule comes nothing for one embedding, `*` for a set of them, `inf` for all",
        );
        return None;
    }
    cursor.expect("]")?;
    let span = cursor.since(start);
    Some(Edge { rule, label, multiplicity, intervals, draws, target, probability, span })
}

/// Parses an end of an interval: a term in which random numbers need no colon.
fn interval_end(cursor: &mut Cursor<'_>) -> Option<Term> {
    cursor.takes_bare_numbers = true;
    let end = term(cursor);
    cursor.takes_bare_numbers = false;
    end
}

/// Parses `N(mu, sigma)` after `x ~`.
fn draw(cursor: &mut Cursor<'_>, name: Name) -> Option<Draw> {
    let distribution = cursor.name("a distribution: `N`, `U` or `E`")?;
    cursor.mention(NameKind::BuiltIn);
    cursor.expect("(")?;
    let mut arguments = vec![term(cursor)?];
    while cursor.take_sign(",") {
        arguments.push(term(cursor)?);
    }
    cursor.expect(")")?;
    let span = cursor.since(name.span);
    Some(Draw { name, distribution, arguments, span })
}

/// Parses `[A, B -> 1]; [A, _, x ~ E(2) -> 2 : 1/3]`.
fn joint_edges(cursor: &mut Cursor<'_>) -> Option<Vec<JointEdge>> {
    let mut edges = Vec::new();
    while cursor.is_sign("[") {
        let start = cursor.skip();
        let (mut labels, mut draws) = (Vec::new(), Vec::new());
        loop {
            let name = cursor.name_or_number("a rule, a label or `_`")?;
            if cursor.take_sign("~") {
                cursor.mention(NameKind::Parameter);
                draws.push(draw(cursor, name)?);
            } else {
                cursor.mention(NameKind::Label);
                labels.push(name);
            }
            if !cursor.take_sign(",") {
                break;
            }
        }
        cursor.expect("->")?;
        let target = cursor.name_or_number("the name of a location")?;
        cursor.mention(NameKind::Location);
        let probability = if cursor.take_sign(":") { Some(term(cursor)?) } else { None };
        cursor.expect("]")?;
        edges.push(JointEdge { labels, draws, target, probability, span: cursor.since(start) });
        let _ = cursor.take_sign(";") || cursor.take_sign(",");
    }
    if edges.is_empty() {
        cursor.unexpected("`[`");
        return None;
    }
    Some(edges)
}

/// Parses `key: value, key: value`. A value extends to the next comma.
fn data(cursor: &mut Cursor<'_>, sheet: &mut GameSheet) -> Option<()> {
    loop {
        let key = cursor.name("a key")?;
        cursor.definition(NameKind::Key);
        cursor.expect(":")?;
        let start = cursor.span();
        while !cursor.is_sign(",") && !cursor.is_section() && !cursor.is_at_end() {
            cursor.skip();
        }
        let value = cursor.source().slice(cursor.since(start)).to_owned();
        sheet.data.push((key, value));
        if !cursor.take_sign(",") {
            return Some(());
        }
    }
}
