//! `agon bench --signature`: the behaviour of every search is as recorded.

use std::collections::BTreeMap;

use super::games;

/// Compares the signature with `tests/signature.txt`.
#[test]
fn the_signature_is_as_recorded() {
    let path = games::root().join("tests/signature.txt");
    let recorded = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    // Not by the helper of the other tests: this takes longer than their time limit.
    let output =
        games::program().args(["bench", "--signature"]).output().expect("the program runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let (recorded, printed) = (numbers(&recorded), numbers(&printed));
    let kinds = recorded.keys().chain(printed.keys()).collect::<std::collections::BTreeSet<_>>();
    let differing: Vec<String> = kinds
        .into_iter()
        .filter(|kind| recorded.get(*kind) != printed.get(*kind))
        .map(|kind| {
            let number = |numbers: &BTreeMap<String, String>| {
                numbers.get(kind).cloned().unwrap_or_else(|| "missing".to_owned())
            };
            format!("  {kind}: recorded {}, now {}", number(&recorded), number(&printed))
        })
        .collect();
    assert!(
        differing.is_empty(),
        "the signature of search has changed:\n{}\nA commit that changes play must update \
         tests/signature.txt (`agon bench --signature > tests/signature.txt`) and say why. A \
         commit that does not intend to change play has an error.",
        differing.join("\n")
    );
}

/// Returns the number of each kind of search, and that of all under `signature`.
fn numbers(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    pairs
        .map(|(kind, number)| (kind.trim_end_matches(':').to_owned(), number.trim().to_owned()))
        .collect()
}
