//! Finite structures: elements with names, relations of any arity, functions to rational numbers,
//! constants.
//!
//! A [`Structure`] is cheap to clone: a clone costs five reference counts, and parts are shared
//! until one of the copies changes them. Every change updates its [`key`](Structure::key), so that
//! a search can distinguish states without reading them.

mod tuples;
mod universe;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::rational::Rational;

pub use tuples::Tuples;
use universe::Universe;
pub use vocabulary::{ConstantId, FunctionId, RelationId, Vocabulary, VocabularyError};

/// An element of a structure. Ids are small and do not change while the element lives. The id of a
/// deleted element is reused.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element(u32);

impl Element {
    /// Returns the element with this id.
    pub const fn new(id: u32) -> Element {
        Element(id)
    }

    /// Returns the id.
    pub const fn id(self) -> u32 {
        self.0
    }

    /// Returns the id as an index, for tables with one entry per id.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of the element, `&x`: its id plus one.
    pub fn number(self) -> Rational {
        Rational::whole(i64::from(self.0) + 1)
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// A finite structure over a vocabulary.
///
/// Invariants: tuples, values and constants refer only to living elements. Each tuple has the arity
/// of its relation. Different living elements have different names. `key` satisfies the description
/// of [`Structure::key`].
#[derive(Clone)]
pub struct Structure {
    vocabulary: Arc<Vocabulary>,
    universe: Arc<Universe>,
    relations: Arc<Vec<Arc<Tuples>>>,
    functions: Arc<Vec<Arc<Values>>>,
    constants: Arc<Vec<Option<Element>>>,
    key: u64,
}

/// The values of one function, sorted by element.
type Values = Vec<(Element, Rational)>;

/// The reason why a structure could not be changed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StructureError {
    /// The element does not exist.
    NoSuchElement(Element),
    /// Another element has this name.
    NameTaken(Arc<str>),
    /// A tuple does not have the arity of its relation.
    WrongArity {
        /// The relation.
        relation: Arc<str>,
        /// The arity of the relation.
        arity: usize,
        /// The length of the tuple.
        given: usize,
    },
    /// There are no free ids.
    TooManyElements,
}

impl fmt::Display for StructureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructureError::NoSuchElement(element) => {
                write!(f, "there is no element number {}", element.number())
            }
            StructureError::NameTaken(name) => write!(f, "another element is called `{name}`"),
            StructureError::WrongArity { relation, arity, given } => {
                write!(f, "`{relation}` takes {arity} elements, not {given}")
            }
            StructureError::TooManyElements => write!(f, "too many elements"),
        }
    }
}

impl std::error::Error for StructureError {}

impl Structure {
    /// Returns the structure without elements.
    pub fn new(vocabulary: Arc<Vocabulary>) -> Structure {
        let relations =
            vocabulary.relations().map(|id| Arc::new(Tuples::new(vocabulary.arity(id)))).collect();
        let functions = vocabulary.functions().map(|_| Arc::default()).collect();
        let constants = vocabulary.constants().map(|_| None).collect();
        Structure {
            vocabulary,
            universe: Arc::default(),
            relations: Arc::new(relations),
            functions: Arc::new(functions),
            constants: Arc::new(constants),
            key: 0,
        }
    }

    /// Returns the vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Returns the structure over a vocabulary that begins with its own. The additional relations
    /// are empty.
    pub fn extended(&self, vocabulary: Arc<Vocabulary>) -> Structure {
        let mut wider = Structure::new(vocabulary);
        wider.universe = self.universe.clone();
        wider.key = self.key;
        let relations = Arc::make_mut(&mut wider.relations);
        relations[..self.relations.len()].clone_from_slice(&self.relations);
        let functions = Arc::make_mut(&mut wider.functions);
        functions[..self.functions.len()].clone_from_slice(&self.functions);
        let constants = Arc::make_mut(&mut wider.constants);
        constants[..self.constants.len()].copy_from_slice(&self.constants);
        wider
    }

    /// Returns the number of elements.
    pub fn n_elements(&self) -> usize {
        self.universe.n_living()
    }

    /// Returns an upper bound of all ids.
    pub(crate) fn id_bound(&self) -> usize {
        self.universe.id_bound()
    }

    /// Returns whether the element lives.
    pub fn has(&self, element: Element) -> bool {
        self.universe.name(element).is_some()
    }

    /// Iterates over the elements by id.
    pub fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        self.universe.elements()
    }

    /// Returns the name of a living element.
    ///
    /// # Panics
    /// If the element does not exist.
    pub fn name(&self, element: Element) -> &Arc<str> {
        self.universe.name(element).expect("the element lives")
    }

    /// Returns the element with a name.
    pub fn element(&self, name: &str) -> Option<Element> {
        self.universe.element_named(name)
    }

    /// Creates an element with the smallest free id. Without a name it is named by its number, or
    /// by the first free number after that.
    ///
    /// # Errors
    /// If the name is taken, or if there are too many elements.
    pub fn create(&mut self, name: Option<&str>) -> Result<Element, StructureError> {
        let id =
            u32::try_from(self.universe.next_id()).map_err(|_| StructureError::TooManyElements)?;
        let name: Arc<str> = match name {
            Some(name) if self.element(name).is_some() => {
                return Err(StructureError::NameTaken(name.into()));
            }
            Some(name) => name.into(),
            None => {
                let mut number = u64::from(id) + 1;
                while self.element(&number.to_string()).is_some() {
                    number += 1;
                }
                number.to_string().into()
            }
        };
        let element = Arc::make_mut(&mut self.universe).add(name);
        self.key ^= fingerprint_of_element(element);
        Ok(element)
    }

    /// Creates an element named after a stem and the first free number: `b_1`, `b_2` and so on.
    ///
    /// # Errors
    /// If there are too many elements.
    pub fn create_numbered(&mut self, stem: &str) -> Result<Element, StructureError> {
        let mut number = Arc::make_mut(&mut self.universe).free_number(stem);
        loop {
            match self.create(Some(&format!("{stem}_{number}"))) {
                // This happens only for numbers beyond those that are tracked.
                Err(StructureError::NameTaken(_)) => number += 1,
                made => return made,
            }
        }
    }

    /// Deletes an element with all its tuples, values and constants.
    ///
    /// # Errors
    /// If the element does not exist.
    pub fn delete(&mut self, element: Element) -> Result<(), StructureError> {
        self.living(element)?;
        for relation in self.vocabulary.clone().relations() {
            for tuple in self.tuples(relation).touching(&[element]) {
                self.remove(relation, &tuple);
            }
        }
        for function in self.vocabulary.clone().functions() {
            self.set_value(function, element, None)?;
        }
        for constant in self.vocabulary.clone().constants() {
            if self.constant(constant) == Some(element) {
                self.set_constant(constant, None)?;
            }
        }
        Arc::make_mut(&mut self.universe).remove(element);
        self.key ^= fingerprint_of_element(element);
        Ok(())
    }

    /// Returns the tuples of a relation.
    pub fn tuples(&self, relation: RelationId) -> &Tuples {
        &self.relations[relation.index()]
    }

    /// Returns whether a tuple is in a relation.
    pub fn holds(&self, relation: RelationId, tuple: &[Element]) -> bool {
        self.tuples(relation).contains(tuple)
    }

    /// Adds a tuple to a relation. Returns whether it is new.
    ///
    /// # Errors
    /// If an element does not exist, or if the tuple has the wrong length.
    pub fn add(&mut self, relation: RelationId, tuple: &[Element]) -> Result<bool, StructureError> {
        let arity = self.vocabulary.arity(relation);
        if arity != tuple.len() {
            let name = self.vocabulary.relation_name(relation).clone();
            return Err(StructureError::WrongArity { relation: name, arity, given: tuple.len() });
        }
        for &element in tuple {
            self.living(element)?;
        }
        if self.holds(relation, tuple) {
            return Ok(false);
        }
        Arc::make_mut(&mut Arc::make_mut(&mut self.relations)[relation.index()]).insert(tuple);
        self.key ^= fingerprint_of_tuple(relation, tuple);
        Ok(true)
    }

    /// Removes a tuple from a relation. Returns whether it was present.
    pub fn remove(&mut self, relation: RelationId, tuple: &[Element]) -> bool {
        if !self.holds(relation, tuple) {
            return false;
        }
        Arc::make_mut(&mut Arc::make_mut(&mut self.relations)[relation.index()]).remove(tuple);
        self.key ^= fingerprint_of_tuple(relation, tuple);
        true
    }

    /// Returns the value of a function at an element, if there is one.
    pub fn value(&self, function: FunctionId, element: Element) -> Option<Rational> {
        let values = &self.functions[function.index()];
        values.binary_search_by_key(&element, |entry| entry.0).ok().map(|place| values[place].1)
    }

    /// Returns the values of a function, by element.
    pub fn values(&self, function: FunctionId) -> &[(Element, Rational)] {
        &self.functions[function.index()]
    }

    /// Sets or removes the value of a function at an element.
    ///
    /// # Errors
    /// If the element does not exist.
    pub fn set_value(
        &mut self,
        function: FunctionId,
        element: Element,
        value: Option<Rational>,
    ) -> Result<(), StructureError> {
        self.living(element)?;
        let old = self.value(function, element);
        if old == value {
            return Ok(());
        }
        let values = Arc::make_mut(&mut Arc::make_mut(&mut self.functions)[function.index()]);
        let place = values.binary_search_by_key(&element, |entry| entry.0);
        match (place, value) {
            (Ok(place), Some(value)) => values[place].1 = value,
            (Ok(place), None) => {
                values.remove(place);
            }
            (Err(place), Some(value)) => values.insert(place, (element, value)),
            (Err(_), None) => {}
        }
        for value in [old, value].into_iter().flatten() {
            self.key ^= fingerprint_of_value(function, element, value);
        }
        Ok(())
    }

    /// Returns the element that a constant names, if there is one.
    pub fn constant(&self, constant: ConstantId) -> Option<Element> {
        self.constants[constant.index()]
    }

    /// Sets the element that a constant names, or removes it.
    ///
    /// # Errors
    /// If the element does not exist.
    pub fn set_constant(
        &mut self,
        constant: ConstantId,
        element: Option<Element>,
    ) -> Result<(), StructureError> {
        if let Some(element) = element {
            self.living(element)?;
        }
        for element in [self.constant(constant), element].into_iter().flatten() {
            self.key ^= mixed(&[4, constant.index() as u64, u64::from(element.id())]);
        }
        Arc::make_mut(&mut self.constants)[constant.index()] = element;
        Ok(())
    }

    /// Returns a hash of everything except the names. Equal structures have equal keys; different
    /// structures have different keys with high probability.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns a hash of the names of the elements, which the key leaves out.
    pub fn names_key(&self) -> u64 {
        self.universe.key()
    }

    /// Returns the elements that live in exactly one of the two structures, by id.
    pub(crate) fn universe_difference(&self, other: &Structure) -> Vec<Element> {
        if self.shares_universe(other) {
            Vec::new()
        } else {
            self.universe.difference(&other.universe)
        }
    }

    /// Returns whether both share all their memory and are therefore equal.
    pub(crate) fn shares_all(&self, other: &Structure) -> bool {
        self.shares_universe(other)
            && self.shares_functions(other)
            && self.shares_constants(other)
            && (Arc::ptr_eq(&self.relations, &other.relations)
                || self
                    .vocabulary
                    .relations()
                    .all(|relation| self.shares_relation(other, relation)))
    }

    /// Returns whether both share the memory of a relation, which is therefore equal.
    pub(crate) fn shares_relation(&self, other: &Structure, relation: RelationId) -> bool {
        let place = relation.index();
        Arc::ptr_eq(&self.relations, &other.relations)
            || Arc::ptr_eq(&self.relations[place], &other.relations[place])
    }

    /// Returns whether both share the memory of their universes, which are therefore equal.
    pub(crate) fn shares_universe(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.universe, &other.universe)
    }

    /// Returns whether both share the memory of all function values, which are therefore equal.
    pub(crate) fn shares_functions(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
    }

    /// Returns whether both share the memory of all constants, which are therefore equal.
    pub(crate) fn shares_constants(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.constants, &other.constants)
    }

    fn living(&self, element: Element) -> Result<(), StructureError> {
        if self.has(element) { Ok(()) } else { Err(StructureError::NoSuchElement(element)) }
    }
}

/// Compares elements, names, relations, values and constants.
impl PartialEq for Structure {
    fn eq(&self, other: &Structure) -> bool {
        self.key == other.key
            && self.vocabulary == other.vocabulary
            && self.n_elements() == other.n_elements()
            && self.elements().eq(other.elements())
            && self.elements().all(|element| self.name(element) == other.name(element))
            && self.relations == other.relations
            && self.functions == other.functions
            && self.constants == other.constants
    }
}

impl Eq for Structure {}

/// Lists elements, tuples and values by name, in the notation of Toss:
/// `[a, b | R {(a, b)} | f {a -> 1}]`.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[")?;
        for (place, element) in self.elements().enumerate() {
            write!(f, "{}{}", if place == 0 { "" } else { ", " }, self.name(element))?;
        }
        write!(f, " | ")?;
        for (place, relation) in self.vocabulary.relations().enumerate() {
            let tuples = self.tuples(relation);
            write!(
                f,
                "{}{}",
                if place == 0 { "" } else { "; " },
                self.vocabulary.relation_name(relation)
            )?;
            if tuples.is_empty() {
                write!(f, ":{} {{}}", tuples.arity())?;
                continue;
            }
            write!(f, " {{")?;
            for (place, tuple) in tuples.iter().enumerate() {
                let names: Vec<&str> = tuple.iter().map(|&element| &**self.name(element)).collect();
                write!(f, "{}({})", if place == 0 { "" } else { "; " }, names.join(", "))?;
            }
            write!(f, "}}")?;
        }
        write!(f, " | ")?;
        for (place, function) in self.vocabulary.functions().enumerate() {
            write!(
                f,
                "{}{} {{",
                if place == 0 { "" } else { "; " },
                self.vocabulary.function_name(function)
            )?;
            for (place, (element, value)) in self.values(function).iter().enumerate() {
                write!(
                    f,
                    "{}{} -> {value}",
                    if place == 0 { "" } else { ", " },
                    self.name(*element)
                )?;
            }
            write!(f, "}}")?;
        }
        write!(f, "]")
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn fingerprint_of_element(element: Element) -> u64 {
    mixed(&[1, u64::from(element.id())])
}

fn fingerprint_of_tuple(relation: RelationId, tuple: &[Element]) -> u64 {
    let mut key = mixed(&[2, relation.index() as u64]);
    for element in tuple {
        key = mixed(&[key, u64::from(element.id())]);
    }
    key
}

fn fingerprint_of_value(function: FunctionId, element: Element, value: Rational) -> u64 {
    let (above, below) = (value.numerator(), value.denominator());
    let halves = [above as u64, (above >> 64) as u64, below as u64, (below >> 64) as u64];
    let place = mixed(&[3, function.index() as u64, u64::from(element.id())]);
    mixed(&[place, halves[0], halves[1], halves[2], halves[3]])
}

/// Combines words into one, each bit of which depends on all bits of all of them (the finaliser of
/// SplitMix64).
fn mixed(words: &[u64]) -> u64 {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for &word in words {
        state = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
    }
    state
}
