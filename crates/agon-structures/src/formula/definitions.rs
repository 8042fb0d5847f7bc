//! Relations defined by formulas.

use std::collections::BTreeMap;
use std::fmt;

use super::{Formula, Name, Sort, Variable};

/// What a defined relation means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The relation.
    pub name: Name,
    /// Its arguments; no two the same.
    pub variables: Vec<Variable>,
    /// When it holds of them. No other free variables.
    pub body: Formula,
}

/// Defined relations in order: each uses only earlier ones, relations of the structure, and itself never.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Definitions {
    list: Vec<Definition>,
    places: BTreeMap<Name, usize>,
}

/// A definition was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DefinitionFault {
    /// The relation has a definition already.
    DefinedTwice(Name),
    /// The formula has a free variable that is no argument.
    FreeVariable(Name, Variable),
    /// An argument stands twice, or is no element variable.
    BadArgument(Name, Variable),
    /// The formula uses the relation itself.
    Recursive(Name),
    /// An earlier definition uses the relation: as one of the structure, which it is not.
    UsedBefore(Name, Name),
}

impl fmt::Display for DefinitionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefinitionFault::DefinedTwice(name) => write!(f, "`{name}` is defined twice"),
            DefinitionFault::FreeVariable(name, variable) => {
                write!(f, "`{variable}` is no argument of `{name}`, and nothing binds it")
            }
            DefinitionFault::BadArgument(name, variable) => {
                write!(
                    f,
                    "`{variable}` cannot be an argument of `{name}`: it stands twice, or is no element variable"
                )
            }
            DefinitionFault::Recursive(name) => write!(f, "`{name}` is defined by itself; use lfp"),
            DefinitionFault::UsedBefore(name, user) => {
                write!(f, "`{name}` is used by `{user}`, which is defined before it")
            }
        }
    }
}

impl std::error::Error for DefinitionFault {}

impl Definitions {
    /// No definitions.
    pub fn new() -> Definitions {
        Definitions::default()
    }

    /// Adds a definition that may use all earlier ones.
    pub fn add(
        &mut self,
        name: &str,
        variables: Vec<Variable>,
        body: Formula,
    ) -> Result<(), DefinitionFault> {
        let name: Name = name.into();
        if self.places.contains_key(&name) {
            return Err(DefinitionFault::DefinedTwice(name));
        }
        for (place, variable) in variables.iter().enumerate() {
            if variable.sort() != Sort::Element || variables[..place].contains(variable) {
                return Err(DefinitionFault::BadArgument(name, variable.clone()));
            }
        }
        if let Some(free) =
            body.free_variables().into_iter().find(|variable| !variables.contains(variable))
        {
            return Err(DefinitionFault::FreeVariable(name, free));
        }
        if body.free_relations().contains_key(&name) {
            return Err(DefinitionFault::Recursive(name));
        }
        if let Some(user) =
            self.list.iter().find(|earlier| earlier.body.free_relations().contains_key(&name))
        {
            return Err(DefinitionFault::UsedBefore(name, user.name.clone()));
        }
        self.places.insert(name.clone(), self.list.len());
        self.list.push(Definition { name, variables, body });
        Ok(())
    }

    /// The definition of a relation.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.places.get(name).map(|&place| &self.list[place])
    }

    /// Where in the order a relation is defined.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The definitions in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Definition> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
