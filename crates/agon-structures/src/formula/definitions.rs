//! Relations defined by formulas.

use std::collections::BTreeMap;
use std::fmt;

use super::{Formula, Name, Sort, Variable};

/// The definition of a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The name of the relation.
    pub name: Name,
    /// The variables, without repetitions.
    pub variables: Vec<Variable>,
    /// The defining formula. It has no other free variables.
    pub body: Formula,
}

/// Defined relations in order. Each uses only earlier ones and relations of the structure, never
/// itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Definitions {
    list: Vec<Definition>,
    places: BTreeMap<Name, usize>,
    /// The place of the first definition that uses a relation.
    first_users: BTreeMap<Name, usize>,
}

/// The reason why a definition was rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The relation is already defined.
    DefinedTwice(Name),
    /// The formula has a free variable that is not among the variables of the relation.
    FreeVariable(Name, Variable),
    /// A variable of the relation is repeated or is not an element variable.
    BadArgument(Name, Variable),
    /// The formula uses the relation itself.
    Recursive(Name),
    /// An earlier definition uses the relation as one of the structure.
    UsedBefore(Name, Name),
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefinitionError::DefinedTwice(name) => write!(f, "`{name}` is defined twice"),
            DefinitionError::FreeVariable(name, variable) => {
                write!(f, "`{variable}` is free in the definition of `{name}`")
            }
            DefinitionError::BadArgument(name, variable) => {
                write!(
                    f,
                    "`{variable}` cannot be an argument of `{name}`: repeated, or not an element variable"
                )
            }
            DefinitionError::Recursive(name) => write!(f, "`{name}` is defined by itself; use lfp"),
            DefinitionError::UsedBefore(name, user) => {
                write!(f, "`{name}` is used by `{user}`, which is defined before it")
            }
        }
    }
}

impl std::error::Error for DefinitionError {}

impl Definitions {
    /// Returns an empty list of definitions.
    pub fn new() -> Definitions {
        Definitions::default()
    }

    /// Adds a definition, which may use all earlier ones.
    ///
    /// # Errors
    /// If the definition is not valid after the earlier ones.
    pub fn add(
        &mut self,
        name: &str,
        variables: Vec<Variable>,
        body: Formula,
    ) -> Result<(), DefinitionError> {
        let name: Name = name.into();
        if self.places.contains_key(&name) {
            return Err(DefinitionError::DefinedTwice(name));
        }
        for (place, variable) in variables.iter().enumerate() {
            if variable.sort() != Sort::Element || variables[..place].contains(variable) {
                return Err(DefinitionError::BadArgument(name, variable.clone()));
            }
        }
        if let Some(free) =
            body.free_variables().into_iter().find(|variable| !variables.contains(variable))
        {
            return Err(DefinitionError::FreeVariable(name, free));
        }
        let used = body.free_relations();
        if used.contains_key(&name) {
            return Err(DefinitionError::Recursive(name));
        }
        if let Some(&user) = self.first_users.get(&name) {
            return Err(DefinitionError::UsedBefore(name, self.list[user].name.clone()));
        }
        let place = self.list.len();
        for relation in used.into_keys() {
            self.first_users.entry(relation).or_insert(place);
        }
        self.places.insert(name.clone(), place);
        self.list.push(Definition { name, variables, body });
        Ok(())
    }

    /// Returns the definition of a relation.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.places.get(name).map(|&place| &self.list[place])
    }

    /// Returns the place of a relation in the order of definitions.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Iterates over the definitions in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Definition> {
        self.list.iter()
    }

    /// Returns the number of definitions.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no definitions.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
