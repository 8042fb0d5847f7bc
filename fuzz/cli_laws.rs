//! Laws for what the command reads: recordings, and the calls of programs. The fuzz targets and the
//! tests of `agon-cli` include this file, both beside the modules of the command that it names. A
//! broken law panics.
#![allow(dead_code)] // Each target uses one law.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::engine_calls::EngineCalls;
use crate::trace::Trace;

/// Checks that a recording is read or refused, and that writing what was read changes nothing.
pub(crate) fn trace(text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    match Trace::from_json(&value) {
        Ok(trace) => {
            let written = trace.to_text();
            let again = serde_json::from_str(&written).expect("a recording is JSON");
            let again = Trace::from_json(&again).expect("a recording that was written is read");
            assert_eq!(again.to_text(), written);
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

/// Checks that each line is answered, in time, with `ok` or with an error.
pub(crate) fn engine(text: &str) {
    let rules = "(role x)(role o)(init (s 0))(<= (legal ?r (go 1)) (role ?r))(legal x (go 2))\
        (<= (next (s 1)) (true (s 0)))(<= (next (s 2)) (true (s 1)) (does x (go 2)))\
        (<= terminal (true (s 2)))(<= terminal (not (true (s 0))) (not (true (s 1))))\
        (<= (goal ?r 50) (role ?r))";
    let mut calls = EngineCalls::of_rules(rules);
    for line in text.lines().take(8) {
        let Ok(call) = serde_json::from_str::<Value>(line) else { continue };
        let began = Instant::now();
        let answer = calls.answer(&call, Some(began + Duration::from_millis(30)));
        assert!(began.elapsed() < Duration::from_secs(10), "{line} took {:?}", began.elapsed());
        let is_ok = answer["ok"].as_bool().expect("an answer has `ok`");
        assert!(is_ok || !answer["error"].as_str().unwrap_or_default().is_empty(), "{answer}");
    }
}
