//! Builds the structure in which play starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure, Vocabulary};
use agon_text::{Diagnostic, Diagnostics};

use super::flat::FlatStructure;
use super::formulas::number;
use super::signature::{Signature, derivative_name};
use crate::arena::Layout;
use crate::interpreter::MAX_ELEMENTS;
use crate::syntax;

/// Returns the relations, functions and constants of structures.
pub(super) fn vocabulary(signature: &Signature) -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    for name in &signature.order {
        // A name occurs once in the order, so there is no clash.
        let _ = vocabulary.add_relation(name, signature.relations[name].arity);
    }
    for name in &signature.functions {
        vocabulary.add_function(name);
    }
    for name in &signature.constants {
        vocabulary.add_constant(&name.text);
    }
    vocabulary
}

/// Builds the start, and the geometry of its board if it has one.
pub(super) fn start(
    model: &syntax::Structure,
    signature: &Signature,
    vocabulary: &Arc<Vocabulary>,
    findings: &mut Diagnostics,
) -> (Structure, Option<Layout>) {
    let mut structure = Structure::new(Arc::clone(vocabulary));
    for relation in &model.relations {
        if relation.is_optional {
            let what = "a tuple of the start cannot be optional";
            findings.push(Diagnostic::error("toss-optional-on-right", relation.name.span, what));
        }
        if let Some((arity, span)) = relation.arity {
            signature.check_set(&relation.name, arity, span, "in the start", findings);
        }
    }
    let flat = FlatStructure::new(model, findings);
    if flat.elements.len() > MAX_ELEMENTS {
        let what =
            format!("the start has {} elements, more than {MAX_ELEMENTS}", flat.elements.len());
        findings.push(Diagnostic::error("toss-too-large", model.span, what));
        return (structure, None);
    }
    if flat.elements.is_empty() {
        findings.push(Diagnostic::error(
            "toss-empty-start",
            model.span,
            "the start has no elements",
        ));
    }
    let ids = create_elements(&mut structure, &flat, findings);
    for tuple in &flat.tuples {
        let n = tuple.elements.len();
        if !signature.check_set(&tuple.relation, n, tuple.span, "in the start", findings) {
            continue;
        }
        let elements: Option<Vec<Element>> =
            tuple.elements.iter().map(|name| ids.get(name.text.as_str()).copied()).collect();
        if let (Some(relation), Some(elements)) =
            (vocabulary.relation(&tuple.relation.text), elements)
        {
            // The arity was checked, and the elements live.
            let _ = structure.add(relation, &elements);
        }
    }
    set_values(&mut structure, model, &ids, findings);
    let rows = flat.layout.iter().map(|row| {
        let element = |cell: &Option<usize>| {
            cell.and_then(|index| ids.get(flat.elements[index].text.as_str()).copied())
        };
        row.iter().map(element).collect()
    });
    let layout = (!flat.layout.is_empty()).then(|| Layout { rows: rows.collect() });
    (structure, layout)
}

/// Creates the elements of the start and returns their ids by name. Reports names that differ only
/// in capitalisation.
fn create_elements<'f>(
    structure: &mut Structure,
    flat: &'f FlatStructure,
    findings: &mut Diagnostics,
) -> BTreeMap<&'f str, Element> {
    let mut ids: BTreeMap<&str, Element> = BTreeMap::new();
    let mut alike: BTreeMap<String, &str> = BTreeMap::new();
    for name in &flat.elements {
        if let Some(other) = alike.insert(name.text.to_lowercase(), &name.text) {
            let what =
                format!("the elements `{other}` and `{}` differ only in capitalisation", name.text);
            findings.push(
                Diagnostic::error("toss-names-alike", name.span, what)
                    .hint("moves name elements, and their capitalisation is ignored"),
            );
        }
        // Names are different and their number is limited, so `create` does not fail.
        if let Ok(element) = structure.create(Some(&name.text)) {
            ids.insert(&name.text, element);
        }
    }
    ids
}

/// Sets the values of functions and constants in the start.
fn set_values(
    structure: &mut Structure,
    model: &syntax::Structure,
    ids: &BTreeMap<&str, Element>,
    findings: &mut Diagnostics,
) {
    let vocabulary = Arc::clone(structure.vocabulary());
    for function in &model.functions {
        let name = derivative_name(&function.name.text, function.order);
        for (place, (element, value)) in function.values.iter().enumerate() {
            let earlier = &function.values[..place];
            if let Some((first, _)) = earlier.iter().find(|(other, _)| other.text == element.text) {
                let what = format!("the value of `{name}` at `{}` is given twice", element.text);
                findings.push(
                    Diagnostic::error("toss-given-twice", element.span, what)
                        .note(first.span, "first given here"),
                );
            }
            let value = number(value, findings);
            if let (Some(&element), Some(id)) =
                (ids.get(element.text.as_str()), vocabulary.function(&name))
            {
                let _ = structure.set_value(id, element, Some(value));
            }
        }
    }
    // Functions are total: where the start gives no value, it is 0.
    let elements: Vec<Element> = structure.elements().collect();
    for function in vocabulary.functions() {
        for &element in &elements {
            if structure.value(function, element).is_none() {
                let _ = structure.set_value(function, element, Some(Rational::ZERO));
            }
        }
    }
    for (name, element) in &model.constants {
        // Constants that are repeated or name no element have been reported.
        if let (Some(&element), Some(id)) =
            (ids.get(element.text.as_str()), vocabulary.constant(&name.text))
        {
            let _ = structure.set_constant(id, Some(element));
        }
    }
}
