//! A short run of the fuzz targets on any compiler: the laws of `fuzz/wire_laws.rs` on mutated
//! copies of valid requests and messages. `AGON_FUZZ_CASES` sets the number of cases for each law.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use crate::wire_laws;

const REQUESTS: [&str; 6] = [
    "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: h\r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )",
    "POST / HTTP/1.0\r\n\r\n(PLAY m.1 ((mark 1 1) noop))",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n( INF\r\n3;x=y\r\nO )\r\n0\r\n\r\n",
    "GET /%28INFO%29 HTTP/1.0\r\n\r\n",
    "OPTIONS / HTTP/1.1\r\nOrigin: null\r\n\r\n",
    "POST / HTTP/1.1\nExpect: 100-continue\nContent-Length: 6\n\n(INFO)",
];

const MESSAGES: [&str; 8] = [
    "( INFO )",
    "( START m.1 white (( role white ) ( role black ) (<= (legal ?p (mark ?x 1)) (true (cell ?x b))) ; x\n) 30 15 )",
    "( PREVIEW ((role a)) 10 )",
    "( PLAY m.1 (( mark 1 1 ) noop ) )",
    "(PLAY m.1 2 NOOP ((DOES C NOOP) (OPEN 3)))",
    "( STOP m.1 NIL )",
    "( ABORT m.1 )",
    "{\"matchId\":\"m\",\"states\":[\"( ( a 1 ) b )\",\"( c )\"],\"moves\":[[\"( take 1 )\"]],\"goalValues\":[100],\
     \"matchHostPK\":\"0AA\",\"matchHostSignature\":\"A0AA\"}",
];

#[test]
fn mutated_http_requests_keep_the_law() {
    check_law("http", &REQUESTS, wire_laws::http);
}

const ANSWERS: [&str; 5] = [
    "HTTP/1.0 200 OK\r\nContent-Type: text/acl\r\nContent-Length: 12\r\n\r\n( mark 1 1 )",
    "HTTP/1.1 200 OK\nContent-Length: 5\n\nready",
    "HTTP/1.0 200\r\n\r\nnoop",
    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\ndone",
];

#[test]
fn mutated_answers_keep_the_law() {
    check_law("answer", &ANSWERS, wire_laws::answer);
}

/// Each byte of an answer is looked at once, however small its pieces are.
#[test]
fn an_answer_without_an_end_is_read_in_linear_time() {
    let began = std::time::Instant::now();
    let mut reader = agon_server::http::AnswerReader::default();
    let mut n_fed = 0;
    while reader.feed(b"a\r\n").is_ok() {
        n_fed += 3;
        assert!(n_fed <= agon_server::http::MAX_ANSWER, "an answer may not be larger");
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn mutated_messages_keep_the_law() {
    check_law("message", &MESSAGES, |bytes| wire_laws::message(&String::from_utf8_lossy(bytes)));
}

fn check_law(name: &str, seeds: &[&str], law: impl Fn(&[u8])) {
    let n_cases = match std::env::var("AGON_FUZZ_CASES") {
        Ok(number) => number.parse().expect("AGON_FUZZ_CASES is a number"),
        Err(_) => 20_000,
    };
    let mut rng = Rng::seed_from_u64(7);
    let whole = seeds.iter().map(|seed| seed.as_bytes().to_vec());
    let mutated: Vec<Vec<u8>> = (0..n_cases).map(|_| mutated_seed(seeds, &mut rng)).collect();
    for bytes in whole.chain(mutated) {
        if catch_unwind(AssertUnwindSafe(|| law(&bytes))).is_err() {
            panic!("the law `{name}` does not hold for:\n{}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// Returns a seed with a few bytes changed, repeated or removed, or with a piece of another seed.
fn mutated_seed(seeds: &[&str], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = seeds[rng.random_range(0..seeds.len())].as_bytes().to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..20)).min(bytes.len());
        match rng.random_range(0..5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 => bytes.insert(at, b"()\r\n ;%:0\xff"[rng.random_range(0..10)]),
            3 => {
                let other = seeds[rng.random_range(0..seeds.len())].as_bytes();
                let from = rng.random_range(0..other.len());
                bytes.splice(at..end, other[from..].iter().copied().take(30));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = rng.random();
                }
            }
        }
    }
    bytes
}
