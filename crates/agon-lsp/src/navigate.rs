//! Definitions, references, highlights and renaming.

use agon_gdl::read::{LexemeKind, lexemes};
use agon_gdl::syntax::Syntax;
use agon_toss::read::{RESERVED, SECTIONS};
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::index::{Class, Mention};
use crate::snapshot::{Sheet, Snapshot};
use crate::text::Places;

fn location(mention: &Mention, places: Places<'_>, uri: &str) -> Value {
    json!({"uri": uri, "range": places.range(mention.span)})
}

/// Returns where the thing at a byte is defined.
pub(crate) fn definition(snapshot: &Snapshot, places: Places<'_>, uri: &str, byte: usize) -> Value {
    let Some(mention) = snapshot.index.at(byte) else { return Value::Null };
    let found = snapshot.index.definitions(&mention.key);
    found.into_iter().map(|mention| location(mention, places, uri)).collect()
}

/// Returns all places of the thing at a byte, with or without its definitions.
pub(crate) fn references(
    snapshot: &Snapshot,
    places: Places<'_>,
    uri: &str,
    byte: usize,
    with_definitions: bool,
) -> Value {
    let Some(mention) = snapshot.index.at(byte) else { return Value::Null };
    let all = snapshot.index.all(&mention.key);
    let shown = all.filter(|mention| with_definitions || !mention.is_definition);
    shown.map(|mention| location(mention, places, uri)).collect()
}

/// Returns all places of the thing at a byte, as highlights. Definitions count as written.
pub(crate) fn highlights(snapshot: &Snapshot, places: Places<'_>, byte: usize) -> Value {
    let Some(mention) = snapshot.index.at(byte) else { return Value::Null };
    let all = snapshot.index.all(&mention.key);
    all.map(|mention| {
        let kind = if mention.is_definition { 3 } else { 2 };
        json!({"range": places.range(mention.span), "kind": kind})
    })
    .collect()
}

/// Returns the range and text of the name at a byte, if it can be renamed.
pub(crate) fn prepare_rename(snapshot: &Snapshot, places: Places<'_>, byte: usize) -> Value {
    match renamable(snapshot, byte) {
        Ok(mention) => json!({
            "range": places.range(mention.span),
            "placeholder": snapshot.source.slice(mention.span),
        }),
        Err(_) => Value::Null,
    }
}

fn renamable(snapshot: &Snapshot, byte: usize) -> Result<&Mention, String> {
    let mention = snapshot.index.at(byte).ok_or("there is no name here")?;
    match mention.key.class {
        Class::Keyword | Class::Toss(NameKind::BuiltIn) => {
            Err(format!("`{}` is a word of the language", mention.key.name))
        }
        Class::Term if mention.key.name.parse::<i64>().is_ok() => {
            Err("numbers have a meaning as payoffs and in order, so they are not renamed".into())
        }
        Class::Term if mention.key.name.eq_ignore_ascii_case("random") => {
            Err("`random` is the role of nature".into())
        }
        Class::Toss(NameKind::Player) if mention.key.name == "random" => {
            Err("`random` is nature".into())
        }
        Class::Relation | Class::Term | Class::Variable | Class::Toss(_) => Ok(mention),
    }
}

/// Renames the thing at a byte everywhere.
///
/// # Errors
/// A sentence if the name cannot be changed, or the new one is not a name or means something else.
pub(crate) fn rename(
    snapshot: &Snapshot,
    places: Places<'_>,
    uri: &str,
    byte: usize,
    new: &str,
) -> Result<Value, String> {
    let mention = renamable(snapshot, byte)?;
    let new = spelling(snapshot, mention, new)?;
    let is_gdl = matches!(snapshot.sheet, Sheet::Gdl(_));
    let same =
        |a: &str, b: &str| if is_gdl { a.to_lowercase() == b.to_lowercase() } else { a == b };
    let bare = new.trim_start_matches('?');
    let clash = snapshot.index.mentions.iter().find(|other| {
        // Relations and terms of GDL live apart; names of structure rewriting games do not.
        let is_comparable = match (other.key.class, mention.key.class) {
            (Class::Toss(_), Class::Toss(_)) => {
                mention.key.scope.is_none()
                    || other.key.scope.is_none()
                    || other.key.scope == mention.key.scope
            }
            (a, b) => a == b && other.key.scope == mention.key.scope,
        };
        other.key != mention.key && is_comparable && same(&other.key.name, bare)
    });
    if let Some(clash) = clash {
        let line = snapshot.source.line_of(clash.span.start());
        return Err(format!("`{new}` is in use already, in line {line}"));
    }
    let all = snapshot.index.all(&mention.key);
    let edits: Vec<Value> =
        all.map(|mention| json!({"range": places.range(mention.span), "newText": new})).collect();
    Ok(json!({"changes": {uri: edits}}))
}

/// Returns a new name as the language writes it.
fn spelling(snapshot: &Snapshot, mention: &Mention, new: &str) -> Result<String, String> {
    let new = new.trim();
    let Some(sheet) = snapshot.rules() else {
        let is_number = !new.is_empty() && new.bytes().all(|byte| byte.is_ascii_digit());
        let is_location = mention.key.class == Class::Toss(NameKind::Location);
        let is_name = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !RESERVED.contains(&new)
            && !SECTIONS.contains(&new);
        let is_valid = is_name || (is_location && is_number);
        return is_valid.then(|| new.to_owned()).ok_or_else(|| format!("`{new}` is not a name"));
    };
    let is_variable = mention.key.class == Class::Variable;
    let written = match (is_variable, sheet.syntax) {
        (true, Syntax::Kif) if !new.starts_with('?') => format!("?{new}"),
        _ => new.to_owned(),
    };
    let parts = lexemes(&written, sheet.syntax);
    let wanted = if is_variable { LexemeKind::Variable } else { LexemeKind::Name };
    let is_one = matches!(parts.as_slice(), [one] if one.kind == wanted);
    let is_whole = parts.first().is_some_and(|one| one.span.end() == written.len());
    if !is_one || !is_whole || (is_variable && matches!(written.as_str(), "?" | "_")) {
        let what = if is_variable { "variable" } else { "name" };
        return Err(format!("`{new}` is not a {what} in this syntax"));
    }
    if !is_variable && crate::keywords::help(&written, false).is_some() {
        return Err(format!("`{new}` is a word of the language"));
    }
    Ok(written)
}
