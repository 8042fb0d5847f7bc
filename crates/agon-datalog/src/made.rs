//! The terms an engine made lately: a bank is shared and locked, this is not.

use crate::term::{TermRefusal, mix};
use crate::{Symbol, TermBank, TermId};

/// Terms with more arguments than this are looked up in the bank.
const MAX_ARGUMENTS: usize = 6;
/// A power of two. More terms than most states and their moves have, and small enough for the second-level cache.
const N_PLACES: usize = 8192;

/// A place for each of some hashes, with the last term made that has it.
#[derive(Clone)]
pub(crate) struct Made {
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    symbol: u32,
    /// `u32::MAX` where nothing is.
    n_arguments: u32,
    arguments: [u32; MAX_ARGUMENTS],
    id: u32,
}

const EMPTY: Place =
    Place { symbol: 0, n_arguments: u32::MAX, arguments: [0; MAX_ARGUMENTS], id: 0 };

impl Made {
    pub(crate) fn new() -> Made {
        Made { places: Vec::new() }
    }

    /// The term with this symbol and these arguments.
    #[inline]
    pub(crate) fn term(
        &mut self,
        bank: &TermBank,
        symbol: Symbol,
        arguments: &[TermId],
    ) -> Result<TermId, TermRefusal> {
        if arguments.len() > MAX_ARGUMENTS {
            return bank.term(symbol, arguments);
        }
        if self.places.is_empty() {
            self.places = vec![EMPTY; N_PLACES];
        }
        let hash = arguments
            .iter()
            .fold(u64::from(symbol.raw()), |hash, argument| mix(hash, argument.raw().into()));
        let place = &mut self.places[hash as usize & (N_PLACES - 1)];
        let is_same = place.symbol == symbol.raw()
            && place.n_arguments as usize == arguments.len()
            && place
                .arguments
                .iter()
                .zip(arguments)
                .all(|(known, argument)| *known == argument.raw());
        if is_same {
            return Ok(TermId::from_raw(place.id));
        }
        let id = bank.term(symbol, arguments)?;
        *place = Place {
            symbol: symbol.raw(),
            n_arguments: u32::try_from(arguments.len()).expect("few arguments"),
            id: id.raw(),
            ..EMPTY
        };
        for (known, argument) in place.arguments.iter_mut().zip(arguments) {
            *known = argument.raw();
        }
        Ok(id)
    }
}
