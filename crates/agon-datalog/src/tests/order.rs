//! Sorting of terms: equal to sorting by comparison, whatever the order of arrival.

use agon_testkit::growth::assert_growth;

use crate::{Symbol, TermBank, TermId, TermOrder};

/// Returns terms `f(a, b)` for all pairs of numbers below `n`, and the rank of their symbols.
fn pairs(n: u32, bank: &TermBank) -> (Vec<TermId>, Vec<u32>) {
    let constant = |i: u32| bank.term(Symbol::new(i + 1), &[]).expect("a constant fits");
    let constants: Vec<TermId> = (0..n).map(constant).collect();
    let pair = |&a: &TermId| {
        let of = |&b: &TermId| bank.term(Symbol::new(0), &[a, b]).expect("a pair fits");
        constants.iter().map(of).collect::<Vec<_>>()
    };
    // The last names come first.
    (constants.iter().flat_map(pair).collect(), (0..=n).rev().collect())
}

/// Returns the terms in another order, which depends on the factor.
fn shuffled(terms: &[TermId], factor: usize) -> Vec<TermId> {
    (0..terms.len()).map(|i| terms[i * factor % terms.len()]).collect()
}

#[test]
fn terms_are_sorted_as_by_comparison() {
    let bank = TermBank::new(10);
    let (terms, rank) = pairs(61, &bank);
    let mut expected = terms.clone();
    expected.sort_by(|&a, &b| bank.compare(a, b, &rank));
    // In rising, falling and mixed order, all at once and little by little.
    let falling: Vec<TermId> = expected.iter().rev().copied().collect();
    for arriving in [&expected, &falling, &terms, &shuffled(&terms, 7), &shuffled(&terms, 1000)] {
        for step in [1, 13, terms.len()] {
            let mut order = TermOrder::default();
            for end in (step..=arriving.len()).step_by(step) {
                let mut some = arriving[end - step..end].to_vec();
                let mut by_comparison = some.clone();
                by_comparison.sort_by(|&a, &b| bank.compare(a, b, &rank));
                order.sort(&mut some, &bank, &rank);
                assert_eq!(some, by_comparison);
            }
            let mut all = arriving.clone();
            order.sort(&mut all, &bank, &rank);
            assert_eq!(all, expected);
        }
    }
}

#[test]
fn the_time_of_sorting_is_not_quadratic() {
    // 22 500 and 360 000 terms. The square of the size is proportional, sorting adds a logarithm.
    let make = |n: usize| {
        let bank = TermBank::new(10);
        let (terms, rank) = pairs(n as u32, &bank);
        (shuffled(&terms, 7919), bank, rank)
    };
    assert_growth(2.8, [150, 600], make, |(terms, bank, rank)| {
        TermOrder::default().sort(&mut terms.clone(), bank, rank);
    });
}
