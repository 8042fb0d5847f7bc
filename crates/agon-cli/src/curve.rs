//! Curves of learning as text.

/// Height of a chart in lines, and its maximum width in characters.
const SIZE: (usize, usize) = (8, 60);
/// Elo points for one character of a bar, and its maximum length.
const BAR: (f64, f64) = (100.0, 30.0);

/// Returns a bar whose length shows a strength.
pub(crate) fn bar(elo: f64) -> String {
    "█".repeat((elo / BAR.0).clamp(0.0, BAR.1).round() as usize)
}

/// Draws strength against seconds: a point counts from its time until the next one. The list must
/// be in the order of time.
pub(crate) fn chart(points: &[(f64, f64)]) -> Vec<String> {
    let Some(&(end, _)) = points.last() else { return Vec::new() };
    let low = points.iter().fold(0.0_f64, |low, (_, elo)| low.min(*elo));
    let high = points.iter().fold(low + 100.0, |high, (_, elo)| high.max(*elo));
    let (height, width) = SIZE;
    let elo_at = |column: usize| {
        let time = end * (column + 1) as f64 / width as f64;
        // Rounding must not lose the last point.
        let last = points.iter().rev().find(|(seconds, _)| *seconds <= time * (1.0 + 1e-9));
        last.map(|(_, elo)| *elo)
    };
    let step = (high - low) / height as f64;
    let mut lines: Vec<String> = (0..height)
        .rev()
        .map(|row| {
            let bottom = low + step * row as f64;
            let cells: String = (0..width)
                .map(|column| match elo_at(column) {
                    Some(elo) if elo >= bottom + 0.75 * step => '█',
                    Some(elo) if elo >= bottom + 0.25 * step => '▄',
                    _ => ' ',
                })
                .collect();
            format!("{:+6.0} │{}", bottom + step, cells.trim_end())
        })
        .collect();
    lines.push(format!("{low:+6.0} └{}", "─".repeat(width)));
    let time = format!("{end:.0} s");
    lines.push(format!("{:8}0{time:>1$}", "", width - 1));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_rise_with_strength() {
        let lines = chart(&[(1.0, 0.0), (5.0, 400.0), (10.0, 800.0)]);
        assert_eq!(lines.len(), SIZE.0 + 2);
        let n_full = |line: &str| line.chars().filter(|c| *c == '█').count();
        let counts: Vec<usize> = lines[..SIZE.0].iter().map(|line| n_full(line)).collect();
        assert!(counts.is_sorted(), "lower lines are longer: {lines:#?}");
        assert_eq!((counts[0], counts[SIZE.0 - 1]), (1, 31), "{lines:#?}");
        assert!(lines[0].starts_with("  +800 │") && lines[SIZE.0 + 1].ends_with("10 s"));
        assert!(chart(&[]).is_empty());
        assert_eq!((bar(-50.0), bar(250.0).chars().count()), (String::new(), 3));
    }
}
