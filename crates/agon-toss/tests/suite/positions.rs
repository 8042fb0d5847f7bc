//! Standard perft positions of chess programs.

/// Positions in Forsyth-Edwards notation, with the numbers of plays of one, two and three moves.
/// They cover castling through and out of check, en passant with discovered checks, promotion with
/// and without captures.
pub(crate) const KNOWN: [(&str, [u64; 3]); 4] = [
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -", [48, 2039, 97862]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", [14, 191, 2812]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -", [6, 264, 9467]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", [44, 1486, 62379]),
];

/// Returns the start of a position in Forsyth-Edwards notation.
pub(crate) fn start(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let mut board = String::new();
    for row in fields[0].split('/') {
        for c in row.chars() {
            match c.to_digit(10) {
                Some(n) => (0..n).for_each(|_| board.push_str(" .")),
                None => {
                    let colour = if c.is_uppercase() { 'w' } else { 'b' };
                    board.push_str(&format!(" {colour}{}", c.to_uppercase()));
                }
            }
        }
        board.push('\n');
    }
    let mut homes: Vec<&str> = Vec::new();
    for right in fields[2].chars() {
        homes.extend(match right {
            'K' => &["e1", "h1"][..],
            'Q' => &["e1", "a1"],
            'k' => &["e8", "h8"],
            'q' => &["e8", "a8"],
            _ => &[],
        });
    }
    homes.sort_unstable();
    homes.dedup();
    let kinds = "PNBRQK"
        .chars()
        .flat_map(|kind| ["w", "b"].map(|colour| format!("; {colour}{kind}:1 {{}}")));
    let kinds: String = kinds.collect();
    format!("START [ | Cas:1 {{{}}}; Ep:1 {{}}{kinds} | ] \"\n{board}\"\n", homes.join("; "))
}
