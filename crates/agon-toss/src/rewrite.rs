//! Applies rules to structures, by Definition 2 of Kaiser & Stafiniak 2011. Rules that keep the
//! universe reduce to deleting and adding tuples.

use std::fmt;

use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId, Structure};

use crate::arena::{AddedTuple, DeletePattern, Effect, Rewrite};

/// Limits on the structure that a rule may produce.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GrowthLimits {
    /// Maximum number of elements.
    pub elements: usize,
    /// Maximum number of tuples of one relation. A copied element copies all tuples that contain
    /// it.
    pub tuples: usize,
}

/// The error that a rule produces a structure beyond the limits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrowthError {
    /// The structure exceeds this number of elements.
    Elements(usize),
    /// A relation exceeds this number of tuples.
    Tuples(usize),
}

impl fmt::Display for GrowthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrowthError::Elements(limit) => {
                write!(f, "the structure grows beyond {limit} elements")
            }
            GrowthError::Tuples(limit) => write!(f, "a relation grows beyond {limit} tuples"),
        }
    }
}

impl std::error::Error for GrowthError {}

/// The result of applying a rule.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The new structure.
    pub structure: Structure,
    /// The elements that the post-condition is about: those of the embedding in order if the
    /// universe stays, otherwise those of the right side.
    pub elements: Vec<Element>,
}

/// Applies an effect to an embedding, which must name living elements of the structure.
///
/// # Errors
/// If the structure would exceed the limits.
pub fn apply(
    effect: &Effect,
    structure: &Structure,
    embedding: &[Element],
    limits: GrowthLimits,
) -> Result<Applied, GrowthError> {
    match effect {
        Effect::Tuples { delete, add } => {
            let mut structure = structure.clone();
            delete_all(&mut structure, delete, embedding);
            add_all(&mut structure, add, embedding);
            Ok(Applied { structure, elements: embedding.to_vec() })
        }
        Effect::Rewrite(rewrite) => apply_rewrite(rewrite, structure, embedding, limits),
    }
}

/// Deletes the tuples that match the patterns.
pub(crate) fn delete_all(
    structure: &mut Structure,
    delete: &[DeletePattern],
    embedding: &[Element],
) {
    for pattern in delete {
        if pattern.arguments.iter().all(Option::is_some) {
            let tuple: Vec<Element> =
                pattern.arguments.iter().flatten().map(|&index| embedding[index]).collect();
            structure.remove(pattern.relation, &tuple);
            continue;
        }
        let fits = |tuple: &&[Element]| {
            pattern
                .arguments
                .iter()
                .zip(*tuple)
                .all(|(argument, element)| argument.is_none_or(|i| embedding[i] == *element))
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

/// Adds tuples among the elements of an embedding.
pub(crate) fn add_all(structure: &mut Structure, add: &[AddedTuple], embedding: &[Element]) {
    for tuple in add {
        let elements: Vec<Element> =
            tuple.arguments.iter().map(|&index| embedding[index]).collect();
        structure
            .add(tuple.relation, &elements)
            .expect("an embedding names living elements, and arities were checked");
    }
}

/// Applies a rewriting rule that changes the universe, by Definition 2 of Kaiser & Stafiniak 2011.
///
/// One element of the right side that replaces an embedded element keeps its id and its name, so
/// that most of the structure stays as it is. The result is the same up to names.
fn apply_rewrite(
    rewrite: &Rewrite,
    old: &Structure,
    embedding: &[Element],
    limits: GrowthLimits,
) -> Result<Applied, GrowthError> {
    let mut new = old.clone();
    let n_deleted = (0..embedding.len()).filter(|l| !rewrite.map.contains(&Some(*l))).count();
    let n_created = rewrite.keeps.iter().filter(|keeps| !**keeps).count();
    if old.n_elements() + n_created > limits.elements + n_deleted {
        return Err(GrowthError::Elements(limits.elements));
    }
    let vocabulary = old.vocabulary().clone();
    // All tuples of embedded elements are removed. `inherit` adds those back that stay.
    for relation in vocabulary.relations() {
        for tuple in old.tuples(relation).touching(embedding) {
            new.remove(relation, &tuple);
        }
    }
    // Of relations without arguments that are embedded exactly, only the right side decides.
    for &relation in rewrite.embedded.iter().filter(|&&r| vocabulary.arity(r) == 0) {
        new.remove(relation, &[]);
    }
    for (l, &element) in embedding.iter().enumerate() {
        if !rewrite.map.contains(&Some(l)) {
            new.delete(element).expect("an embedding names living elements");
        }
    }
    let mut right: Vec<Element> = Vec::with_capacity(rewrite.map.len());
    for (r, variable) in rewrite.right.iter().enumerate() {
        right.push(match rewrite.map[r] {
            Some(l) if rewrite.keeps[r] => embedding[l],
            copied => {
                let created = new
                    .create_numbered(variable.name())
                    .map_err(|_| GrowthError::Elements(limits.elements))?;
                for function in vocabulary.functions() {
                    // A copy has the values of its original, and a new element has the value 0.
                    // Functions without any values in the structure are kept elsewhere.
                    let value = match copied {
                        Some(l) => old.value(function, embedding[l]),
                        None => (!old.values(function).is_empty()).then_some(Rational::ZERO),
                    };
                    new.set_value(function, created, value).expect("the element was just created");
                }
                created
            }
        });
    }
    let replacement = Replacement { rewrite, embedding, right: &right };
    for relation in vocabulary.relations() {
        replacement.inherit(relation, old, &mut new, limits.tuples)?;
    }
    for tuple in &rewrite.tuples {
        let elements: Vec<Element> = tuple.arguments.iter().map(|&r| right[r]).collect();
        new.add(tuple.relation, &elements)
            .expect("the right side names living elements, and arities were checked");
    }
    Ok(Applied { structure: new, elements: right })
}

/// Which elements replace the elements of an embedding.
struct Replacement<'a> {
    rewrite: &'a Rewrite,
    /// The elements of the left side.
    embedding: &'a [Element],
    /// The elements of the right side.
    right: &'a [Element],
}

impl Replacement<'_> {
    /// Adds the tuples of a relation that replacing elements inherit from the elements they
    /// replace: the second case of Definition 2. Of relations that are embedded exactly, only
    /// tuples with an element outside the embedding are inherited.
    fn inherit(
        &self,
        relation: RelationId,
        old: &Structure,
        new: &mut Structure,
        max_tuples: usize,
    ) -> Result<(), GrowthError> {
        let is_exact = self.rewrite.embedded.contains(&relation);
        for tuple in old.tuples(relation).touching(self.embedding) {
            if is_exact && tuple.iter().all(|element| self.embedding.contains(element)) {
                continue;
            }
            // All ways to replace each embedded element of the tuple.
            let mut ways: Vec<Vec<Element>> = vec![Vec::with_capacity(tuple.len())];
            for &element in &tuple {
                let choices = self.replacements(element);
                if ways.len() * choices.len() > max_tuples {
                    return Err(GrowthError::Tuples(max_tuples));
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
            if new.tuples(relation).len() > max_tuples {
                return Err(GrowthError::Tuples(max_tuples));
            }
        }
        Ok(())
    }

    /// Returns the elements that replace an element; itself if it is outside the embedding.
    fn replacements(&self, element: Element) -> Vec<Element> {
        match self.embedding.iter().position(|&embedded| embedded == element) {
            None => vec![element],
            Some(l) => (0..self.right.len())
                .filter(|&r| self.rewrite.map[r] == Some(l))
                .map(|r| self.right[r])
                .collect(),
        }
    }
}
