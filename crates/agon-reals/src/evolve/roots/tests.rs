//! Signs of polynomials with known roots.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;

/// The coefficients of the product of (x - root) over all roots, times a factor.
fn product(roots: &[f64], factor: f64) -> Vec<f64> {
    let mut coefficients = vec![factor];
    for root in roots {
        let mut next = vec![0.0; coefficients.len() + 1];
        for (power, coefficient) in coefficients.iter().enumerate() {
            next[power + 1] += coefficient;
            next[power] -= root * coefficient;
        }
        coefficients = next;
    }
    coefficients
}

fn points(coefficients: &[f64]) -> Vec<Interval> {
    coefficients.iter().map(|coefficient| Interval::point(*coefficient)).collect()
}

fn assert_cover(pieces: &[Piece]) {
    assert_eq!(pieces.first().map(|piece| piece.lo), Some(0.0));
    assert_eq!(pieces.last().map(|piece| piece.hi), Some(1.0));
    for pair in pieces.windows(2) {
        assert_eq!(pair[0].hi, pair[1].lo);
        assert_ne!(pair[0].sign, pair[1].sign);
    }
}

proptest! {
    #![proptest_config(seeded(1000))]

    #[test]
    fn simple_roots_are_found(
        mut roots in prop::collection::vec(-1.0..2.0f64, 1..6),
        factor in prop_oneof![-5.0..-0.1f64, 0.1..5.0f64],
    ) {
        roots.sort_by(f64::total_cmp);
        prop_assume!(roots.windows(2).all(|pair| pair[1] - pair[0] > 1e-3));
        prop_assume!(roots.iter().all(|root| root.abs() > 1e-6 && (root - 1.0).abs() > 1e-6));
        let pieces = polynomial_pieces(&points(&product(&roots, factor)));
        assert_cover(&pieces);
        let found: Vec<f64> =
            pieces.iter().filter(|piece| piece.sign == Sign::Zero).map(|piece| piece.lo).collect();
        let inside: Vec<f64> =
            roots.iter().copied().filter(|root| (0.0..=1.0).contains(root)).collect();
        prop_assert_eq!(found.len(), inside.len());
        for (found, truth) in found.iter().zip(&inside) {
            prop_assert!((found - truth).abs() < 1e-9, "{} {}", found, truth);
        }
        // Between the roots the sign is that of the product.
        for piece in pieces.iter().filter(|piece| piece.sign != Sign::Zero) {
            let middle = 0.5 * (piece.lo + piece.hi);
            let value = roots.iter().fold(factor, |value, root| value * (middle - root));
            prop_assert_eq!(piece.sign, sign_of(value));
        }
    }

    #[test]
    fn close_pairs_of_roots_are_not_stepped_over(
        place in 0.05..0.95f64, gap in 1e-6..1e-2f64, factor in 0.1..1000.0f64,
    ) {
        let pieces = polynomial_pieces(&points(&product(&[place, place + gap], factor)));
        assert_cover(&pieces);
        prop_assert!(pieces.iter().any(|piece| piece.sign == Sign::Negative));
        prop_assert!((pieces[0].hi - place).abs() < 1e-6 * gap.max(1e-4));
    }

    #[test]
    fn double_roots_are_zero_and_near_misses_are_not(numerator in 50u32..950) {
        // The square of such a number has no rounding error, so the root is double.
        let place = f64::from(numerator) / 1024.0;
        let square = product(&[place, place], 1.0);
        let pieces = polynomial_pieces(&points(&square));
        assert_cover(&pieces);
        prop_assert!(pieces.iter().all(|piece| piece.sign != Sign::Negative || piece.hi - piece.lo < 1e-7));
        prop_assert!((pieces[0].hi - place).abs() < 1e-7, "{pieces:?}");
        let lifted = [square[0] + 1e-12, square[1], square[2]];
        prop_assert_eq!(polynomial_pieces(&points(&lifted)).len(), 1);
    }

    #[test]
    fn functions_have_the_pieces_of_polynomials(
        mut roots in prop::collection::vec(-0.5..1.5f64, 1..4),
    ) {
        roots.sort_by(f64::total_cmp);
        prop_assume!(roots.windows(2).all(|pair| pair[1] - pair[0] > 1e-2));
        prop_assume!(roots.iter().all(|root| root.abs() > 1e-3 && (root - 1.0).abs() > 1e-3));
        let coefficients = product(&roots, 1.0);
        let horner = |coefficients: &[f64], place: Interval| {
            coefficients.iter().rev().fold(Interval::ZERO, |value, coefficient| {
                value * place + Interval::point(*coefficient)
            })
        };
        let slopes: Vec<f64> =
            coefficients.iter().enumerate().skip(1).map(|(power, c)| power as f64 * c).collect();
        let range = |part: Interval| Range::Defined {
            values: horner(&coefficients, part),
            slope: Some(horner(&slopes, part)),
        };
        let value = |place: f64| horner(&coefficients, Interval::point(place)).midpoint();
        let found = function_pieces(&range, &value);
        let expected = polynomial_pieces(&points(&coefficients));
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert_eq!(found.sign, expected.sign);
            prop_assert!((found.lo - expected.lo).abs() < 1e-9);
        }
    }
}

#[test]
fn constants_have_one_piece() {
    for (constant, sign) in [(1.0, Sign::Positive), (-2.0, Sign::Negative), (0.0, Sign::Zero)] {
        let pieces = polynomial_pieces(&points(&[constant, 0.0, 0.0]));
        assert_eq!(pieces, [Piece { lo: 0.0, hi: 1.0, sign }]);
    }
    assert_eq!(polynomial_pieces(&[]), [Piece { lo: 0.0, hi: 1.0, sign: Sign::Zero }]);
}

#[test]
fn undefined_parts_are_told_apart() {
    // Defined only after 0.3.
    let range = |part: Interval| {
        if part.hi < 0.3 {
            Range::Undefined
        } else if part.lo <= 0.3 {
            Range::Unknown
        } else {
            Range::Defined { values: Interval::ONE, slope: None }
        }
    };
    let value = |place: f64| if place < 0.3 { f64::NAN } else { 1.0 };
    let pieces = function_pieces(&range, &value);
    assert_eq!(pieces.len(), 2);
    assert_eq!((pieces[0].sign, pieces[1].sign), (Sign::Undefined, Sign::Positive));
    assert!((pieces[0].hi - 0.3).abs() < 1e-12);
}
