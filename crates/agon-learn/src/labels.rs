//! Names of a game in an order that does not depend on how they are spelt.

use std::collections::BTreeMap;

/// Labels of the names of a game. Two games that differ only in their names have the same facts
/// and roles in the order of their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels(Option<BTreeMap<String, u32>>);

impl Labels {
    /// Returns labels by which names correspond to themselves alone.
    pub fn exact() -> Labels {
        Labels(None)
    }

    /// Returns the labels of names. Different names must have different labels.
    pub fn new(labels: BTreeMap<String, u32>) -> Labels {
        Labels(Some(labels))
    }

    /// Returns the place of each text among all of them, in the order of their labels. Returns
    /// `None` if a name has no label, or two texts are equal.
    pub fn order(&self, texts: &[String]) -> Option<Vec<u32>> {
        let labelled: Vec<String> =
            texts.iter().map(|text| self.labelled(text)).collect::<Option<_>>()?;
        let mut sorted: Vec<usize> = (0..texts.len()).collect();
        sorted.sort_unstable_by_key(|&text| &labelled[text]);
        if sorted.windows(2).any(|pair| labelled[pair[0]] == labelled[pair[1]]) {
            return None;
        }
        let mut order = vec![0; texts.len()];
        for (place, text) in (0..).zip(sorted) {
            order[text] = place;
        }
        Some(order)
    }

    /// Returns a text with labels in place of names.
    fn labelled(&self, text: &str) -> Option<String> {
        let Some(labels) = &self.0 else { return Some(text.to_owned()) };
        let is_break = |c: char| c == '(' || c == ')' || c == ',' || c.is_whitespace();
        let mut labelled = String::with_capacity(text.len());
        for part in text.split_inclusive(is_break) {
            let word = part.trim_end_matches(is_break);
            if !word.is_empty() {
                let label = labels.get(word)?;
                labelled.push_str(&format!("{label:010}"));
            }
            labelled.push_str(&part[word.len()..]);
        }
        Some(labelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corresponding_facts_have_the_same_places() {
        let labels = |names: [&str; 4]| {
            Labels::new(names.iter().map(|name| (*name).to_owned()).zip(0..).collect())
        };
        let order = |labels: &Labels, texts: &[&str]| {
            labels.order(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        let one = labels(["cell", "x", "o", "b"]);
        let two = labels(["zelle", "b", "a", "o"]);
        let first = order(&one, &["(cell x o)", "(cell b (cell o))", "(cell o x)"]);
        let second = order(&two, &["(zelle b a)", "(zelle o (zelle a))", "(zelle a b)"]);
        assert_eq!(first, Some(vec![0, 2, 1]));
        assert_eq!(first, second);
        assert_eq!(order(&one, &["(cell y)"]), None);
        assert_eq!(order(&one, &["x", "x"]), None);
        assert_eq!(order(&Labels::exact(), &["(b)", "(a)"]), Some(vec![1, 0]));
    }
}
