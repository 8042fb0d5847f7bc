//! The games that ship with the program.

/// A rulesheet inside the program.
pub(crate) struct Shipped {
    /// The name it is called by.
    pub(crate) name: &'static str,
    /// Where it stands in the project.
    pub(crate) path: &'static str,
    /// The rules.
    pub(crate) text: &'static str,
}

/// All of them, by name.
pub(crate) const SHIPPED: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// The game of that name. Structure rewriting games are called `toss/NAME`, in records `toss-NAME`; where no game in GDL has
    /// the name, `NAME` will do.
    pub(crate) fn named(name: &str) -> Option<&'static Shipped> {
        let called =
            |wanted: &str| SHIPPED.iter().find(|game| game.name.eq_ignore_ascii_case(wanted));
        let in_record =
            || name.strip_prefix("toss-").and_then(|rest| called(&format!("toss/{rest}")));
        called(name).or_else(in_record).or_else(|| called(&format!("toss/{name}")))
    }

    /// What the comment at the top says of a key such as `title`.
    pub(crate) fn header(&self, key: &str) -> Option<String> {
        header(self.text, key)
    }
}

/// The value of a key such as `title` in the comment at the top of a rulesheet, continuation lines included.
pub(crate) fn header(text: &str, key: &str) -> Option<String> {
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
                found = Some(value.trim().to_owned())
            }
            (None, _) => {}
        }
    }
    found
}
