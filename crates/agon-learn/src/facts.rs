//! The facts of a game as their texts show them: a name with arguments.

/// A fact: the words of its text without parentheses. The first word is its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    words: Vec<String>,
}

impl Fact {
    pub(crate) fn parse(text: &str) -> Fact {
        let is_break = |c: char| c == '(' || c == ')' || c == ',' || c.is_whitespace();
        let words = text.split(is_break).filter(|word| !word.is_empty());
        Fact { words: words.map(str::to_owned).collect() }
    }

    pub(crate) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    pub(crate) fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or(&[])
    }
}

/// Returns the values of an argument in their order, if they have one: numbers, letters, or a
/// common prefix with a number. Words without an order, such as the names of pieces, have none.
pub(crate) fn ordered(mut values: Vec<&str>) -> Option<Vec<&str>> {
    values.sort_unstable();
    values.dedup();
    if values.len() < 2 {
        return None;
    }
    if let Some(mut numbered) =
        values.iter().map(|value| Some((number(value)?, *value))).collect::<Option<Vec<_>>>()
    {
        numbered.sort_unstable();
        let prefix = |value: &str| value.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let lengths_agree = values.iter().all(|value| prefix(value) == prefix(values[0]));
        return lengths_agree
            .then(|| numbered.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
    }
    let is_letter = |value: &&str| value.len() == 1 && value.as_bytes()[0].is_ascii_alphabetic();
    // Single letters often are pieces. Consecutive ones are coordinates.
    let first = values[0].as_bytes()[0];
    let is_run = values.iter().zip(first..).all(|(value, letter)| value.as_bytes()[0] == letter);
    (values.len() >= 3 && values.iter().all(is_letter) && is_run).then_some(values)
}

/// Returns the number at the end of a word.
fn number(word: &str) -> Option<u64> {
    let digits = word.len() - word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    word[word.len() - digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_facts() {
        let fact = Fact::parse("(cell 1 (pos a 2) x)");
        assert_eq!(fact.name(), "cell");
        assert_eq!(fact.arguments(), ["1", "pos", "a", "2", "x"]);
        assert_eq!(Fact::parse("done").arguments(), [""; 0]);
    }

    #[test]
    fn values_with_an_order() {
        assert_eq!(ordered(vec!["10", "9", "1", "9"]), Some(vec!["1", "9", "10"]));
        assert_eq!(ordered(vec!["c", "a", "b"]), Some(vec!["a", "b", "c"]));
        assert_eq!(ordered(vec!["c2", "c10"]), Some(vec!["c2", "c10"]));
        assert_eq!(ordered(vec!["x", "o", "b"]), None);
        assert_eq!(ordered(vec!["white", "black"]), None);
        assert_eq!(ordered(vec!["w1", "black1"]), None);
        assert_eq!(ordered(vec!["7"]), None);
    }
}
