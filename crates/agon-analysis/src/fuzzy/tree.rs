//! The evaluation tree. Equal parts are one node, so it is in truth a graph.

use std::collections::BTreeMap;

use agon_gdl::rules::Condition;

/// A node of a [`Tree`]. Dense.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Node {
    /// The same at every state: statics that were folded.
    Constant(bool),
    /// A fluent without variables, by its number.
    Fluent(u32),
    /// Fluents that fit a pattern, by the number of the pattern.
    Pattern(u32),
    /// A conjunction left to the reasoner, by the number of the query.
    Query(u32),
    /// A comparison along an order, by the number of the feature.
    Order(u32),
    /// How close two things are to each other, by the number of the feature.
    Between(u32),
    /// The opposite.
    Not(NodeId),
    /// All of them: at least two.
    And(Vec<NodeId>),
    /// At least one of them: at least two.
    Or(Vec<NodeId>),
}

/// Nodes, each after those that it consists of.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    known: BTreeMap<Node, NodeId>,
    /// By node: the rule from which it was first made, as an index into the rules of the game.
    origins: Vec<Option<usize>>,
}

/// A conjunction with variables, as a node refers to it.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it consists of.
    pub conditions: Vec<Condition>,
    /// The same as text, variables included.
    pub text: String,
}

impl Tree {
    /// The node that says this, made if there is none. Constants and doubles are folded.
    pub fn node(&mut self, node: Node, origin: Option<usize>) -> NodeId {
        let node = match node {
            Node::Not(child) => match self.get(child) {
                Node::Constant(value) => Node::Constant(!value),
                Node::Not(inner) => return *inner,
                _ => Node::Not(child),
            },
            Node::And(children) => match self.gathered(children, true) {
                Ok(node) => node,
                Err(id) => return id,
            },
            Node::Or(children) => match self.gathered(children, false) {
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

    /// A conjunction or disjunction without what changes nothing, those within it taken apart.
    fn gathered(&self, children: Vec<NodeId>, is_and: bool) -> Result<Node, NodeId> {
        let mut all = Vec::new();
        for child in children {
            match (self.get(child), is_and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => {
                    all.extend(inner.iter().copied())
                }
                (Node::Constant(value), _) if *value == is_and => {}
                (Node::Constant(_), _) => return Ok(Node::Constant(!is_and)),
                _ => all.push(child),
            }
        }
        // Idempotence. The order of the first ones is kept: it is that of the rules.
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|&child| seen.insert(child));
        match all.as_slice() {
            [] => Ok(Node::Constant(is_and)),
            [only] => Err(*only),
            [_, _, ..] if is_and => Ok(Node::And(all)),
            [_, _, ..] => Ok(Node::Or(all)),
        }
    }

    /// What a node says.
    pub fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The rule from which a node was first made.
    pub fn origin(&self, id: NodeId) -> Option<usize> {
        self.origins[id.index()]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, each after those that it consists of.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Forgets the nodes from a number on. None of the others refers to them.
    pub fn truncate(&mut self, len: usize) {
        for node in self.nodes.drain(len..) {
            self.known.remove(&node);
        }
        self.origins.truncate(len);
    }

    /// The nodes that a node consists of, itself among them, in ascending order.
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

    /// How deep a tree is; a leaf has depth 1.
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
