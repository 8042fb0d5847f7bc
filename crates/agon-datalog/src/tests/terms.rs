//! Tests of the term bank: one id for one term, regardless of the thread that stores it.

use std::cmp::Ordering;
use std::sync::{Arc, Barrier};

use proptest::prelude::*;

use super::oracle::Ground;
use super::seeded;
use crate::{Symbol, TermBank, TermId, TermRefusal};

const N_SYMBOLS: u32 = 4;

fn ground() -> impl Strategy<Value = Ground> {
    let constant = (0..N_SYMBOLS).prop_map(|symbol| Ground(symbol, Vec::new()));
    constant.prop_recursive(4, 12, 3, |inner| {
        (0..N_SYMBOLS, prop::collection::vec(inner, 0..4))
            .prop_map(|(symbol, parts)| Ground(symbol, parts))
    })
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn ids_are_equal_if_and_only_if_terms_are(a in ground(), b in ground()) {
        let bank = TermBank::new(10);
        let (x, y) = (a.in_bank(&bank), b.in_bank(&bank));
        prop_assert_eq!(x == y, a == b);
        prop_assert_eq!(&Ground::of_bank(x, &bank), &a);
        prop_assert_eq!(bank.find(bank.symbol(y), &bank.arguments(y).collect::<Vec<_>>()), Some(y));
        // A bank with another insertion order gives the same hashes.
        let other = TermBank::new(10);
        let (y_there, x_there) = (b.in_bank(&other), a.in_bank(&other));
        prop_assert_eq!((bank.hash(x), bank.hash(y)), (other.hash(x_there), other.hash(y_there)));
    }

    #[test]
    fn compare_is_a_total_order(
        terms in prop::collection::vec(ground(), 3),
        rank in Just((0..N_SYMBOLS).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let bank = TermBank::new(10);
        let ids: Vec<TermId> = terms.iter().map(|term| term.in_bank(&bank)).collect();
        let compare = |a: usize, b: usize| bank.compare(ids[a], ids[b], &rank);
        for a in 0..3 {
            for b in 0..3 {
                prop_assert_eq!(compare(a, b), compare(b, a).reverse());
                prop_assert_eq!(compare(a, b) == Ordering::Equal, terms[a] == terms[b]);
                for c in 0..3 {
                    if compare(a, b).is_lt() && compare(b, c).is_lt() {
                        prop_assert!(compare(a, c).is_lt());
                    }
                }
            }
        }
    }
}

#[test]
fn threads_agree_on_ids() {
    const N_THREADS: u32 = 4;
    let bank = Arc::new(TermBank::new(100));
    let start = Barrier::new(N_THREADS as usize);
    // Each thread stores the same terms from a different starting point, enough for several chunks.
    let store = |thread: u32| {
        start.wait();
        let mut ids = vec![None; 20_000];
        for i in 0..20_000 {
            let number = (i + thread * 5_000) % 20_000;
            let inner = bank.term(Symbol::new(number % 100), &[]).expect("a constant fits");
            let outer = bank.term(Symbol::new(number), &[inner, inner]).expect("it is not deep");
            assert_eq!(bank.argument(outer, 1), inner);
            ids[number as usize] = Some(outer);
        }
        ids
    };
    let stored: Vec<Vec<Option<TermId>>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..N_THREADS).map(|thread| scope.spawn(move || store(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert!(stored.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(stored[0].iter().all(Option::is_some));
}

#[test]
fn depth_is_limited() {
    let bank = TermBank::new(3);
    let mut term = bank.term(Symbol::new(0), &[]).expect("a constant has depth 1");
    for depth in 2..=3 {
        term = bank.term(Symbol::new(1), &[term]).expect("not too deep");
        assert_eq!(bank.depth(term), depth);
    }
    assert_eq!(bank.term(Symbol::new(1), &[term]), Err(TermRefusal::Depth));
    assert_eq!(bank.find(Symbol::new(1), &[term]), None);
}

#[test]
fn arity_is_limited() {
    let bank = TermBank::new(3);
    let a = bank.term(Symbol::new(0), &[]).expect("a constant fits");
    assert!(bank.term(Symbol::new(1), &vec![a; 60_000]).is_ok());
    assert_eq!(bank.term(Symbol::new(1), &vec![a; 70_000]), Err(TermRefusal::Full));
}

#[test]
fn deeply_nested_terms_can_be_compared() {
    let bank = TermBank::new(u32::MAX);
    let nest = |symbol| {
        let mut term = bank.term(Symbol::new(symbol), &[]).expect("a constant fits");
        while let Ok(deeper) = bank.term(Symbol::new(2), &[term]) {
            term = deeper;
        }
        term
    };
    assert_eq!(bank.compare(nest(0), nest(1), &[0, 1, 2]), Ordering::Less);
}
