//! Finite structures: elements with names, relations of any arity, functions to rationals, constants.
//!
//! A [`Structure`] is cheap to clone: its parts are shared until one of the copies changes them. Its [`key`](Structure::key)
//! is kept up to date by every change, so that a search can tell states apart without reading them.

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
pub use vocabulary::{ConstantId, FunctionId, RelationId, Vocabulary, VocabularyClash};

/// An element of a structure. Ids are small and stay the same while the element lives; the id of a deleted element
/// is given to a later one.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element(u32);

impl Element {
    /// The element with this id.
    pub const fn new(id: u32) -> Element {
        Element(id)
    }

    /// The id.
    pub const fn id(self) -> u32 {
        self.0
    }

    /// For tables with one entry per id.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// What `&x` says of it: ids counted from 1, as people count.
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
/// Invariants: tuples, values and constants name living elements only; each tuple has the arity of its relation;
/// no two living elements have the same name; `key` is what [`Structure::key`] says.
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

/// A structure could not be changed as asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StructureFault {
    /// There is no such element (any more).
    NoSuchElement(Element),
    /// Another element has this name.
    NameTaken(Arc<str>),
    /// A tuple has another length than the relation's arity.
    WrongArity {
        /// The relation.
        relation: Arc<str>,
        /// What it takes.
        arity: usize,
        /// What it was given.
        given: usize,
    },
    /// More elements than ids.
    TooManyElements,
}

impl fmt::Display for StructureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructureFault::NoSuchElement(element) => {
                write!(f, "there is no element number {}", element.number())
            }
            StructureFault::NameTaken(name) => write!(f, "another element is called `{name}`"),
            StructureFault::WrongArity { relation, arity, given } => {
                write!(f, "`{relation}` takes {arity} elements, not {given}")
            }
            StructureFault::TooManyElements => write!(f, "too many elements"),
        }
    }
}

impl std::error::Error for StructureFault {}

impl Structure {
    /// The structure without elements.
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

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The same structure over a vocabulary that begins with its own: what is new there is empty.
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

    /// How many elements there are.
    pub fn n_elements(&self) -> usize {
        self.universe.n_living()
    }

    /// All ids are below this.
    pub fn id_bound(&self) -> usize {
        self.universe.id_bound()
    }

    /// Whether the element lives.
    pub fn has(&self, element: Element) -> bool {
        self.universe.name(element).is_some()
    }

    /// The elements, by id.
    pub fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        self.universe.elements()
    }

    /// The name of a living element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn name(&self, element: Element) -> &Arc<str> {
        self.universe.name(element).expect("the element lives")
    }

    /// The element with a name.
    pub fn element(&self, name: &str) -> Option<Element> {
        self.universe.called(name)
    }

    /// A new element; the smallest free id becomes its own. Without a name it is called by its number, or by the
    /// first number from there on that is free.
    pub fn create(&mut self, name: Option<&str>) -> Result<Element, StructureFault> {
        let id =
            u32::try_from(self.universe.next_id()).map_err(|_| StructureFault::TooManyElements)?;
        let name: Arc<str> = match name {
            Some(name) if self.element(name).is_some() => {
                return Err(StructureFault::NameTaken(name.into()));
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

    /// A new element, called after a stem and the first number that is free: `b_1`, `b_2` and so on.
    pub fn create_numbered(&mut self, stem: &str) -> Result<Element, StructureFault> {
        let mut number = Arc::make_mut(&mut self.universe).free_number(stem);
        loop {
            match self.create(Some(&format!("{stem}_{number}"))) {
                // Only numbers beyond those that are kept count of.
                Err(StructureFault::NameTaken(_)) => number += 1,
                made => return made,
            }
        }
    }

    /// Gives an element another name.
    pub fn rename(&mut self, element: Element, name: &str) -> Result<(), StructureFault> {
        self.living(element)?;
        match self.element(name) {
            Some(same) if same == element => Ok(()),
            Some(_) => Err(StructureFault::NameTaken(name.into())),
            None => {
                Arc::make_mut(&mut self.universe).rename(element, name.into());
                Ok(())
            }
        }
    }

    /// Removes an element with all its tuples, values and constants.
    pub fn delete(&mut self, element: Element) -> Result<(), StructureFault> {
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

    /// The tuples of a relation.
    pub fn tuples(&self, relation: RelationId) -> &Tuples {
        &self.relations[relation.index()]
    }

    /// Whether a tuple is in a relation.
    pub fn holds(&self, relation: RelationId, tuple: &[Element]) -> bool {
        self.tuples(relation).contains(tuple)
    }

    /// Puts a tuple into a relation; tells whether it is new there.
    pub fn add(&mut self, relation: RelationId, tuple: &[Element]) -> Result<bool, StructureFault> {
        let arity = self.vocabulary.arity(relation);
        if arity != tuple.len() {
            let name = self.vocabulary.relation_name(relation).clone();
            return Err(StructureFault::WrongArity { relation: name, arity, given: tuple.len() });
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

    /// Takes a tuple out of a relation; tells whether it was there.
    pub fn remove(&mut self, relation: RelationId, tuple: &[Element]) -> bool {
        if !self.holds(relation, tuple) {
            return false;
        }
        Arc::make_mut(&mut Arc::make_mut(&mut self.relations)[relation.index()]).remove(tuple);
        self.key ^= fingerprint_of_tuple(relation, tuple);
        true
    }

    /// The value of a function at an element, if it has one.
    pub fn value(&self, function: FunctionId, element: Element) -> Option<Rational> {
        let values = &self.functions[function.index()];
        values.binary_search_by_key(&element, |entry| entry.0).ok().map(|place| values[place].1)
    }

    /// The values of a function, by element.
    pub fn values(&self, function: FunctionId) -> &[(Element, Rational)] {
        &self.functions[function.index()]
    }

    /// Sets the value of a function at an element, or takes it away.
    pub fn set_value(
        &mut self,
        function: FunctionId,
        element: Element,
        value: Option<Rational>,
    ) -> Result<(), StructureFault> {
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

    /// The element that a constant names, if it names one.
    pub fn constant(&self, constant: ConstantId) -> Option<Element> {
        self.constants[constant.index()]
    }

    /// Lets a constant name an element, or none.
    pub fn set_constant(
        &mut self,
        constant: ConstantId,
        element: Option<Element>,
    ) -> Result<(), StructureFault> {
        if let Some(element) = element {
            self.living(element)?;
        }
        for element in [self.constant(constant), element].into_iter().flatten() {
            self.key ^= mixed(&[4, constant.index() as u64, u64::from(element.id())]);
        }
        Arc::make_mut(&mut self.constants)[constant.index()] = element;
        Ok(())
    }

    /// A fingerprint of everything but the names: equal structures have equal keys, and others hardly ever.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// A fingerprint of who is called what, which the key leaves out.
    pub fn names_key(&self) -> u64 {
        self.universe.key()
    }

    /// The elements that live in one of the two only, by id.
    pub(crate) fn moved(&self, other: &Structure) -> Vec<Element> {
        if self.shares_universe(other) {
            Vec::new()
        } else {
            self.universe.difference(&other.universe)
        }
    }

    /// Whether both are made of the same pieces of memory, so certainly the same.
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

    /// Whether a relation is the same piece of memory in both, so certainly the same relation.
    pub(crate) fn shares_relation(&self, other: &Structure, relation: RelationId) -> bool {
        let place = relation.index();
        Arc::ptr_eq(&self.relations, &other.relations)
            || Arc::ptr_eq(&self.relations[place], &other.relations[place])
    }

    /// The same of the elements.
    pub(crate) fn shares_universe(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.universe, &other.universe)
    }

    /// The same of all values of functions.
    pub(crate) fn shares_functions(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
    }

    /// The same of all constants.
    pub(crate) fn shares_constants(&self, other: &Structure) -> bool {
        Arc::ptr_eq(&self.constants, &other.constants)
    }

    fn living(&self, element: Element) -> Result<(), StructureFault> {
        if self.has(element) { Ok(()) } else { Err(StructureFault::NoSuchElement(element)) }
    }
}

/// The same elements, with the same names, in the same relations, with the same values and constants.
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

/// Lists elements, tuples and values by name, in the notation of Toss: `[a, b | R {(a, b)} | f {a -> 1}]`.
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

/// Words to one word, each bit of which depends on all bits of all of them (the finaliser of SplitMix64).
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
