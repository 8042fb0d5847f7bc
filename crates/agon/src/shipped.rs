//! The games that ship with Agon: their rules are part of the library.

/// A rulesheet that is part of the library.
pub struct Shipped {
    /// The name by which the game is opened.
    pub name: &'static str,
    /// The path of the rulesheet in the project.
    pub path: &'static str,
    /// The rules.
    pub text: &'static str,
}

/// All shipped games, sorted by name; GDL first.
pub const SHIPPED: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// Returns the game of a name. Structure rewriting games are called `toss/NAME`, in records
    /// `toss-NAME`. Plain `NAME` is enough where no GDL game has the name.
    pub fn named(name: &str) -> Option<&'static Shipped> {
        let called =
            |wanted: &str| SHIPPED.iter().find(|game| game.name.eq_ignore_ascii_case(wanted));
        let in_record =
            || name.strip_prefix("toss-").and_then(|rest| called(&format!("toss/{rest}")));
        called(name).or_else(in_record).or_else(|| called(&format!("toss/{name}")))
    }

    /// Returns the value of a key such as `title` in the comment at the top of the rulesheet.
    pub fn header(&self, key: &str) -> Option<String> {
        header(self.text, key)
    }
}

/// Returns the value of a key such as `title` in the comment at the top of a rulesheet, including
/// continuation lines.
pub fn header(text: &str, key: &str) -> Option<String> {
    let mut found: Option<String> = None;
    for line in text.lines().take_while(|line| line.starts_with(";;") || line.starts_with("//")) {
        let line = &line[2..];
        let is_continuation = line.starts_with("   ");
        let named = line.trim_start().split_once(':').filter(|_| !is_continuation);
        match (&mut found, named) {
            (Some(value), None) if is_continuation => {
                value.push(' ');
                value.push_str(line.trim());
            }
            (Some(_), _) => break,
            (None, Some((name, value))) if name.trim() == key => {
                found = Some(value.trim().to_owned());
            }
            (None, _) => {}
        }
    }
    found
}
