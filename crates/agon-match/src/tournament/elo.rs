//! Elo ratings by the Bradley-Terry model.
//!
//! The expected points of a player against another follow from the difference `d` of their ratings:
//! `1 / (1 + 10^(-d/400))`. The ratings are the maximum-likelihood estimate; half a point counts as
//! half a win. The likelihood has one maximum, which Newton's method finds in a few steps.
//!
//! The intervals do not rely on the variance of the model, because draws vary less than wins and
//! losses, and matches with one seed and swapped roles are not independent. The variance is
//! estimated from the blocks themselves (the sandwich estimate with clusters). The model variance
//! of one block is added, so that a series of equal results does not give an interval of width
//! zero.

use super::estimate::Z;

/// Elo points per unit of log-odds.
const SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// Maximum number of Newton steps. A handful is enough in practice.
const MAX_STEPS: usize = 100;

/// The result of one match between two players.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Game {
    /// Indices of the two players.
    pub players: [usize; 2],
    /// Points of the first player, from 0 to 1.
    pub points: f64,
    /// Games with the same number are not independent.
    pub cluster: usize,
}

/// The rating of a player. The players that are connected by matches, directly or through others,
/// have mean rating 0.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rating {
    /// The rating.
    pub elo: f64,
    /// Half the width of its 95 % interval.
    pub half: f64,
}

/// The ratings of players.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratings {
    /// By player: its rating, or `None` if it has played no match.
    pub ratings: Vec<Option<Rating>>,
    /// Whether the likelihood has a maximum. If some players have lost every match against all
    /// others, the most likely ratings are infinitely far apart. Then a drawn match is added for
    /// each pair that has met, and the ratings underestimate the differences.
    pub is_bounded: bool,
    covariance: Vec<Vec<f64>>,
}

impl Ratings {
    /// Returns how much stronger player `a` is than player `b`, or `None` if one of them has no
    /// rating.
    pub fn difference(&self, a: usize, b: usize) -> Option<Rating> {
        let elo = self.ratings[a]?.elo - self.ratings[b]?.elo;
        let c = &self.covariance;
        let variance = c[a][a] + c[b][b] - c[a][b] - c[b][a];
        Some(Rating { elo, half: SCALE * Z * variance.max(0.0).sqrt() })
    }
}

/// Returns the expected points for a difference in Elo.
pub fn points_of_elo(elo: f64) -> f64 {
    logistic(elo / SCALE)
}

/// Returns the difference in Elo for expected points. It is infinite for 0 and 1.
pub fn elo_of_points(points: f64) -> f64 {
    SCALE * libm::log(points / (1.0 - points))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Rates players by their matches against each other.
pub fn rate(n_players: usize, games: &[Game]) -> Ratings {
    let mut wins = vec![vec![0.0; n_players]; n_players];
    for game in games {
        let [a, b] = game.players;
        wins[a][b] += game.points;
        wins[b][a] += 1.0 - game.points;
    }
    let mut ratings =
        Ratings { ratings: vec![None; n_players], is_bounded: true, covariance: square(n_players) };
    for group in groups(&wins, |a, b| wins[a][b] + wins[b][a] > 0.0) {
        if group.len() < 2 {
            continue;
        }
        // Ford 1957: the likelihood has a maximum if and only if a chain of wins leads from every
        // player to every other.
        let mut counted = wins.clone();
        if !is_strongly_connected(&wins, &group) {
            ratings.is_bounded = false;
            for &a in &group {
                for &b in group.iter().filter(|b| wins[a][**b] + wins[**b][a] > 0.0) {
                    counted[a][b] += 0.5;
                }
            }
        }
        let strengths = most_likely(&counted, &group);
        let covariance = covariance(&counted, &group, &strengths, games);
        for (at, &player) in group.iter().enumerate() {
            let half = SCALE * Z * covariance[at][at].max(0.0).sqrt();
            ratings.ratings[player] = Some(Rating { elo: SCALE * strengths[at], half });
            for (other_at, &other) in group.iter().enumerate() {
                ratings.covariance[player][other] = covariance[at][other_at];
            }
        }
    }
    ratings
}

/// Returns the log-strengths of a group of players that maximise the likelihood of their results.
/// Their mean is 0.
fn most_likely(wins: &[Vec<f64>], group: &[usize]) -> Vec<f64> {
    let likelihood = |strengths: &[f64]| {
        let mut sum = 0.0;
        for (i, &a) in group.iter().enumerate() {
            for (j, &b) in group.iter().enumerate() {
                // The logarithm of the logistic function, in a form that is exact near 0.
                let d = strengths[i] - strengths[j];
                sum -= wins[a][b] * (libm::log1p(libm::exp(-d.abs())) + (-d).max(0.0));
            }
        }
        sum
    };
    let mut strengths = vec![0.0; group.len()];
    let mut best = likelihood(&strengths);
    for _ in 0..MAX_STEPS {
        let step = solve(curvature(wins, group, &strengths), gradient(wins, group, &strengths));
        let mut factor = 1.0;
        let better = loop {
            let tried: Vec<f64> =
                strengths.iter().zip(&step).map(|(s, d)| s + factor * d).collect();
            let value = likelihood(&tried);
            // Near the maximum the likelihood is flat to machine precision, so small steps are
            // taken without comparing it.
            if value > best || step.iter().all(|d| d.abs() < 1e-4) {
                break Some((tried, value));
            }
            factor /= 2.0;
            if factor < 1e-6 {
                break None;
            }
        };
        // No step increases the likelihood: this is the maximum to machine precision.
        let Some((tried, value)) = better else { break };
        (strengths, best) = (tried, value);
        if step.iter().all(|d| d.abs() < 1e-10) {
            break;
        }
    }
    let mean = strengths.iter().sum::<f64>() / strengths.len() as f64;
    strengths.iter().map(|s| s - mean).collect()
}

fn gradient(wins: &[Vec<f64>], group: &[usize], strengths: &[f64]) -> Vec<f64> {
    let slope = |i: usize| -> f64 {
        let of = |j: usize| {
            let (a, b) = (group[i], group[j]);
            wins[a][b] - (wins[a][b] + wins[b][a]) * logistic(strengths[i] - strengths[j])
        };
        (0..group.len()).filter(|j| *j != i).map(of).sum()
    };
    (0..group.len()).map(slope).collect()
}

/// Returns the negated matrix of second derivatives. Strengths are determined up to a common
/// summand; an added constant matrix removes that freedom and changes nothing else.
fn curvature(wins: &[Vec<f64>], group: &[usize], strengths: &[f64]) -> Vec<Vec<f64>> {
    let mut matrix = information(wins, group, strengths);
    matrix.iter_mut().flatten().for_each(|x| *x += 1.0);
    matrix
}

/// Returns the Fisher information matrix of the log-strengths.
fn information(wins: &[Vec<f64>], group: &[usize], strengths: &[f64]) -> Vec<Vec<f64>> {
    let mut matrix = square(group.len());
    for (i, &a) in group.iter().enumerate() {
        for (j, &b) in group.iter().enumerate().filter(|(j, _)| *j != i) {
            let p = logistic(strengths[i] - strengths[j]);
            let weight = (wins[a][b] + wins[b][a]) * p * (1.0 - p);
            matrix[i][i] += weight;
            matrix[i][j] -= weight;
        }
    }
    matrix
}

/// Returns the covariance matrix of the log-strengths: the sandwich estimate with clusters.
fn covariance(
    wins: &[Vec<f64>],
    group: &[usize],
    strengths: &[f64],
    games: &[Game],
) -> Vec<Vec<f64>> {
    let n = group.len();
    let place = |player: usize| group.iter().position(|member| *member == player);
    let mut slopes: std::collections::BTreeMap<usize, Vec<f64>> = std::collections::BTreeMap::new();
    for game in games {
        let [Some(i), Some(j)] = game.players.map(place) else { continue };
        let residual = game.points - logistic(strengths[i] - strengths[j]);
        let slope = slopes.entry(game.cluster).or_insert_with(|| vec![0.0; n]);
        slope[i] += residual;
        slope[j] -= residual;
    }
    let n_clusters = slopes.len().max(1) as f64;
    let mut middle = information(wins, group, strengths);
    middle.iter_mut().flatten().for_each(|x| *x /= n_clusters);
    for slope in slopes.values() {
        for (row, a) in middle.iter_mut().zip(slope) {
            row.iter_mut().zip(slope).for_each(|(x, b)| *x += a * b);
        }
    }
    let outer = curvature(wins, group, strengths);
    let inverse: Vec<Vec<f64>> = (0..n)
        .map(|at| solve(outer.clone(), (0..n).map(|row| f64::from(u8::from(row == at))).collect()))
        .collect();
    product(&product(&inverse, &middle), &inverse)
}

fn square(n: usize) -> Vec<Vec<f64>> {
    vec![vec![0.0; n]; n]
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = b.len();
    let entry = |row: &[f64], column: usize| (0..n).map(|k| row[k] * b[k][column]).sum();
    a.iter().map(|row| (0..n).map(|column| entry(row, column)).collect()).collect()
}

/// Solves a system of linear equations by Gaussian elimination with pivoting. An undetermined
/// variable gets 0.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()));
        let pivot = pivot.expect("there is a row left");
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        if matrix[column][column].abs() < 1e-300 {
            continue;
        }
        for row in 0..n {
            if row == column {
                continue;
            }
            let factor = matrix[row][column] / matrix[column][column];
            let eliminator = matrix[column].clone();
            matrix[row].iter_mut().zip(&eliminator).for_each(|(x, y)| *x -= factor * y);
            right[row] -= factor * right[column];
        }
    }
    let divided =
        |i: usize| if matrix[i][i].abs() < 1e-300 { 0.0 } else { right[i] / matrix[i][i] };
    (0..n).map(divided).collect()
}

/// Partitions the players into groups that are connected by matches.
fn groups(wins: &[Vec<f64>], have_met: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let n = wins.len();
    let mut is_placed = vec![false; n];
    let mut groups = Vec::new();
    for first in 0..n {
        if is_placed[first] {
            continue;
        }
        let all: Vec<usize> = (0..n).collect();
        let group = reached(first, &all, &have_met);
        group.iter().for_each(|player| is_placed[*player] = true);
        groups.push(group);
    }
    groups
}

fn is_strongly_connected(wins: &[Vec<f64>], group: &[usize]) -> bool {
    let up = reached(group[0], group, &|a, b| wins[a][b] > 0.0);
    let down = reached(group[0], group, &|a, b| wins[b][a] > 0.0);
    up.len() == group.len() && down.len() == group.len()
}

fn reached(first: usize, among: &[usize], leads: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut found = vec![first];
    let mut at = 0;
    while at < found.len() {
        let from = found[at];
        for &to in among {
            if leads(from, to) && !found.contains(&to) {
                found.push(to);
            }
        }
        at += 1;
    }
    found.sort_unstable();
    found
}
