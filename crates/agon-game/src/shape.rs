//! Static facts about a game, which decide which searches apply to it.

use std::fmt;

/// A part in the rules, including nature. Dense: `0..shape.role_names.len()`, in the order of the
/// rules.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(u16);

impl Role {
    /// Returns the role at `index` of `Shape::role_names`.
    pub fn new(index: usize) -> Role {
        Role(u16::try_from(index).expect("a game has fewer than 65536 roles"))
    }

    /// Returns the index of the role in `Shape::role_names` and in joint moves.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// The facts that are known about a game before it is played. A `false` or `None` means "not
/// proved", never "proved false".
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The names of the roles as the rules spell them, including nature.
    pub role_names: Vec<String>,
    /// The role that moves by chance, if there is one.
    pub nature: Option<Role>,
    /// The bounds of all payoffs.
    pub payoffs: std::ops::RangeInclusive<f64>,
    /// Whether at each position at most one player has more than one legal move.
    pub turn_taking: bool,
    /// The sum of the players' payoffs at every terminal position, if it is constant.
    pub constant_sum: Option<f64>,
    /// Whether players may not know the position but only what they perceive. See
    /// [`crate::Hidden`].
    pub hidden: bool,
    /// Whether states and moves may contain real numbers, so that hardly any state occurs twice.
    /// Transposition tables and solvers do not help then. See [`crate::Continuous`].
    pub continuous: bool,
}

impl Shape {
    /// Returns a shape of which only the roles are known. Payoffs lie between 0 and 100.
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

    /// Returns all roles in order, including nature.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = Role> + use<> {
        (0..self.role_names.len()).map(Role::new)
    }

    /// Returns all roles except nature, in order.
    pub fn players(&self) -> impl Iterator<Item = Role> + use<> {
        let nature = self.nature;
        self.roles().filter(move |&role| Some(role) != nature)
    }

    /// Returns the role of a name, ignoring the case of ASCII letters.
    pub fn role_named(&self, name: &str) -> Option<Role> {
        self.role_names.iter().position(|n| n.eq_ignore_ascii_case(name)).map(Role::new)
    }
}
