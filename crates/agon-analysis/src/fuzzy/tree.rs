//! The evaluation tree. Equal parts share one node, so it is strictly speaking a directed graph.

use std::collections::BTreeMap;

use agon_gdl::rules::Condition;

/// A node of a [`Tree`]. Dense: `0..tree.len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the number of the node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The content of a node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Node {
    /// A value that is the same in every state: folded static conditions.
    Constant(bool),
    /// A ground fluent, by its number.
    Fluent(u32),
    /// The fluents that match a pattern, by the number of the pattern.
    Pattern(u32),
    /// A conjunction left to the reasoner, by the number of the query.
    Query(u32),
    /// A comparison along an order, by the number of the feature.
    Order(u32),
    /// The distance between two fluents, by the number of the feature.
    PairDistance(u32),
    /// A negation.
    Not(NodeId),
    /// A conjunction of at least two nodes.
    And(Vec<NodeId>),
    /// A disjunction of at least two nodes.
    Or(Vec<NodeId>),
}

/// The nodes of evaluation trees. Invariant: each node comes after its children.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    known: BTreeMap<Node, NodeId>,
    /// By node: the rule that it was first created for, as an index into the rules of the game.
    origins: Vec<Option<usize>>,
}

/// A conjunction with variables that a node refers to.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    /// The conditions of the conjunction.
    pub(crate) conditions: Vec<Condition>,
    /// The conjunction in the syntax of the rulesheet.
    pub(crate) text: String,
}

impl Tree {
    /// Returns the node with this content, and adds it if it is new. Constants, duplicate children
    /// and double negations are simplified.
    pub(crate) fn node(&mut self, node: Node, origin: Option<usize>) -> NodeId {
        let node = match node {
            Node::Not(child) => match self.get(child) {
                Node::Constant(value) => Node::Constant(!value),
                Node::Not(inner) => return *inner,
                _ => Node::Not(child),
            },
            Node::And(children) => match self.simplified(children, true) {
                Ok(node) => node,
                Err(id) => return id,
            },
            Node::Or(children) => match self.simplified(children, false) {
                Ok(node) => node,
                Err(id) => return id,
            },
            other => other,
        };
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("trees are limited"));
        self.nodes.push(node.clone());
        self.origins.push(origin);
        self.known.insert(node, id);
        id
    }

    /// Simplifies a conjunction (`is_and`) or disjunction: nested ones are flattened, neutral
    /// constants and duplicates are dropped. Returns `Err` with the node if only one is left.
    fn simplified(&self, children: Vec<NodeId>, is_and: bool) -> Result<Node, NodeId> {
        let mut all = Vec::new();
        for child in children {
            match (self.get(child), is_and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => {
                    all.extend(inner.iter().copied());
                }
                (Node::Constant(value), _) if *value == is_and => {}
                (Node::Constant(_), _) => return Ok(Node::Constant(!is_and)),
                _ => all.push(child),
            }
        }
        // Idempotence. The children stay in the order of the rules.
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|&child| seen.insert(child));
        match all.as_slice() {
            [] => Ok(Node::Constant(is_and)),
            [only] => Err(*only),
            [_, _, ..] if is_and => Ok(Node::And(all)),
            [_, _, ..] => Ok(Node::Or(all)),
        }
    }

    /// Returns the content of a node.
    pub fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the rule that a node was first created for.
    pub fn origin(&self, id: NodeId) -> Option<usize> {
        self.origins[id.index()]
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns all nodes, each after its children.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Removes the nodes from a number on. No earlier node refers to them.
    pub(crate) fn truncate(&mut self, len: usize) {
        for node in self.nodes.drain(len..) {
            self.known.remove(&node);
        }
        self.origins.truncate(len);
    }

    /// Returns a node and all its descendants in ascending order.
    pub fn below(&self, root: NodeId) -> Vec<NodeId> {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                match self.get(id) {
                    Node::Not(child) => open.push(*child),
                    Node::And(children) | Node::Or(children) => open.extend(children),
                    _ => {}
                }
            }
        }
        seen.into_iter().collect()
    }

    /// Returns the depth of a tree. A leaf has depth 1.
    pub fn depth(&self, root: NodeId) -> usize {
        let below = self.below(root);
        let mut depths: BTreeMap<NodeId, usize> = BTreeMap::new();
        for &id in &below {
            let depth = match self.get(id) {
                Node::Not(child) => 1 + depths[child],
                Node::And(children) | Node::Or(children) => {
                    1 + children.iter().map(|child| depths[child]).max().unwrap_or(0)
                }
                _ => 1,
            };
            depths.insert(id, depth);
        }
        depths[&root]
    }
}
