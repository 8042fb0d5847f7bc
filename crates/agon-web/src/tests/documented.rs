//! `openapi.json` describes exactly the routes that exist.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::OPENAPI;

/// Reads the routes from the source of the router: pairs of a path and a method.
fn routes() -> BTreeSet<(String, String)> {
    let source = include_str!("../api.rs");
    let mut found = BTreeSet::new();
    for part in source.split(".route(").skip(1) {
        let path = part.split('"').nth(1).expect("a path");
        let handlers = part.split_once(',').expect("a handler").1;
        let handlers = handlers.split("\n        .").next().expect("the end of the call");
        for method in ["get", "post", "delete"] {
            let is_there = handlers.contains(&format!(" {method}("))
                || handlers.contains(&format!(".{method}("));
            if is_there && !path.contains('*') {
                found.insert((path.to_owned(), method.to_owned()));
            }
        }
    }
    found
}

#[test]
fn the_description_has_every_route_and_no_other() {
    let description: Value = serde_json::from_str(OPENAPI).expect("openapi.json is JSON");
    let paths = description["paths"].as_object().expect("paths");
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods");
            methods.keys().map(|method| (path.clone(), method.clone())).collect::<Vec<_>>()
        })
        .collect();
    assert!(described.len() > 30);
    assert_eq!(routes(), described);
}

#[test]
fn every_reference_of_the_description_exists() {
    let description: Value = serde_json::from_str(OPENAPI).expect("openapi.json is JSON");
    for part in OPENAPI.split("\"$ref\": \"#").skip(1) {
        let pointer = part.split('"').next().expect("a pointer");
        assert!(description.pointer(pointer).is_some(), "{pointer}");
    }
}
