//! Facts about a game that decide which searches apply to it.

use std::fmt;

/// A part in the rules, nature included. Dense: `0..shape.role_names.len()`, in the order of the rules.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(u16);

impl Role {
    /// The role at `index` of `Shape::role_names`.
    pub fn new(index: usize) -> Role {
        Role(u16::try_from(index).expect("a game has fewer than 65536 roles"))
    }

    /// Its index in `Shape::role_names` and in joint moves.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// What is known of a game before it is played. A `false` or `None` means "not proved", never "proved false".
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The roles as the rules spell them, nature included.
    pub role_names: Vec<String>,
    /// The role that moves by chance, if there is one.
    pub nature: Option<Role>,
    /// Every payoff lies within these bounds.
    pub payoffs: std::ops::RangeInclusive<f64>,
    /// At each position at most one player has more than one legal move.
    pub turn_taking: bool,
    /// The payoffs of the players add up to this wherever play has ended.
    pub constant_sum: Option<f64>,
    /// Players may not know the position: they know what they perceive. See [`crate::Hidden`].
    pub hidden: bool,
    /// Moves may have real parameters.
    pub continuous: bool,
}

impl Shape {
    /// A shape of which nothing is known but its roles.
    pub fn new(role_names: Vec<String>, nature: Option<Role>) -> Shape {
        Shape {
            role_names,
            nature,
            payoffs: 0.0..=100.0,
            turn_taking: false,
            constant_sum: None,
            hidden: false,
            continuous: false,
        }
    }

    /// All roles, nature included, in order.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = Role> + use<> {
        (0..self.role_names.len()).map(Role::new)
    }

    /// The roles that somebody plays: all but nature.
    pub fn players(&self) -> impl Iterator<Item = Role> + use<> {
        let nature = self.nature;
        self.roles().filter(move |&role| Some(role) != nature)
    }

    /// The role of that name, whatever its capitalisation.
    pub fn role_named(&self, name: &str) -> Option<Role> {
        self.role_names.iter().position(|n| n.eq_ignore_ascii_case(name)).map(Role::new)
    }
}
