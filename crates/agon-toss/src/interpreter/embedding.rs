//! Embeddings of rules.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use agon_structures::structure::Element;

/// Number of elements stored inline. Most rules have no more.
const FEW: usize = 4;

/// The elements that a rule is applied to, in the order of its left side.
///
/// A state of a large structure has a thousand embeddings, and a search visits thousands of states
/// per second, so a few elements are stored inline without an allocation. Equality, order and hash
/// are those of the slice of elements.
#[derive(Clone)]
pub struct Embedding(Kept);

#[derive(Clone)]
enum Kept {
    Few(u8, [Element; FEW]),
    Many(Box<[Element]>),
}

impl Deref for Embedding {
    type Target = [Element];

    fn deref(&self) -> &[Element] {
        match &self.0 {
            Kept::Few(n, elements) => &elements[..usize::from(*n)],
            Kept::Many(elements) => elements,
        }
    }
}

impl FromIterator<Element> for Embedding {
    fn from_iter<I: IntoIterator<Item = Element>>(elements: I) -> Embedding {
        let mut few = [Element::new(0); FEW];
        let mut n = 0;
        let mut elements = elements.into_iter();
        while let Some(element) = elements.next() {
            if n == FEW {
                let many = few.into_iter().chain([element]).chain(elements).collect();
                return Embedding(Kept::Many(many));
            }
            few[n] = element;
            n += 1;
        }
        Embedding(Kept::Few(n as u8, few))
    }
}

impl From<&[Element]> for Embedding {
    fn from(elements: &[Element]) -> Embedding {
        elements.iter().copied().collect()
    }
}

impl PartialEq for Embedding {
    fn eq(&self, other: &Embedding) -> bool {
        **self == **other
    }
}

impl Eq for Embedding {}

impl PartialOrd for Embedding {
    fn partial_cmp(&self, other: &Embedding) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Embedding {
    fn cmp(&self, other: &Embedding) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Embedding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
