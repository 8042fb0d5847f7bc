//! Strongly connected components and shortest paths.

/// Returns the component of each node of a directed graph, where `successors[n]` are the nodes that
/// `n` points to. Components are numbered such that edges between components lead from higher to
/// lower numbers.
///
/// Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972), with its stack on
/// the heap because the input decides how deep it goes.
pub(super) fn components(successors: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let n = successors.len();
    let mut component = vec![UNSEEN; n];
    let mut index = vec![UNSEEN; n];
    let mut low = vec![0; n];
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    let (mut n_indexed, mut n_components) = (0, 0);
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                index[node] = n_indexed;
                low[node] = n_indexed;
                n_indexed += 1;
                open.push(node);
            }
            if let Some(&successor) = successors[node].get(*next) {
                *next += 1;
                if index[successor] == UNSEEN {
                    path.push((successor, 0));
                } else if component[successor] == UNSEEN {
                    low[node] = low[node].min(index[successor]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    component
}

/// Returns a shortest path from `from` to `to` along nodes that `allowed` admits, with both ends.
/// The path is a single node if they are equal. Returns `None` if there is no path.
pub(super) fn shortest_path(
    successors: &[Vec<usize>],
    from: usize,
    to: usize,
    allowed: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    const NONE: usize = usize::MAX;
    let mut before = vec![NONE; successors.len()];
    before[from] = from;
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = vec![to];
            while path[path.len() - 1] != from {
                path.push(before[path[path.len() - 1]]);
            }
            path.reverse();
            return Some(path);
        }
        for &successor in &successors[node] {
            if before[successor] == NONE && allowed(successor) {
                before[successor] = node;
                queue.push_back(successor);
            }
        }
    }
    None
}
