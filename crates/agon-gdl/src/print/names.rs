//! Variables of KIF as infix writes them.

use std::collections::BTreeMap;

use crate::read::words::{infix_word, is_infix_letter, is_infix_variable};
use crate::syntax::Variable;

/// Returns a name for each variable. No two are equal, in any capitalisation.
pub(super) fn infix_variables(variables: &[Variable]) -> Vec<String> {
    // By the name in lower case: the number to append if the name is needed again.
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = Vec::with_capacity(variables.len());
    for variable in variables {
        let wanted = infix_variable(&variable.name);
        let mut name = wanted.clone();
        while taken.contains_key(&name.to_lowercase()) {
            let number = taken.entry(wanted.to_lowercase()).or_insert(2);
            name = format!("{wanted}_{number}");
            *number += 1;
        }
        taken.insert(name.to_lowercase(), 2);
        names.push(name);
    }
    names
}

/// Converts a name: `n` becomes `N`, `n++` becomes `N_plus_plus`, `1` becomes `V1`.
fn infix_variable(name: &str) -> String {
    let mut plain = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        // Letters, and a `-` between letters.
        let length = infix_word(rest);
        if length > 0 && (is_infix_letter(c) || !plain.is_empty()) {
            // A word may contain `.` only if it is a number.
            plain.push_str(&rest[..length].replace('.', "_"));
            rest = &rest[length..];
            continue;
        }
        plain.push_str(match c {
            '+' => "_plus",
            '-' => "_minus",
            '*' => "_star",
            '\'' => "_prime",
            _ => "_",
        });
        rest = &rest[c.len_utf8()..];
    }
    let first = plain.chars().next().unwrap_or(' ');
    let mut upper = first.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) if upper.is_uppercase() => {
            plain.replace_range(..first.len_utf8(), upper.encode_utf8(&mut [0; 4]));
        }
        // Each bare `_` would be a different variable.
        _ if !is_infix_variable(&plain) || plain == "_" => plain.insert(0, 'V'),
        _ => {}
    }
    debug_assert!(
        is_infix_variable(&plain) && infix_word(&plain) == plain.len(),
        "{name} becomes {plain}"
    );
    plain
}
