//! What a rule is applied to.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use agon_structures::structure::Element;

/// So many elements are kept in place: most rules have no more.
const FEW: usize = 4;

/// The elements that a rule is applied to, in the order of its left side. A state of a large structure has a thousand of them, and
/// is one of thousands in a second, so a few elements are kept without memory of their own. It is equal, ordered and
/// hashed as the slice of its elements.
#[derive(Clone)]
pub struct Matched(Kept);

#[derive(Clone)]
enum Kept {
    Few(u8, [Element; FEW]),
    Many(Box<[Element]>),
}

impl Deref for Matched {
    type Target = [Element];

    fn deref(&self) -> &[Element] {
        match &self.0 {
            Kept::Few(n, elements) => &elements[..usize::from(*n)],
            Kept::Many(elements) => elements,
        }
    }
}

impl FromIterator<Element> for Matched {
    fn from_iter<I: IntoIterator<Item = Element>>(elements: I) -> Matched {
        let mut few = [Element::new(0); FEW];
        let mut n = 0;
        let mut elements = elements.into_iter();
        while let Some(element) = elements.next() {
            if n == FEW {
                let many = few.into_iter().chain([element]).chain(elements).collect();
                return Matched(Kept::Many(many));
            }
            few[n] = element;
            n += 1;
        }
        Matched(Kept::Few(n as u8, few))
    }
}

impl From<&[Element]> for Matched {
    fn from(elements: &[Element]) -> Matched {
        elements.iter().copied().collect()
    }
}

impl PartialEq for Matched {
    fn eq(&self, other: &Matched) -> bool {
        **self == **other
    }
}

impl Eq for Matched {}

impl PartialOrd for Matched {
    fn partial_cmp(&self, other: &Matched) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Matched {
    fn cmp(&self, other: &Matched) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Matched {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
