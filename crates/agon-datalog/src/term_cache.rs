//! A cache of recently built terms. The term bank is shared and locked, this cache is not.

use crate::term::{TermRefusal, mix};
use crate::{Symbol, TermBank, TermId};

/// Terms with more arguments than this are always looked up in the bank.
const MAX_ARGUMENTS: usize = 6;
/// Number of slots, a power of two. It exceeds the number of terms of most states and their moves,
/// and fits into the second-level cache.
const N_SLOTS: usize = 8192;

/// A direct-mapped cache: each slot has the last term with its hash.
#[derive(Clone)]
pub(crate) struct TermCache {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    symbol: u32,
    /// `u32::MAX` in an empty slot.
    n_arguments: u32,
    arguments: [u32; MAX_ARGUMENTS],
    id: u32,
}

const EMPTY: Slot = Slot { symbol: 0, n_arguments: u32::MAX, arguments: [0; MAX_ARGUMENTS], id: 0 };

impl TermCache {
    pub(crate) fn new() -> TermCache {
        TermCache { slots: Vec::new() }
    }

    /// Returns the term with this symbol and these arguments.
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
        if self.slots.is_empty() {
            self.slots = vec![EMPTY; N_SLOTS];
        }
        let hash = arguments
            .iter()
            .fold(u64::from(symbol.raw()), |hash, argument| mix(hash, argument.raw().into()));
        let slot = &mut self.slots[hash as usize & (N_SLOTS - 1)];
        let is_same = slot.symbol == symbol.raw()
            && slot.n_arguments as usize == arguments.len()
            && slot
                .arguments
                .iter()
                .zip(arguments)
                .all(|(known, argument)| *known == argument.raw());
        if is_same {
            return Ok(TermId::from_raw(slot.id));
        }
        let id = bank.term(symbol, arguments)?;
        *slot = Slot {
            symbol: symbol.raw(),
            n_arguments: u32::try_from(arguments.len())
                .expect("the number of arguments is limited"),
            id: id.raw(),
            ..EMPTY
        };
        for (known, argument) in slot.arguments.iter_mut().zip(arguments) {
            *known = argument.raw();
        }
        Ok(id)
    }
}
