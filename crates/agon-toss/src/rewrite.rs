//! Rules applied to structures: definition 2 of the paper, and what follows from it where the universe stays.

use std::fmt;

use agon_structures::structure::{Element, RelationId, Structure};

use crate::arena::{AddedTuple, DeletePattern, Effect, Rewrite};

/// What a rule may make of a structure at most.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Elements.
    pub elements: usize,
    /// Tuples of one relation: a copied element copies all tuples it is in.
    pub tuples: usize,
}

/// A rule makes more of a structure than it may.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// More elements than so many.
    Elements(usize),
    /// More tuples than so many in one relation.
    Tuples(usize),
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMuch::Elements(limit) => write!(f, "the structure grows beyond {limit} elements"),
            TooMuch::Tuples(limit) => write!(f, "a relation grows beyond {limit} tuples"),
        }
    }
}

impl std::error::Error for TooMuch {}

/// What comes of a rule applied to a match: the new structure, and the elements that the post-condition speaks of.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The structure afterwards.
    pub structure: Structure,
    /// The elements of the match in their order if the universe stays, else those of the right side.
    pub elements: Vec<Element>,
}

/// Applies an effect to a match, which names living elements of the structure.
///
/// # Errors
/// If the structure would grow beyond `growth`.
pub fn apply(
    effect: &Effect,
    structure: &Structure,
    matched: &[Element],
    growth: Growth,
) -> Result<Applied, TooMuch> {
    match effect {
        Effect::Tuples { delete, add } => {
            let mut structure = structure.clone();
            delete_all(&mut structure, delete, matched);
            add_all(&mut structure, add, matched);
            Ok(Applied { structure, elements: matched.to_vec() })
        }
        Effect::Rewrite(rewrite) => apply_rewrite(rewrite, structure, matched, growth),
    }
}

/// Deletes the tuples that fit a pattern.
pub fn delete_all(structure: &mut Structure, delete: &[DeletePattern], matched: &[Element]) {
    for pattern in delete {
        if pattern.arguments.iter().all(Option::is_some) {
            let tuple: Vec<Element> =
                pattern.arguments.iter().flatten().map(|&index| matched[index]).collect();
            structure.remove(pattern.relation, &tuple);
            continue;
        }
        let fits = |tuple: &&[Element]| {
            pattern
                .arguments
                .iter()
                .zip(*tuple)
                .all(|(argument, element)| argument.is_none_or(|i| matched[i] == *element))
        };
        let found: Vec<Vec<Element>> = structure
            .tuples(pattern.relation)
            .iter()
            .filter(fits)
            .map(<[Element]>::to_vec)
            .collect();
        for tuple in found {
            structure.remove(pattern.relation, &tuple);
        }
    }
}

/// Adds tuples among the elements of a match.
pub fn add_all(structure: &mut Structure, add: &[AddedTuple], matched: &[Element]) {
    for tuple in add {
        let elements: Vec<Element> = tuple.arguments.iter().map(|&index| matched[index]).collect();
        structure
            .add(tuple.relation, &elements)
            .expect("a match names living elements, and arities were checked");
    }
}

/// Definition 2. One element of the right side that replaces an element keeps its id and its name, so that most of a structure
/// stays as it is; what comes is the same up to names.
fn apply_rewrite(
    rewrite: &Rewrite,
    old: &Structure,
    matched: &[Element],
    growth: Growth,
) -> Result<Applied, TooMuch> {
    let mut new = old.clone();
    let n_gone = (0..matched.len()).filter(|l| !rewrite.map.contains(&Some(*l))).count();
    let n_new = rewrite.keeps.iter().filter(|keeps| !**keeps).count();
    if old.n_elements() + n_new > growth.elements + n_gone {
        return Err(TooMuch::Elements(growth.elements));
    }
    let vocabulary = old.vocabulary().clone();
    // Everything that a matched element is in goes, and what is inherited comes back.
    for relation in vocabulary.relations() {
        for tuple in old.tuples(relation).touching(matched) {
            new.remove(relation, &tuple);
        }
    }
    for (l, &element) in matched.iter().enumerate() {
        if !rewrite.map.contains(&Some(l)) {
            new.delete(element).expect("a match names living elements");
        }
    }
    let mut right: Vec<Element> = Vec::with_capacity(rewrite.map.len());
    for (r, variable) in rewrite.right.iter().enumerate() {
        right.push(match rewrite.map[r] {
            Some(l) if rewrite.keeps[r] => matched[l],
            copied => {
                let made = new
                    .create_numbered(variable.name())
                    .map_err(|_| TooMuch::Elements(growth.elements))?;
                if let Some(l) = copied {
                    for function in vocabulary.functions() {
                        let value = old.value(function, matched[l]);
                        new.set_value(function, made, value).expect("the element was just made");
                    }
                }
                made
            }
        });
    }
    for relation in vocabulary.relations() {
        inherit(rewrite, relation, old, &mut new, matched, &right, growth)?;
    }
    for tuple in &rewrite.tuples {
        let elements: Vec<Element> = tuple.arguments.iter().map(|&r| right[r]).collect();
        new.add(tuple.relation, &elements)
            .expect("the right side names living elements, and arities were checked");
    }
    Ok(Applied { structure: new, elements: right })
}

/// The second case of definition 2: what replaces a matched element has its tuples; of embedded relations only those with an
/// element that was not matched.
fn inherit(
    rewrite: &Rewrite,
    relation: RelationId,
    old: &Structure,
    new: &mut Structure,
    matched: &[Element],
    right: &[Element],
    growth: Growth,
) -> Result<(), TooMuch> {
    let is_embedded = rewrite.embedded.contains(&relation);
    for tuple in old.tuples(relation).touching(matched) {
        if is_embedded && tuple.iter().all(|element| matched.contains(element)) {
            continue;
        }
        // All ways to replace each matched element by one of those that replace it.
        let mut ways: Vec<Vec<Element>> = vec![Vec::with_capacity(tuple.len())];
        for &element in &tuple {
            let choices: Vec<Element> = match matched.iter().position(|&m| m == element) {
                None => vec![element],
                Some(l) => (0..right.len())
                    .filter(|&r| rewrite.map[r] == Some(l))
                    .map(|r| right[r])
                    .collect(),
            };
            if ways.len() * choices.len() > growth.tuples {
                return Err(TooMuch::Tuples(growth.tuples));
            }
            ways = ways
                .into_iter()
                .flat_map(|way| {
                    choices.iter().map(move |&choice| [way.as_slice(), &[choice]].concat())
                })
                .collect();
        }
        for way in ways {
            new.add(relation, &way).expect("replacements live, and arities are kept");
        }
        if new.tuples(relation).len() > growth.tuples {
            return Err(TooMuch::Tuples(growth.tuples));
        }
    }
    Ok(())
}
