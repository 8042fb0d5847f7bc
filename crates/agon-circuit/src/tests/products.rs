//! Products in lanes, by both backends, compared with products of single numbers.

use proptest::prelude::*;

use super::seeded;
use crate::{Backend, Products, RunKind, Wide};

/// Runs: the number of products, the number of factors of each, numbers to draw the factors by, and
/// what is computed.
type Plan = Vec<(usize, usize, Vec<u32>, RunKind)>;

fn plan() -> impl Strategy<Value = Plan> {
    let run = (1_usize..4, 1_usize..7).prop_flat_map(|(n, width)| {
        let kind = prop_oneof![Just(RunKind::Product), Just(RunKind::Complement)];
        (Just(n), Just(width), proptest::collection::vec(any::<u32>(), n * width), kind)
    });
    proptest::collection::vec(run, 0..8)
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn lanes_multiply_as_single_numbers_do(
        given in proptest::collection::vec(proptest::array::uniform16(0.0..1.0_f64), 1..6),
        plan in plan(),
        n_lanes in 0..=Wide::LANES,
    ) {
        let mut products = Products::new(given.len());
        let mut wanted: Vec<[f64; Wide::LANES]> = given.clone();
        for (n, width, drawn, kind) in &plan {
            let n_known = products.n_places() as u32;
            let factors: Vec<u32> = drawn.iter().map(|drawn| drawn % n_known).collect();
            prop_assert_eq!(products.push_run(*width, &factors, *kind), wanted.len());
            for own in factors.chunks(*width) {
                wanted.push(std::array::from_fn(|lane| {
                    let factors = own.iter().map(|&factor| wanted[factor as usize][lane]);
                    let product: f64 = factors.product();
                    match kind {
                        RunKind::Product => product,
                        RunKind::Complement => 1.0 - product,
                    }
                }));
            }
            prop_assert_eq!(products.n_places(), n_known as usize + n);
        }
        prop_assert_eq!(products.n_places(), wanted.len());
        for backend in [Backend::Native, Backend::Portable] {
            let mut values: Vec<Wide> = given.iter().map(|&given| Wide(given)).collect();
            values.resize(products.n_places(), Wide::all(f64::NAN));
            products.compute(&mut values, n_lanes, backend);
            for (found, wanted) in values.iter().zip(&wanted) {
                prop_assert_eq!(&found.0[..n_lanes], &wanted[..n_lanes], "to the last bit");
            }
        }
    }
}

#[test]
#[should_panic(expected = "factors exist before their product")]
fn a_product_is_not_its_own_factor() {
    Products::new(2).push_run(1, &[2], RunKind::Product);
}
