//! The players that there are: one table, from which come the parser's errors, `agon players` and the defaults.

mod searches;

/// A kind of player.
#[derive(Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// How it is written, where that is more than the name.
    pub form: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Where it lives.
    pub origin: Origin,
    /// What can be set.
    pub options: &'static [OptionKind],
}

/// Where a player lives.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// In this process: [`crate::build`] makes it.
    BuiltIn,
    /// Outside: whoever can do input and output makes it.
    Outside,
}

/// An option of a player.
#[derive(Debug, PartialEq)]
pub struct OptionKind {
    /// What it is called.
    pub name: &'static str,
    /// What it may be set to.
    pub kind: OptionType,
    /// What it is when nobody sets it.
    pub default: Value,
    /// What it does.
    pub meaning: &'static str,
}

/// What an option may be set to.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum OptionType {
    /// On or off; the bare name means on.
    Flag,
    /// A whole number between two others, both included.
    Integer(u64, u64),
    /// A number between two others, both included.
    Real(f64, f64),
    /// One of a few words.
    Word(&'static [&'static str]),
    /// Anything without commas and parentheses: a path.
    Text,
}

/// What an option is set to.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// A number.
    Real(f64),
    /// A word of the option's.
    Word(&'static str),
    /// A text. Kept until the program ends: users write few of them.
    Text(&'static str),
}

/// All of them, in the order in which they are listed. A kind that is [`Origin::BuiltIn`] has its arm in [`crate::build`];
/// a test makes one of each.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "auto",
        form: "auto",
        summary: "whatever suits the game best",
        origin: Origin::BuiltIn,
        options: &[],
    },
    Kind {
        name: "random",
        form: "random",
        summary: "a legal move at random",
        origin: Origin::BuiltIn,
        options: &[],
    },
    Kind {
        name: "legal",
        form: "legal",
        summary: "always the first legal move",
        origin: Origin::BuiltIn,
        options: &[],
    },
    Kind {
        name: "greedy",
        form: "greedy",
        summary: "the move after which the rules promise most, one step ahead",
        origin: Origin::BuiltIn,
        options: &[OptionKind {
            name: "replies",
            kind: OptionType::Integer(1, 100_000),
            default: Value::Integer(64),
            meaning: "joint moves tried for each own move where the others have a choice too",
        }],
    },
    Kind {
        name: "mcts",
        form: "mcts(OPTIONS)",
        summary: "Monte Carlo tree search, many leaves at once; with hidden information the same as hidden",
        origin: Origin::BuiltIn,
        options: &searches::MCTS,
    },
    Kind {
        name: "uct",
        form: "uct(OPTIONS)",
        summary: "plain UCT, the yardstick: mcts with one playout for each leaf and nothing added",
        origin: Origin::BuiltIn,
        options: &searches::UCT,
    },
    Kind {
        name: "alphabeta",
        form: "alphabeta(OPTIONS)",
        summary: "alpha-beta to a depth that grows, max^n where that does not fit; --iterations counts positions",
        origin: Origin::BuiltIn,
        options: searches::ALPHABETA,
    },
    Kind {
        name: "bestfirst",
        form: "bestfirst(OPTIONS)",
        summary: "unbounded best-first minimax, all children of a position at once",
        origin: Origin::BuiltIn,
        options: searches::BEST_FIRST,
    },
    Kind {
        name: "puzzle",
        form: "puzzle(OPTIONS)",
        summary: "looks for a plan and keeps it, for games of one player; without a full plan mcts has its say",
        origin: Origin::BuiltIn,
        options: searches::PUZZLE,
    },
    Kind {
        name: "hidden",
        form: "hidden(OPTIONS)",
        summary: "search over what the role's own moves and percepts leave possible; without hidden information mcts",
        origin: Origin::BuiltIn,
        options: searches::HIDDEN,
    },
    Kind {
        name: "solver",
        form: "solver(OPTIONS)",
        summary: "plays perfectly where the game from here on can be solved, else as mcts does",
        origin: Origin::BuiltIn,
        options: searches::SOLVER,
    },
    Kind {
        name: "human",
        form: "human",
        summary: "a person at this terminal",
        origin: Origin::Outside,
        options: &[],
    },
    Kind {
        name: "http",
        form: "http://HOST:PORT",
        summary: "a player elsewhere that speaks the GGP protocol; port 9147 if none is given",
        origin: Origin::Outside,
        options: &[],
    },
    Kind {
        name: "cmd",
        form: "cmd:PROGRAM ARGUMENTS",
        summary: "a program that reads and writes JSON lines, see docs/players.md",
        origin: Origin::Outside,
        options: &[],
    },
];

impl Kind {
    /// The kind of that name, whatever its capitalisation.
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name))
    }

    /// The option of that name, whatever its capitalisation.
    pub fn option(&self, name: &str) -> Option<&'static OptionKind> {
        self.options.iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }
}

impl OptionType {
    /// The value that a text stands for, or what would be right instead.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let fails = || format!("wanted: {self}");
        match *self {
            OptionType::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Ok(Value::Flag(true)),
                "false" | "off" | "no" | "0" => Ok(Value::Flag(false)),
                _ => Err(fails()),
            },
            OptionType::Integer(low, high) => text
                .replace('_', "")
                .parse::<u64>()
                .ok()
                .filter(|n| (low..=high).contains(n))
                .map(Value::Integer)
                .ok_or_else(fails),
            OptionType::Real(low, high) => text
                .parse::<f64>()
                .ok()
                .filter(|x| (low..=high).contains(x))
                .map(Value::Real)
                .ok_or_else(fails),
            OptionType::Word(words) => words
                .iter()
                .find(|word| word.eq_ignore_ascii_case(text))
                .map(|word| Value::Word(word))
                .ok_or_else(fails),
            OptionType::Text => Ok(Value::Text(Box::leak(text.to_owned().into_boxed_str()))),
        }
    }
}

impl std::fmt::Display for OptionType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionType::Flag => f.write_str("on or off"),
            OptionType::Integer(low, high) => write!(f, "a whole number from {low} to {high}"),
            OptionType::Real(low, high) => write!(f, "a number from {low} to {high}"),
            OptionType::Word(words) => write!(f, "one of {}", words.join(", ")),
            OptionType::Text => f.write_str("a path"),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(true) => f.write_str("on"),
            Value::Flag(false) => f.write_str("off"),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Word(text) | Value::Text(text) => f.write_str(text),
        }
    }
}

/// What a user has set of a kind's options. Asking for an option that the kind does not have is a mistake of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    options: &'static [OptionKind],
    set: Vec<(&'static str, Value)>,
}

impl Settings {
    /// Everything as it is when nobody sets it.
    pub fn new(kind: &Kind) -> Settings {
        Settings { options: kind.options, set: Vec::new() }
    }

    /// Sets an option; whether it was set before.
    pub fn set(&mut self, option: &'static OptionKind, value: Value) -> bool {
        let was_set = self.is_set(option.name);
        self.set.push((option.name, value));
        was_set
    }

    /// Whether the user has set the option.
    pub fn is_set(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| *set == name)
    }

    /// What the option is.
    pub fn value(&self, name: &str) -> Value {
        let set = self.set.iter().rev().find(|(set, _)| *set == name).map(|(_, value)| *value);
        let default =
            || self.options.iter().find(|option| option.name == name).map(|option| option.default);
        set.or_else(default)
            .unwrap_or_else(|| panic!("the table of players has no option `{name}` there"))
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        let Value::Flag(flag) = self.value(name) else {
            panic!("the table says `{name}` is no flag")
        };
        flag
    }

    /// The number that a whole-numbered option is.
    pub fn integer(&self, name: &str) -> u64 {
        let Value::Integer(n) = self.value(name) else {
            panic!("the table says `{name}` is no whole number")
        };
        n
    }

    /// The number that an option is.
    pub fn real(&self, name: &str) -> f64 {
        let Value::Real(x) = self.value(name) else {
            panic!("the table says `{name}` is no number")
        };
        x
    }

    /// The text that an option is.
    pub fn text(&self, name: &str) -> &'static str {
        let Value::Text(text) = self.value(name) else {
            panic!("the table says `{name}` is no text")
        };
        text
    }

    /// The word that an option is.
    pub fn word(&self, name: &str) -> &'static str {
        let Value::Word(word) = self.value(name) else {
            panic!("the table says `{name}` is no word")
        };
        word
    }
}
