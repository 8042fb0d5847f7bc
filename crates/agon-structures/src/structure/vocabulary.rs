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
            /// For tables with one entry per id.
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

/// Relations with their arities, functions and constants, in the order of their coming.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Vocabulary {
    relations: Vec<(Arc<str>, usize)>,
    functions: Vec<Arc<str>>,
    constants: Vec<Arc<str>>,
    relation_ids: BTreeMap<Arc<str>, RelationId>,
    function_ids: BTreeMap<Arc<str>, FunctionId>,
    constant_ids: BTreeMap<Arc<str>, ConstantId>,
}

/// A relation was announced with two arities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VocabularyClash {
    /// The relation.
    pub relation: Arc<str>,
    /// Its arity so far.
    pub known: usize,
    /// The other arity.
    pub other: usize,
}

impl fmt::Display for VocabularyClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VocabularyClash { relation, known, other } = self;
        write!(f, "`{relation}` has arity {known}, here it has {other}")
    }
}

impl std::error::Error for VocabularyClash {}

impl Vocabulary {
    /// No names.
    pub fn new() -> Vocabulary {
        Vocabulary::default()
    }

    /// Adds a relation, or finds it if it is there already.
    pub fn add_relation(
        &mut self,
        name: &str,
        arity: usize,
    ) -> Result<RelationId, VocabularyClash> {
        if let Some(&id) = self.relation_ids.get(name) {
            let (relation, known) = self.relations[id.index()].clone();
            return if known == arity {
                Ok(id)
            } else {
                Err(VocabularyClash { relation, known, other: arity })
            };
        }
        let name: Arc<str> = name.into();
        let id = RelationId(self.relations.len() as u32);
        self.relations.push((name.clone(), arity));
        self.relation_ids.insert(name, id);
        Ok(id)
    }

    /// Adds a function, or finds it.
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

    /// Adds a constant, or finds it.
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

    /// How many relations there are.
    pub fn n_relations(&self) -> usize {
        self.relations.len()
    }

    /// The relations in order.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> + use<> {
        (0..self.relations.len() as u32).map(RelationId)
    }

    /// The functions in order.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }

    /// The constants in order.
    pub fn constants(&self) -> impl Iterator<Item = ConstantId> + use<> {
        (0..self.constants.len() as u32).map(ConstantId)
    }

    /// The relation with a name.
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.relation_ids.get(name).copied()
    }

    /// The function with a name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.function_ids.get(name).copied()
    }

    /// The constant with a name.
    pub fn constant(&self, name: &str) -> Option<ConstantId> {
        self.constant_ids.get(name).copied()
    }

    /// How many elements a relation takes.
    pub fn arity(&self, relation: RelationId) -> usize {
        self.relations[relation.index()].1
    }

    /// What a relation is called.
    pub fn relation_name(&self, relation: RelationId) -> &Arc<str> {
        &self.relations[relation.index()].0
    }

    /// What a function is called.
    pub fn function_name(&self, function: FunctionId) -> &Arc<str> {
        &self.functions[function.index()]
    }

    /// What a constant is called.
    pub fn constant_name(&self, constant: ConstantId) -> &Arc<str> {
        &self.constants[constant.index()]
    }
}
