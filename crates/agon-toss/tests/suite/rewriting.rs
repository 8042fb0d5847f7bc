//! Compares embeddings and applications of rules with a direct implementation of the definitions of
//! Kaiser & Stafiniak 2011, which tries everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Role};
use agon_structures::structure::Structure;
use agon_testkit::seeded;
use agon_text::{Source, render};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Interpreter, Options};
use proptest::prelude::*;

/// A structure in the simplest form: the number of elements, and the tuples of each relation. `P`
/// is unary, `E` binary, `T` ternary, and `N` has no arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plain {
    n_elements: usize,
    tuples: BTreeSet<(char, Vec<usize>)>,
}

/// A rule in the simplest form.
#[derive(Clone, Debug)]
struct PlainRule {
    left: Plain,
    right: Plain,
    map: Vec<Option<usize>>,
    embedded: Vec<char>,
}

const RELATIONS: [(char, usize); 4] = [('P', 1), ('E', 2), ('T', 3), ('N', 0)];

impl PlainRule {
    /// Lists the embeddings by Definition 1: tries every function.
    fn embeddings(&self, into: &Plain) -> Vec<Vec<usize>> {
        all_tuples(into.n_elements, self.left.n_elements)
            .into_iter()
            .filter(|f| self.is_embedding(f, into))
            .collect()
    }

    fn is_embedding(&self, f: &[usize], into: &Plain) -> bool {
        let is_injective = f.iter().collect::<BTreeSet<_>>().len() == f.len();
        let keeps = |(relation, arity): (char, usize)| {
            all_tuples(self.left.n_elements, arity).into_iter().all(|tuple| {
                let image: Vec<usize> = tuple.iter().map(|&x| f[x]).collect();
                let here = self.left.tuples.contains(&(relation, tuple));
                let there = into.tuples.contains(&(relation, image));
                if self.embedded.contains(&relation) { here == there } else { !here || there }
            })
        };
        is_injective && RELATIONS.into_iter().all(keeps)
    }

    /// Applies the rule by Definition 2, literally. The elements of the result are those outside
    /// the embedding and those of the right side. Every tuple over them is tried.
    fn apply(&self, to: &Plain, f: &[usize]) -> BTreeSet<(char, Vec<Item>)> {
        let old = (0..to.n_elements).filter(|x| !f.contains(x)).map(Item::Old);
        let items: Vec<Item> = old.chain((0..self.right.n_elements).map(Item::New)).collect();
        let mut result = BTreeSet::new();
        for (relation, arity) in RELATIONS {
            for tuple in all_tuples(items.len(), arity) {
                let tuple: Vec<Item> = tuple.iter().map(|&at| items[at]).collect();
                let right: Option<Vec<usize>> = tuple
                    .iter()
                    .map(|item| if let Item::New(r) = item { Some(*r) } else { None })
                    .collect();
                let is_on_right =
                    right.is_some_and(|right| self.right.tuples.contains(&(relation, right)));
                let before: Option<Vec<usize>> = tuple
                    .iter()
                    .map(|item| match item {
                        Item::Old(a) => Some(*a),
                        Item::New(r) => self.map[*r].map(|l| f[l]),
                    })
                    .collect();
                let was = before.is_some_and(|before| to.tuples.contains(&(relation, before)));
                let has_old = tuple.iter().any(|item| matches!(item, Item::Old(_)));
                if is_on_right || (was && (has_old || !self.embedded.contains(&relation))) {
                    result.insert((relation, tuple));
                }
            }
        }
        result
    }

    fn text(&self, start: &Plain) -> String {
        let mut text = String::from("PLAYERS X\nRULE Step: ");
        let names = |prefix: &str, n: usize| {
            (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
        };
        let side = |plain: &Plain, prefix: &str| {
            let tuples: Vec<String> = plain
                .tuples
                .iter()
                .map(|(relation, tuple)| {
                    let elements: Vec<String> =
                        tuple.iter().map(|x| format!("{prefix}{x}")).collect();
                    format!("{relation}({})", elements.join(", "))
                })
                .collect();
            format!("[{} | {} | -]", names(prefix, plain.n_elements), tuples.join("; "))
        };
        let map: Vec<String> = self
            .map
            .iter()
            .enumerate()
            .filter_map(|(r, l)| l.map(|l| format!("r{r} <- l{l}")))
            .collect();
        let embedded: Vec<String> = self.embedded.iter().map(char::to_string).collect();
        let _ = writeln!(
            text,
            "{} -> {} with [{}]",
            side(&self.left, "l"),
            side(&self.right, "r"),
            map.join(", ")
        );
        if !embedded.is_empty() {
            let _ = writeln!(text, "  emb {}", embedded.join(", "));
        }
        text.push_str("LOC 0 { PLAYER X { PAYOFF 0 MOVES [Step -> 0] } }\nSTART ");
        let declared =
            RELATIONS.map(|(relation, arity)| format!("{relation}:{arity} {{}}; ")).concat();
        text.push_str(&side(start, "e").replacen("| ", &format!("| {declared}"), 1));
        text
    }
}

/// An element of the result of a rule.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Old(usize),
    New(usize),
}

fn all_tuples(n: usize, length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![Vec::new()], |tuples, _| {
        tuples
            .iter()
            .flat_map(|tuple| (0..n).map(move |x| [tuple.as_slice(), &[x]].concat()))
            .collect()
    })
}

fn open(text: &str) -> Interpreter {
    let source = Arc::new(Source::new("test.toss", text));
    let checked = check(Arc::clone(&source));
    let arena = checked
        .arena
        .unwrap_or_else(|| panic!("{text}\n{}", render(&checked.findings.0, &source, false)));
    Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
        .start()
}

/// Returns all tuples of a structure by names.
fn by_names(structure: &Structure) -> BTreeSet<(char, Vec<String>)> {
    let vocabulary = structure.vocabulary().clone();
    let mut found = BTreeSet::new();
    for relation in vocabulary.relations() {
        let name = vocabulary.relation_name(relation).chars().next().expect("relations have names");
        for tuple in structure.tuples(relation).iter() {
            found.insert((name, tuple.iter().map(|&x| structure.name(x).to_string()).collect()));
        }
    }
    found
}

fn plain(n: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Plain> {
    n.prop_flat_map(|n_elements| {
        let tuple = (0..RELATIONS.len(), prop::collection::vec(0..n_elements.max(1), 3));
        prop::collection::vec(tuple, 0..=8).prop_map(move |drawn| {
            let tuples = drawn.into_iter().map(|(which, elements)| {
                let (relation, arity) = RELATIONS[which];
                (relation, elements[..arity].to_vec())
            });
            let tuples = tuples.filter(|(_, tuple)| n_elements > 0 || tuple.is_empty());
            Plain { n_elements, tuples: tuples.collect() }
        })
    })
}

fn rules() -> impl Strategy<Value = PlainRule> {
    let sides = (plain(1..=3), plain(0..=3));
    (sides, prop::collection::vec(prop::option::weighted(0.7, 0..3usize), 3), 0..16usize).prop_map(
        |((mut left, right), drawn, chosen)| {
            // Large left sides hardly ever have an embedding.
            while left.tuples.len() > 3 {
                left.tuples.pop_last();
            }
            let map =
                (0..right.n_elements).map(|r| drawn[r].filter(|&l| l < left.n_elements)).collect();
            let embedded = (0..RELATIONS.len())
                .filter(|i| chosen >> i & 1 == 1)
                .map(|i| RELATIONS[i].0)
                .collect();
            PlainRule { left, right, map, embedded }
        },
    )
}

proptest! {
    #![proptest_config(seeded(400))]

    /// The engine finds exactly the embeddings of Definition 1, and applying each gives the result
    /// of Definition 2, up to names.
    #[test]
    fn rules_follow_the_definitions(rule in rules(), start in plain(1..=5)) {
        let mut position = open(&rule.text(&start));
        let expected = rule.embeddings(&start);
        let id = position.game().arena().locations()[0].edges[0][0].rule;
        let structure = position.state().structure().clone();
        let number =
            |name: &str| name[1..].parse::<usize>().expect("elements are called e0, e1, …");
        let found: Vec<Vec<usize>> = position
            .embeddings(id)
            .expect("small structures are evaluated within limits")
            .iter()
            .map(|embedding| embedding.iter().map(|&x| number(structure.name(x))).collect())
            .collect();
        prop_assert_eq!(&found, &expected);
        let here = position.state().clone();
        let moves = position.legal_moves(Role::new(0)).to_vec();
        for (f, m) in expected.iter().zip(&moves).take(4) {
            position.advance(std::slice::from_ref(m));
            let name = |item: &Item| match item {
                Item::Old(a) => format!("e{a}"),
                Item::New(r) => match rule.map[*r] {
                    // The first element that replaces another keeps its name.
                    Some(l) if rule.map.iter().position(|s| *s == Some(l)) == Some(*r) => {
                        format!("e{}", f[l])
                    }
                    _ => format!("r{r}_1"),
                },
            };
            let result: BTreeSet<(char, Vec<String>)> = rule
                .apply(&start, f)
                .into_iter()
                .map(|(relation, tuple)| (relation, tuple.iter().map(name).collect()))
                .collect();
            let structure = position.state().structure();
            prop_assert_eq!(by_names(structure), result);
            let n_expected = start.n_elements - rule.left.n_elements + rule.right.n_elements;
            prop_assert_eq!(structure.n_elements(), n_expected);
            position.go_to(&here);
        }
    }
}

/// Returns the tuples after the first legal move.
fn after_first(text: &str) -> BTreeSet<(char, Vec<String>)> {
    let mut position = open(text);
    let m = position.legal_moves(Role::new(0))[0].clone();
    position.advance(&[m]);
    by_names(position.state().structure())
}

fn tuples(text: &str) -> BTreeSet<(char, Vec<String>)> {
    text.split_whitespace()
        .map(|tuple| {
            let mut parts = tuple.split([',', '(', ')']).filter(|part| !part.is_empty());
            let relation =
                parts.next().and_then(|name| name.chars().next()).expect("a relation comes first");
            (relation, parts.map(str::to_owned).collect())
        })
        .collect()
}

const FRAME: &str = "LOC 0 { PLAYER X { PAYOFF 0 MOVES [Step -> 0] } }\n";

/// Like the examples in Kaiser & Stafiniak 2011: one rule adds an element and copies another.
#[test]
fn elements_are_added_and_copied() {
    let text = format!(
        "PLAYERS X\nRULE Step: [a, b | R(a, b) | -] -> [a, c, d, b | R {{(a, c); (c, b)}} | -] \
         with [a <- a, b <- b, d <- b] emb R pre P(a)\n{FRAME}START [p, q, s | P(p); R {{(p, q); (q, s)}} | -]"
    );
    // `c` is new between `p` and `q`. `d` is a copy of `q`, so it has the edge to `s`, but not the
    // edge from `p`, which was embedded.
    assert_eq!(after_first(&text), tuples("P(p) R(p,c_1) R(c_1,q) R(q,s) R(d_1,s)"));
}

/// Without `emb`, tuples inside the embedding stay and are copied.
#[test]
fn tuples_without_emb_are_inherited() {
    let text = format!(
        "PLAYERS X\nRULE Step: [a, b | R(a, b) | -] -> [a, b, d | - | -] with [a <- a, b <- b, d <- b]\n{FRAME}\
         START [p, q | R(p, q) | -]"
    );
    assert_eq!(after_first(&text), tuples("R(p,q) R(p,d_1)"));
}

#[test]
fn a_deleted_element_takes_its_tuples_along() {
    let text = format!(
        "PLAYERS X\nRULE Step: [a | P(a) | -] -> [ | - | -]\n{FRAME}START [p, q, s | P(q); R {{(p, q); (q, s); (p, s)}} | -]"
    );
    assert_eq!(after_first(&text), tuples("R(p,s)"));
}

/// A relation without arguments that is embedded is determined by the right side alone, also where
/// the rule changes the universe.
#[test]
fn embedded_relations_without_arguments_are_determined_by_the_right_side() {
    let after = |right: &str, emb: &str| {
        after_first(&format!(
            "PLAYERS X\nRULE Step: [a | N() | -] -> [a, b | {right} | -] with [a <- a] {emb}\n{FRAME}\
             START [p | N() | -]"
        ))
    };
    assert_eq!(after("-", "emb N"), tuples(""));
    assert_eq!(after("N()", "emb N"), tuples("N()"));
    assert_eq!(after("-", ""), tuples("N()"));
}

#[test]
fn optional_tuples_stand_for_several_rules() {
    let game = |left: &str| {
        let rule =
            format!("RULE Step: [a, b | W(a); E(a, b){left} | -] -> [a, b | W(b) | -] emb W, B\n");
        let start =
            "START [p, q, s, t | W {p; s}; B {q; s}; E {(p, q); (p, s); (p, t); (s, t)} | -]";
        open(&format!("PLAYERS X\n{rule}{FRAME}{start}"))
    };
    let moves = |position: &Interpreter| -> BTreeSet<String> {
        position.legal_moves(Role::new(0)).iter().map(|m| position.move_text(m)).collect()
    };
    let union: BTreeSet<String> =
        moves(&game("")).union(&moves(&game("; B(b)"))).cloned().collect();
    assert_eq!(moves(&game("; _opt_B(b)")), union);
    assert_eq!(union.into_iter().collect::<Vec<_>>(), ["(Step p q)", "(Step p t)"]);
}

#[test]
fn history_remembers_rules() {
    let text = "PLAYERS X\nRULE Move: [a | - | -] -> [a | P(a) | -] emb P\n\
        RULE Castle: [a | P(a) | -] -> [a | Q(a) | -] emb Q before not Move\n\
        RULE Late: [a | - | -] -> [a | Q(a) | -] emb Q before Move, not Castle\n\
        LOC 0 { PLAYER X { PAYOFF 0 MOVES [Move -> 0]; [Castle -> 0]; [Late -> 0] } }\nSTART [p, q | P(p); Q:1 {} | -]";
    let mut position = open(text);
    let moves = |position: &Interpreter| -> Vec<String> {
        position.legal_moves(Role::new(0)).iter().map(|m| position.move_text(m)).collect()
    };
    assert_eq!(moves(&position), ["(Move q)", "(Castle p)"]);
    let m = position.parse_move(Role::new(0), "(move q)").expect("it is legal");
    position.advance(&[m]);
    assert_eq!(moves(&position), ["(Late p)", "(Late q)"]);
    assert!(position.state_text().contains(&"(applied Move)".to_owned()));
}

#[test]
fn post_conditions_speak_of_the_right_side() {
    let text = format!(
        "PLAYERS X\nRULE Step: [a | - | -] -> [b | P(b) | -] with [b <- a] emb P post not ex y (E(b, y) and P(y))\n{FRAME}\
         START [p, q, s | P(q); E {{(p, q); (q, s)}} | -]"
    );
    let position = open(&text);
    let moves: Vec<String> =
        position.legal_moves(Role::new(0)).iter().map(|m| position.move_text(m)).collect();
    assert_eq!(moves, ["(Step s)"]);
}

#[test]
fn chances_follow_the_edges() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/toss/stepping-stones.toss");
    let mut position = open(&std::fs::read_to_string(path).expect("it ships"));
    let [north, nature] = [0, 2].map(Role::new);
    let leap = position.parse_move(north, "(LeapN a1)").expect("it is legal");
    let noop =
        |position: &Interpreter, role: usize| position.legal_moves(Role::new(role))[0].clone();
    let joint = [leap, noop(&position, 1), noop(&position, 2)];
    position.advance(&joint);
    let outcomes: BTreeMap<String, f64> = position
        .legal_moves(nature)
        .iter()
        .map(|m| (position.move_text(m), position.chance(m)))
        .collect();
    let expected = [("(to backN)", 1.0 / 6.0), ("(to farN)", 0.5), ("(to nearN)", 1.0 / 3.0)];
    assert_eq!(
        outcomes,
        expected.map(|(text, chance)| (text.to_owned(), chance)).into_iter().collect()
    );
}

/// Two rules act at once on one element, and both effects are applied.
#[test]
fn simultaneous_moves_do_not_depend_on_the_order_of_players() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/toss/concurrent-tic-tac-toe.toss");
    let mut position = open(&std::fs::read_to_string(path).expect("it ships"));
    let joint = ["(Cross b2)", "(Circle b2)"];
    let joint: Vec<_> = joint
        .iter()
        .enumerate()
        .filter_map(|(role, text)| position.parse_move(Role::new(role), text))
        .collect();
    position.advance(&joint);
    assert_eq!(position.state_text(), ["(P b2)", "(Q b2)", "(location 0)"]);
}
