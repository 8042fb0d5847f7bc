//! Panels: counters, hands, words about the state, and lists.

use std::collections::BTreeMap;

use crate::fluent::{Flat, words};
use crate::scene::{Entry, Panel, PanelKind};

/// Panels of one state while they are collected.
pub(crate) struct Panels<'r> {
    roles: &'r [String],
    /// By relation: role or name, and number.
    counters: BTreeMap<String, Vec<Entry>>,
    single: Vec<Entry>,
    hands: BTreeMap<String, Vec<Entry>>,
    status: Vec<Entry>,
    rows: BTreeMap<String, Vec<Entry>>,
}

impl<'r> Panels<'r> {
    pub(crate) fn new(roles: &'r [String]) -> Panels<'r> {
        Panels {
            roles,
            counters: BTreeMap::new(),
            single: Vec::new(),
            hands: BTreeMap::new(),
            status: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    fn role(&self, name: &str) -> Option<usize> {
        self.roles.iter().position(|role| role == name)
    }

    pub(crate) fn add_counter(&mut self, flat: &Flat, role: Option<usize>, value: usize) {
        let number = flat.arguments[value].clone();
        let others = (0..flat.arguments.len()).filter(|i| Some(*i) != role && *i != value);
        let others: Vec<String> = others.map(|i| flat.arguments[i].clone()).collect();
        let name = role.map(|role| flat.arguments[role].clone());
        let label: Vec<String> = name.iter().cloned().chain(others).collect();
        let title = words(&flat.relation);
        if label.is_empty() {
            let entry =
                Entry { place: String::new(), label: title, values: vec![number], owner: None };
            self.single.push(entry);
        } else {
            let owner = name.and_then(|name| self.role(&name));
            let entry =
                Entry { place: String::new(), label: label.join(" "), values: vec![number], owner };
            self.counters.entry(title).or_default().push(entry);
        }
    }

    /// Adds the values of a function: the name of an element and the value. A single value stands
    /// beside other single values.
    pub(crate) fn add_values(&mut self, title: &str, entries: Vec<(String, String)>) {
        let is_single = entries.len() == 1;
        for (label, value) in entries {
            let mut entry = Entry { place: String::new(), label, values: vec![value], owner: None };
            if is_single {
                title.clone_into(&mut entry.label);
                self.single.push(entry);
            } else {
                self.counters.entry(title.to_owned()).or_default().push(entry);
            }
        }
    }

    pub(crate) fn add_hand(&mut self, flat: &Flat, holder: usize) {
        let name = &flat.arguments[holder];
        let others = (0..flat.arguments.len()).filter(|i| *i != holder);
        let thing = others.map(|i| flat.arguments[i].as_str()).collect::<Vec<_>>().join(" ");
        let owner = self.role(name);
        let entries = self.hands.entry(words(&flat.relation)).or_default();
        match entries.iter_mut().find(|entry| entry.label == *name) {
            Some(entry) => entry.values.push(thing),
            None => entries.push(Entry {
                place: String::new(),
                label: name.clone(),
                values: vec![thing],
                owner,
            }),
        }
    }

    pub(crate) fn add_status(&mut self, flat: &Flat) {
        let mut label = words(&flat.relation);
        for inner in flat.inner_names() {
            label.push(' ');
            label.push_str(inner);
        }
        let owner = flat.arguments.iter().find_map(|name| self.role(name));
        match self.status.iter_mut().find(|entry| entry.label == label) {
            Some(entry) => entry.values.push(flat.arguments.join(" ")),
            None => {
                let values = if flat.arguments.is_empty() {
                    Vec::new()
                } else {
                    vec![flat.arguments.join(" ")]
                };
                self.status.push(Entry { place: String::new(), label, values, owner });
            }
        }
    }

    pub(crate) fn add_row(&mut self, fluent: &str, flat: Option<&Flat>) {
        let title = flat.map_or(String::new(), |flat| flat.relation.clone());
        let text = words(fluent);
        let rest = text.strip_prefix(&words(&title)).unwrap_or(&text).trim().to_owned();
        let value = if rest.is_empty() { text } else { rest };
        let entry =
            Entry { place: String::new(), label: String::new(), values: vec![value], owner: None };
        self.rows.entry(words(&title)).or_default().push(entry);
    }

    pub(crate) fn finish(self) -> Vec<Panel> {
        let mut panels = Vec::new();
        for (title, entries) in self.counters {
            panels.push(Panel { title, kind: PanelKind::Counters, entries });
        }
        if !self.single.is_empty() {
            let (title, kind) = (String::new(), PanelKind::Counters);
            panels.push(Panel { title, kind, entries: self.single });
        }
        for (title, entries) in self.hands {
            panels.push(Panel { title, kind: PanelKind::Hands, entries });
        }
        if !self.status.is_empty() {
            let (title, kind) = (String::new(), PanelKind::Status);
            panels.push(Panel { title, kind, entries: self.status });
        }
        for (title, entries) in self.rows {
            panels.push(Panel { title, kind: PanelKind::List, entries });
        }
        panels
    }
}
