//! The order in which atoms can be computed: after the atoms they depend on.

use agon_datalog::GroundProgram;

/// The rules that derive each atom, and the atoms it depends on.
pub(super) struct Graph {
    /// The rules of each atom, one atom after the other.
    rules: Vec<u32>,
    rule_starts: Vec<u32>,
    /// The atoms that each atom depends on, without given ones.
    edges: Vec<u32>,
    edge_starts: Vec<u32>,
}

impl Graph {
    /// Builds the graph. Atoms that are given depend on nothing.
    pub(super) fn new(program: &GroundProgram, is_given: &[bool]) -> Graph {
        let n = program.n_atoms();
        let (mut rule_starts, mut edge_starts) = (vec![0u32; n + 1], vec![0u32; n + 1]);
        let needed = |atom: u32| !is_given[atom as usize];
        for rule in program.rules().filter(|rule| needed(rule.head.0)) {
            let head = rule.head.0 as usize;
            rule_starts[head + 1] += 1;
            let positive = rule.positive.iter().filter(|&&p| needed(p)).count();
            let negative = rule.negative().filter(|n| needed(n.0)).count();
            edge_starts[head + 1] +=
                u32::try_from(positive + negative).expect("limits allow fewer than 2^32");
        }
        for starts in [&mut rule_starts, &mut edge_starts] {
            for i in 0..n {
                starts[i + 1] += starts[i];
            }
        }
        let mut rules = vec![0; rule_starts[n] as usize];
        let mut edges = vec![0; edge_starts[n] as usize];
        let (mut rule_at, mut edge_at) = (rule_starts.clone(), edge_starts.clone());
        for (index, rule) in program.rules().enumerate().filter(|(_, rule)| needed(rule.head.0)) {
            let head = rule.head.0 as usize;
            rules[rule_at[head] as usize] =
                u32::try_from(index).expect("limits allow fewer than 2^32");
            rule_at[head] += 1;
            let negative = rule.negative().map(|n| n.0);
            for atom in rule.positive.iter().copied().chain(negative).filter(|&atom| needed(atom)) {
                edges[edge_at[head] as usize] = atom;
                edge_at[head] += 1;
            }
        }
        Graph { rules, rule_starts, edges, edge_starts }
    }

    /// Returns the rules that derive an atom.
    pub(super) fn rules_of(&self, atom: u32) -> &[u32] {
        let atom = atom as usize;
        &self.rules[self.rule_starts[atom] as usize..self.rule_starts[atom + 1] as usize]
    }

    fn edges_of(&self, atom: u32) -> &[u32] {
        let atom = atom as usize;
        &self.edges[self.edge_starts[atom] as usize..self.edge_starts[atom + 1] as usize]
    }

    /// Returns whether an atom depends directly on itself.
    pub(super) fn reads_itself(&self, atom: u32) -> bool {
        self.edges_of(atom).contains(&atom)
    }

    fn len(&self) -> u32 {
        u32::try_from(self.rule_starts.len() - 1).expect("limits allow fewer than 2^32 atoms")
    }
}

const UNSEEN: u32 = u32::MAX;

/// Returns the strongly connected components, sorted, each after those it depends on. Tarjan's
/// algorithm with an explicit stack, because chains of atoms can be longer than the call stack
/// allows.
pub(super) fn components(graph: &Graph) -> Vec<Vec<u32>> {
    let n = graph.len() as usize;
    let (mut number, mut low) = (vec![UNSEEN; n], vec![0u32; n]);
    let mut on_stack = vec![false; n];
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut next_number = 0;
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..graph.len() {
        if number[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((atom, edge)) = path.pop() {
            let a = atom as usize;
            if edge == 0 {
                number[a] = next_number;
                low[a] = next_number;
                next_number += 1;
                stack.push(atom);
                on_stack[a] = true;
            }
            if let Some(&to) = graph.edges_of(atom).get(edge) {
                path.push((atom, edge + 1));
                if number[to as usize] == UNSEEN {
                    path.push((to, 0));
                } else if on_stack[to as usize] {
                    low[a] = low[a].min(number[to as usize]);
                }
                continue;
            }
            if low[a] == number[a] {
                let mut component = Vec::new();
                loop {
                    let member = stack.pop().expect("a component ends with its root");
                    on_stack[member as usize] = false;
                    component.push(member);
                    if member == atom {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
            if let Some(&(above, _)) = path.last() {
                low[above as usize] = low[above as usize].min(low[a]);
            }
        }
    }
    found
}
