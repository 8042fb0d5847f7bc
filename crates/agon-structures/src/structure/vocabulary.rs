//! The names that structures and formulas share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// Returns the index, for tables with one entry per id.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A relation of a vocabulary. Dense: `0..vocabulary.n_relations()`.
    RelationId
);
id!(
    /// A function from elements to rationals. Dense.
    FunctionId
);
id!(
    /// A constant: a name for an element. Dense.
    ConstantId
);

/// The relations with their arities, functions and constants, in order of addition.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Vocabulary {
    relations: Vec<(Arc<str>, usize)>,
    functions: Vec<Arc<str>>,
    constants: Vec<Arc<str>>,
    relation_ids: BTreeMap<Arc<str>, RelationId>,
    function_ids: BTreeMap<Arc<str>, FunctionId>,
    constant_ids: BTreeMap<Arc<str>, ConstantId>,
}

/// The error that a relation is added with two arities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VocabularyError {
    /// The relation.
    pub relation: Arc<str>,
    /// The arity of the relation.
    pub known: usize,
    /// The other arity.
    pub other: usize,
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VocabularyError { relation, known, other } = self;
        write!(f, "`{relation}` has arity {known}, here it has {other}")
    }
}

impl std::error::Error for VocabularyError {}

impl Vocabulary {
    /// Returns an empty vocabulary.
    pub fn new() -> Vocabulary {
        Vocabulary::default()
    }

    /// Adds a relation, or finds it if it exists.
    ///
    /// # Errors
    /// If the relation exists with another arity.
    pub fn add_relation(
        &mut self,
        name: &str,
        arity: usize,
    ) -> Result<RelationId, VocabularyError> {
        if let Some(&id) = self.relation_ids.get(name) {
            let (relation, known) = self.relations[id.index()].clone();
            return if known == arity {
                Ok(id)
            } else {
                Err(VocabularyError { relation, known, other: arity })
            };
        }
        let name: Arc<str> = name.into();
        let id = RelationId(self.relations.len() as u32);
        self.relations.push((name.clone(), arity));
        self.relation_ids.insert(name, id);
        Ok(id)
    }

    /// Adds a function, or finds it if it exists.
    pub fn add_function(&mut self, name: &str) -> FunctionId {
        if let Some(&id) = self.function_ids.get(name) {
            return id;
        }
        let name: Arc<str> = name.into();
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(name.clone());
        self.function_ids.insert(name, id);
        id
    }

    /// Adds a constant, or finds it if it exists.
    pub fn add_constant(&mut self, name: &str) -> ConstantId {
        if let Some(&id) = self.constant_ids.get(name) {
            return id;
        }
        let name: Arc<str> = name.into();
        let id = ConstantId(self.constants.len() as u32);
        self.constants.push(name.clone());
        self.constant_ids.insert(name, id);
        id
    }

    /// Returns the number of relations.
    pub fn n_relations(&self) -> usize {
        self.relations.len()
    }

    /// Iterates over the relations in order.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> + use<> {
        (0..self.relations.len() as u32).map(RelationId)
    }

    /// Iterates over the functions in order.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }

    /// Iterates over the constants in order.
    pub fn constants(&self) -> impl Iterator<Item = ConstantId> + use<> {
        (0..self.constants.len() as u32).map(ConstantId)
    }

    /// Returns the relation with a name.
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.relation_ids.get(name).copied()
    }

    /// Returns the function with a name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.function_ids.get(name).copied()
    }

    /// Returns the constant with a name.
    pub fn constant(&self, name: &str) -> Option<ConstantId> {
        self.constant_ids.get(name).copied()
    }

    /// Returns the arity of a relation.
    pub fn arity(&self, relation: RelationId) -> usize {
        self.relations[relation.index()].1
    }

    /// Returns the name of a relation.
    pub fn relation_name(&self, relation: RelationId) -> &Arc<str> {
        &self.relations[relation.index()].0
    }

    /// Returns the name of a function.
    pub fn function_name(&self, function: FunctionId) -> &Arc<str> {
        &self.functions[function.index()]
    }

    /// Returns the name of a constant.
    pub fn constant_name(&self, constant: ConstantId) -> &Arc<str> {
        &self.constants[constant.index()]
    }
}
