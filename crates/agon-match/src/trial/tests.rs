//! The decision itself; that a trial is held and changes nothing without a clock is tested where there are games.

use super::sure_score;

#[test]
fn only_a_clear_win_counts() {
    let even = [1.0, 0.0].repeat(8);
    assert_eq!(sure_score(&even), None);
    assert_eq!(sure_score(&[1.0; 7]), None, "so few are no trial");
    assert_eq!(sure_score(&[1.0; 8]), Some(1.0));
    let mut most = vec![1.0; 13];
    most.extend([0.0; 3]);
    assert_eq!(sure_score(&most), Some(13.0 / 16.0));
    let mut some = vec![1.0; 10];
    some.extend([0.0; 6]);
    assert_eq!(sure_score(&some), None, "ten of sixteen happens by chance");
    assert_eq!(sure_score(&[0.5; 16]), None, "draws decide nothing");
    assert_eq!(sure_score(&[]), None);
}
