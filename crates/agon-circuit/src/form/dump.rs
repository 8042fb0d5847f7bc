//! Circuits as text: a listing, and Graphviz.

use std::fmt::{self, Write};

use agon_game::Role;

use crate::{Circuit, Gate, Signal};

impl fmt::Display for Circuit {
    /// Writes one line per gate and output, with names where there are names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (role, part) in self.role_ids().zip(&self.roles) {
            let kind = if part.is_nature { "nature" } else { "role" };
            writeln!(f, "{kind} {} with {} moves", part.name, part.moves.len())?;
            for (move_idx, text) in part.moves.iter().enumerate() {
                writeln!(f, "  {} = does {text}", self.input(role, move_idx))?;
            }
        }
        writeln!(f, "base of {} bits", self.base.len())?;
        for (bit, text) in self.base.iter().enumerate() {
            let initially = if self.initial[bit] { ", initially" } else { "" };
            writeln!(f, "  {} = {text}{initially}", self.base(bit))?;
        }
        writeln!(f, "{} gates", self.ands.len())?;
        for (gate, [a, b]) in (self.first_and()..).zip(&self.ands) {
            writeln!(f, "  g{gate} = {a} & {b}")?;
        }
        writeln!(f, "outputs")?;
        self.each_output(&mut |name, signal| writeln!(f, "  {name} = {signal}"))
    }
}

/// Writes a circuit in the language of Graphviz: boxes for leaves and outputs, circles for gates,
/// dashed edges for negations.
///
/// # Errors
/// Returns errors of the writer only.
pub fn write_graphviz(circuit: &Circuit, to: &mut dyn Write) -> fmt::Result {
    writeln!(to, "digraph circuit {{\n  rankdir=LR;\n  node [shape=box, fontsize=10];")?;
    for gate in 0..circuit.n_gates() {
        match circuit.gate(gate) {
            Gate::False => writeln!(to, "  g0 [label=\"false\"];")?,
            Gate::Base(bit) => writeln!(to, "  g{gate} [label={}];", quoted(&circuit.base[bit]))?,
            Gate::Input(role, move_idx) => {
                let part = &circuit.roles[role.index()];
                let label = quoted(&format!("does {} {}", part.name, part.moves[move_idx]));
                writeln!(to, "  g{gate} [label={label}, style=rounded];")?;
            }
            Gate::And(a, b) => {
                writeln!(to, "  g{gate} [shape=circle, label=\"&\"];")?;
                edge(to, a, &format!("g{gate}"))?;
                edge(to, b, &format!("g{gate}"))?;
            }
        }
    }
    let mut n_outputs = 0;
    circuit.each_output(&mut |name, signal| {
        writeln!(to, "  out{n_outputs} [label={}, style=bold];", quoted(name))?;
        edge(to, signal, &format!("out{n_outputs}"))?;
        n_outputs += 1;
        Ok(())
    })?;
    writeln!(to, "}}")
}

impl Circuit {
    /// Visits every output with a name for it: legal, terminal, goals, next, percepts, rejected.
    fn each_output(&self, visit: &mut dyn FnMut(&str, Signal) -> fmt::Result) -> fmt::Result {
        let outputs = &self.outputs;
        let role_name = |role: Role| &self.roles[role.index()].name;
        for role in self.role_ids() {
            let moves = &self.roles[role.index()].moves;
            for (text, &signal) in moves.iter().zip(&outputs.legal[role.index()]) {
                visit(&format!("legal {} {text}", role_name(role)), signal)?;
            }
        }
        visit("terminal", outputs.terminal)?;
        for role in self.role_ids() {
            for &(value, signal) in &outputs.goals[role.index()] {
                visit(&format!("goal {} {value}", role_name(role)), signal)?;
            }
        }
        for (text, &signal) in self.base.iter().zip(&outputs.next) {
            visit(&format!("next {text}"), signal)?;
        }
        for role in self.role_ids() {
            for (text, signal) in &outputs.percepts[role.index()] {
                visit(&format!("sees {} {text}", role_name(role)), *signal)?;
            }
        }
        if !self.is_exact() {
            visit("rejected", outputs.rejected)?;
        }
        Ok(())
    }
}

fn edge(to: &mut dyn Write, from: Signal, target: &str) -> fmt::Result {
    let style = if from.is_inverted() { " [style=dashed]" } else { "" };
    writeln!(to, "  g{} -> {target}{style};", from.gate())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
