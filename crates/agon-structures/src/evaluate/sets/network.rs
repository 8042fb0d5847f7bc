//! Propositional formulas with quantifiers, as networks of gates without duplicates.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Not;

use crate::evaluate::EvaluationError;

/// A gate or its negation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Signal(u32);

impl Signal {
    pub(super) const TRUE: Signal = Signal(0);
    pub(super) const FALSE: Signal = Signal(1);

    fn of(gate: usize) -> Signal {
        Signal((gate as u32) << 1)
    }

    pub(super) fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the signal, negated if the flag is set.
    pub(super) fn negated_if(self, negated: bool) -> Signal {
        Signal(self.0 ^ u32::from(negated))
    }
}

impl Not for Signal {
    type Output = Signal;

    fn not(self) -> Signal {
        Signal(self.0 ^ 1)
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Gate {
    True,
    /// A propositional variable.
    Input(u32),
    /// At least two signals, sorted.
    And(Vec<Signal>),
    /// Some values of the own inputs make the body true.
    Exists(Block),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Block {
    /// The first own input.
    pub(super) first: u32,
    /// The number of own inputs, which follow each other.
    pub(super) n_inputs: u32,
    pub(super) body: Signal,
    /// The other inputs that the body depends on, except those of blocks inside it.
    pub(super) outer: Vec<u32>,
}

impl Block {
    pub(super) fn inputs(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.n_inputs
    }
}

#[derive(Debug)]
pub(super) struct Network {
    gates: Vec<Gate>,
    known: BTreeMap<Gate, usize>,
    /// The least and the greatest input below each gate, so that replacing inputs can skip gates.
    spans: Vec<(u32, u32)>,
    n_inputs: u32,
    size: usize,
    limit: usize,
}

/// The span of a gate without inputs.
const NO_INPUTS: (u32, u32) = (u32::MAX, 0);

impl Network {
    /// Creates a network of at most `limit` gates and signals.
    pub(super) fn new(limit: usize) -> Network {
        Network {
            gates: vec![Gate::True],
            known: BTreeMap::from([(Gate::True, 0)]),
            spans: vec![NO_INPUTS],
            n_inputs: 0,
            size: 1,
            limit,
        }
    }

    pub(super) fn gate(&self, gate: usize) -> &Gate {
        &self.gates[gate]
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.n_inputs as usize
    }

    /// Returns the number of gates, inputs and signals.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn grow(&mut self, by: usize) -> Result<(), EvaluationError> {
        self.size = self.size.saturating_add(by);
        // Signals have 32 bits.
        if self.size > self.limit.min(1 << 30) {
            Err(EvaluationError::Gates(self.limit))
        } else {
            Ok(())
        }
    }

    fn add(&mut self, gate: Gate) -> Result<Signal, EvaluationError> {
        if let Some(&known) = self.known.get(&gate) {
            return Ok(Signal::of(known));
        }
        let span = match &gate {
            Gate::True => NO_INPUTS,
            Gate::Input(input) => (*input, *input),
            Gate::And(signals) => {
                self.grow(signals.len())?;
                let spans = signals.iter().map(|signal| self.spans[signal.gate()]);
                spans.fold(NO_INPUTS, |one, other| (one.0.min(other.0), one.1.max(other.1)))
            }
            Gate::Exists(block) => {
                self.grow(block.outer.len())?;
                let outer = (block.outer.first(), block.outer.last());
                if let (Some(&least), Some(&most)) = outer { (least, most) } else { NO_INPUTS }
            }
        };
        self.grow(1)?;
        let place = self.gates.len();
        self.known.insert(gate.clone(), place);
        self.gates.push(gate);
        self.spans.push(span);
        Ok(Signal::of(place))
    }

    /// Adds inputs and returns the first one. The others follow it.
    pub(super) fn inputs(&mut self, n_inputs: usize) -> Result<u32, EvaluationError> {
        self.grow(n_inputs)?;
        let first = self.n_inputs;
        self.n_inputs += n_inputs as u32;
        Ok(first)
    }

    pub(super) fn input(&mut self, input: u32) -> Result<Signal, EvaluationError> {
        self.add(Gate::Input(input))
    }

    pub(super) fn all(&mut self, mut signals: Vec<Signal>) -> Result<Signal, EvaluationError> {
        signals.sort_unstable();
        signals.dedup();
        // A signal and its negation are neighbours. `TRUE` is first, `FALSE` after it.
        let is_false = signals.windows(2).any(|pair| pair[0] == !pair[1])
            || signals.first() == Some(&Signal::FALSE);
        if is_false {
            return Ok(Signal::FALSE);
        }
        if signals.first() == Some(&Signal::TRUE) {
            signals.remove(0);
        }
        match signals[..] {
            [] => Ok(Signal::TRUE),
            [signal] => Ok(signal),
            _ => self.add(Gate::And(signals)),
        }
    }

    pub(super) fn any(&mut self, signals: Vec<Signal>) -> Result<Signal, EvaluationError> {
        let none = self.all(signals.into_iter().map(Signal::not).collect())?;
        Ok(!none)
    }

    pub(super) fn choice(
        &mut self,
        condition: Signal,
        one: Signal,
        other: Signal,
    ) -> Result<Signal, EvaluationError> {
        if one == other {
            return Ok(one);
        }
        let one = self.all(vec![condition, one])?;
        let other = self.all(vec![!condition, other])?;
        self.any(vec![one, other])
    }

    /// Returns the signal that some values of the inputs make the body true. The inputs must occur
    /// in no other block.
    pub(super) fn exists(
        &mut self,
        first: u32,
        n_inputs: usize,
        body: Signal,
    ) -> Result<Signal, EvaluationError> {
        let n_inputs = n_inputs as u32;
        let own = first..first + n_inputs;
        let below = self.inputs_below(body);
        if !below.iter().any(|input| own.contains(input)) {
            return Ok(body);
        }
        let outer = below.into_iter().filter(|input| !own.contains(input)).collect();
        self.add(Gate::Exists(Block { first, n_inputs, body, outer }))
    }

    /// Returns the inputs that a signal depends on, without those of blocks.
    fn inputs_below(&self, signal: Signal) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![signal.gate()];
        while let Some(gate) = open.pop() {
            if !seen.insert(gate) {
                continue;
            }
            match &self.gates[gate] {
                Gate::True => {}
                Gate::Input(input) => {
                    found.insert(*input);
                }
                Gate::And(signals) => open.extend(signals.iter().map(|signal| signal.gate())),
                Gate::Exists(block) => found.extend(&block.outer),
            }
        }
        found
    }

    /// Returns the signal with the inputs from `first` on replaced. Blocks below get new inputs,
    /// because blocks must not share theirs.
    pub(super) fn replaced(
        &mut self,
        signal: Signal,
        first: u32,
        by: &[Signal],
    ) -> Result<Signal, EvaluationError> {
        self.replaced_within(signal, first, by, &mut BTreeMap::new())
    }

    fn replaced_within(
        &mut self,
        signal: Signal,
        first: u32,
        by: &[Signal],
        known: &mut BTreeMap<usize, Signal>,
    ) -> Result<Signal, EvaluationError> {
        let gate = signal.gate();
        let (least, most) = self.spans[gate];
        if most < first || u64::from(least) >= u64::from(first) + by.len() as u64 {
            return Ok(signal);
        }
        if let Some(known) = known.get(&gate) {
            return Ok(known.negated_if(signal.is_negated()));
        }
        let new = stacker::maybe_grow(64 << 10, 1 << 20, || match self.gates[gate].clone() {
            Gate::True => Ok(Signal::TRUE),
            Gate::Input(input) => {
                let place = input.checked_sub(first).map(|place| place as usize);
                Ok(place.and_then(|place| by.get(place)).copied().unwrap_or(Signal::of(gate)))
            }
            Gate::And(signals) => {
                let mut parts = Vec::with_capacity(signals.len());
                for part in signals {
                    let part = self.replaced_within(part, first, by, known)?;
                    if part == Signal::FALSE {
                        return Ok(Signal::FALSE);
                    }
                    parts.push(part);
                }
                self.all(parts)
            }
            Gate::Exists(block) => {
                let body = self.replaced_within(block.body, first, by, known)?;
                if body == block.body {
                    return Ok(Signal::of(gate));
                }
                let n_inputs = block.n_inputs as usize;
                let own = self.inputs(n_inputs)?;
                let fresh: Vec<Signal> = (own..own + block.n_inputs)
                    .map(|input| self.input(input))
                    .collect::<Result<_, _>>()?;
                let body = self.replaced(body, block.first, &fresh)?;
                self.exists(own, n_inputs, body)
            }
        })?;
        known.insert(gate, new);
        Ok(new.negated_if(signal.is_negated()))
    }
}
