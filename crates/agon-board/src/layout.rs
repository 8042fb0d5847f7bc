//! How the states of a game are drawn.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::evidence::Evidence;
use crate::fluent::Flat;
use crate::infer::towers::{NAMELESS, heights};
use crate::moves::{MoveMatcher, MoveTarget};
use crate::pieces::Styles;
use crate::reals::{Collected, Reals};
use crate::scene::{
    Board, BoardKind, Frame, Label, Line, Piece, Place, Scene, Shade, Shape, Symbol,
};

/// How the states of a game are drawn: which relations are boards, what their arguments mean, and
/// which moves touch which places. It never changes once it is inferred.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(crate) roles: Vec<String>,
    pub(crate) boards: Vec<BoardPlan>,
    /// By skeleton: how fluents of this shape are drawn.
    pub(crate) uses: BTreeMap<String, Use>,
    pub(crate) styles: Styles,
    pub(crate) movers: BTreeMap<String, Vec<usize>>,
    pub(crate) hidden: BTreeSet<String>,
    /// How real numbers are drawn, if the game has them.
    pub(crate) reals: Option<Reals>,
    pub(crate) matcher: MoveMatcher,
    pub(crate) kind: LayoutKind,
}

/// What kind of picture a layout gives.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutKind {
    /// At least one board of squares or hexagons.
    Grid,
    /// A graph, stacks, edges, or counters and hands that say everything.
    Picture,
    /// A list of fluents, at least in part, and no board.
    List,
}

/// A board before pieces are put on it.
#[derive(Clone, Debug)]
pub(crate) struct BoardPlan {
    pub(crate) id: String,
    pub(crate) kind: BoardKind,
    pub(crate) title: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) places: Vec<PlacePlan>,
    /// By coordinates as fluents and moves write them: an index into `places`.
    pub(crate) lookup: BTreeMap<Vec<String>, usize>,
    pub(crate) lines: Vec<Line>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) labels: Vec<Label>,
    /// Whether nodes and their positions come from the state.
    pub(crate) is_dynamic: bool,
}

/// A place before pieces are put on it. Coordinates are relative to the board.
#[derive(Clone, Debug)]
pub(crate) struct PlacePlan {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) shade: Shade,
}

/// How fluents of one shape are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Use {
    /// A piece on a place.
    Layer(Layer),
    /// A line between two nodes of a graph whose edges change in play.
    Link {
        /// The board.
        board: usize,
        /// Whether the direction matters.
        arrow: bool,
    },
    /// Says whose turn it is: the argument is a role.
    Turn,
    /// Says whose turn it is by the table `movers`.
    Movers,
    /// A number, by role if there is one.
    Counter {
        /// The argument that is a role.
        role: Option<usize>,
        /// The argument that is the number.
        value: usize,
    },
    /// Things that roles or holders have.
    Hand {
        /// The argument that is the holder.
        holder: usize,
    },
    /// A word or a few words about the state.
    Status,
    /// A real number, or a word about an element with real numbers.
    Real,
    /// Follows from what is drawn, such as that nothing lies on a thing.
    Implied,
    /// A row of a list.
    Row,
}

/// A relation whose fluents are pieces on places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layer {
    pub(crate) board: usize,
    /// Atoms in front of the coordinates in the lookup of the board.
    pub(crate) prefix: Vec<String>,
    /// The arguments that are coordinates, in the order of the lookup.
    pub(crate) key: Vec<usize>,
    /// The arguments that say what is there.
    pub(crate) contents: Vec<usize>,
    pub(crate) role: LayerRole,
}

/// What a layer contributes to a board.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum LayerRole {
    /// The pieces.
    Main,
    /// A mark beside the pieces.
    Mark,
    /// A number of equal things.
    Amount,
    /// A line over an edge.
    Line,
    /// Says only that the place exists.
    Exists,
    /// A thing on another thing; the key is what it stands on, if anything.
    Tower,
}

impl Layout {
    /// Returns what kind of picture the layout gives.
    pub fn kind(&self) -> LayoutKind {
        self.kind
    }

    /// Returns the names of the roles.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    /// Infers a layout. Always succeeds: the worst layout is a list of fluents.
    pub fn infer(evidence: &Evidence) -> Layout {
        crate::infer::infer(evidence)
    }

    /// Returns the picture of a state.
    pub fn scene(&self, state: &[String]) -> Scene {
        self.draw(state, &BTreeSet::new(), &[])
    }

    /// Returns the pictures of states that follow each other. Planes and lines show the same part
    /// in all of them, so that points can be moved from one picture to the next.
    pub fn scenes_along(&self, states: &[Vec<String>]) -> Vec<Scene> {
        let points: Vec<Vec<f64>> = match &self.reals {
            Some(reals) => states.iter().flat_map(|state| reals.positions(state)).collect(),
            None => Vec::new(),
        };
        states.iter().map(|state| self.draw(state, &BTreeSet::new(), &points)).collect()
    }

    /// Returns the picture of what is common to several states that a viewer holds for possible.
    /// Places where the states differ are shown as [`Shade::Unknown`] with [`Symbol::Back`], other
    /// fluents that differ are not shown. The empty list gives a picture in which nothing is
    /// known.
    pub fn scene_of_possible(&self, states: &[Vec<String>]) -> Scene {
        let Some((first, rest)) = states.split_first() else { return self.unknown() };
        let common: Vec<String> = first
            .iter()
            .filter(|fluent| rest.iter().all(|state| state.contains(fluent)))
            .cloned()
            .collect();
        let common_set: BTreeSet<&String> = common.iter().collect();
        let mut doubtful = BTreeSet::new();
        for fluent in states.iter().flatten().filter(|fluent| !common_set.contains(fluent)) {
            doubtful.extend(self.place_of(fluent));
        }
        self.draw(&common, &doubtful, &[])
    }

    /// Returns where a fluent is drawn, to the right and downwards in units of its board. `None` if
    /// it is not a piece on a board.
    pub fn drawn_at(&self, fluent: &str) -> Option<(f64, f64)> {
        let (board, place) = self.place_of(fluent)?;
        let place = &self.boards[board].places[place];
        Some((place.x, place.y))
    }

    /// Returns the id of the place on which a fluent is drawn. `None` if it is not a piece on a
    /// board.
    pub fn place_id(&self, fluent: &str) -> Option<&str> {
        let (board, place) = self.place_of(fluent)?;
        Some(&self.boards[board].places[place].id)
    }

    /// Returns for each move the places that it touches, in the order of the moves.
    pub fn targets(&self, legal: &[String]) -> Vec<MoveTarget> {
        self.matcher.targets(&self.boards, legal)
    }

    /// Returns the meaning of short texts on the board: text and whole name, without repetitions.
    pub fn legend(&self, scene: &Scene) -> Vec<(String, String)> {
        let pieces = scene.places().flat_map(|place| &place.pieces);
        let named: BTreeSet<(String, String)> = pieces
            .filter(|piece| piece.glyph != piece.name && piece.symbol != Symbol::Line)
            .map(|piece| (piece.glyph.clone(), piece.name.clone()))
            .collect();
        named.into_iter().collect()
    }

    fn unknown(&self) -> Scene {
        let all: BTreeSet<(usize, usize)> = self
            .boards
            .iter()
            .enumerate()
            .flat_map(|(b, board)| (0..board.places.len()).map(move |p| (b, p)))
            .collect();
        self.draw(&[], &all, &[])
    }

    /// Returns the board and place on which a fluent is drawn.
    fn place_of(&self, fluent: &str) -> Option<(usize, usize)> {
        let flat = Flat::parse(fluent)?;
        let Use::Layer(layer) = self.uses.get(&flat.skeleton)? else { return None };
        Some((layer.board, layer.place(&self.boards[layer.board], &flat)?))
    }

    /// Draws a state. `inside` are further points that a plane or line must show.
    fn draw(
        &self,
        state: &[String],
        doubtful: &BTreeSet<(usize, usize)>,
        inside: &[Vec<f64>],
    ) -> Scene {
        let mut pieces: BTreeMap<(usize, usize), Vec<(usize, Piece)>> = BTreeMap::new();
        let mut panels = crate::panels::Panels::new(&self.roles);
        let mut links: Vec<(usize, String, String, bool, String)> = Vec::new();
        let mut nodes: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut dynamic: Vec<(usize, String, Piece)> = Vec::new();
        let mut turn = Vec::new();
        let mut collected = Collected::default();
        let mut towers: BTreeMap<usize, Towers> = BTreeMap::new();
        for fluent in state {
            let Some(flat) = Flat::parse(fluent) else {
                panels.add_row(fluent, None);
                continue;
            };
            if self.hidden.contains(&flat.relation) {
                continue;
            }
            if self.reals.as_ref().is_some_and(|reals| reals.take(&flat, &mut collected)) {
                continue;
            }
            match self.uses.get(&flat.skeleton) {
                Some(Use::Layer(layer)) if layer.role == LayerRole::Tower => {
                    towers.entry(layer.board).or_default().add(self, layer, &flat, fluent);
                }
                Some(Use::Implied) => {}
                Some(Use::Layer(layer)) => {
                    let plan = &self.boards[layer.board];
                    let found = layer.place(plan, &flat);
                    let piece = self.styles.piece(layer, &flat, fluent, &self.roles);
                    match (found, piece) {
                        (Some(place), Some(piece)) => {
                            let order = layer.role as usize;
                            let list = pieces.entry((layer.board, place)).or_default();
                            list.push((order, piece));
                        }
                        (Some(_), None) => {}
                        (None, piece) if plan.is_dynamic => {
                            let node = flat.arguments[layer.key[0]].clone();
                            nodes.entry(layer.board).or_default().insert(node.clone());
                            if let Some(piece) = piece {
                                dynamic.push((layer.board, node, piece));
                            }
                        }
                        (None, _) => panels.add_row(fluent, Some(&flat)),
                    }
                }
                Some(Use::Link { board, arrow }) => {
                    if let [a, b] = flat.arguments.as_slice() {
                        nodes.entry(*board).or_default().extend([a.clone(), b.clone()]);
                        links.push((*board, a.clone(), b.clone(), *arrow, flat.relation.clone()));
                    }
                }
                Some(Use::Turn) => {
                    let role = flat.arguments.first();
                    turn.extend(self.roles.iter().position(|name| Some(name) == role));
                }
                Some(Use::Movers) => match self.movers.get(fluent) {
                    Some(roles) => turn.extend(roles.iter().copied()),
                    None => panels.add_status(&flat),
                },
                Some(Use::Counter { role, value }) => panels.add_counter(&flat, *role, *value),
                Some(Use::Hand { holder }) => panels.add_hand(&flat, *holder),
                Some(Use::Status) => panels.add_status(&flat),
                Some(Use::Row | Use::Real) | None => panels.add_row(fluent, Some(&flat)),
            }
        }
        for (board, towers) in towers {
            for (place, height, piece) in towers.finish(self, board) {
                pieces.entry((board, place)).or_default().push((height, piece));
            }
        }
        turn.sort_unstable();
        turn.dedup();
        let mut scene = Scene { roles: self.roles.clone(), turn, ..Scene::default() };
        for (index, plan) in self.boards.iter().enumerate() {
            let mut board = plan.empty_board();
            if plan.is_dynamic {
                let names = nodes.remove(&index).unwrap_or_default();
                let own = links.iter().filter(|link| link.0 == index);
                let own: Vec<_> = own.map(|(_, a, b, arrow, name)| (a, b, *arrow, name)).collect();
                crate::graph::fill(&mut board, &names, &own);
                for (_, node, piece) in dynamic.iter().filter(|(board, ..)| *board == index) {
                    if let Some(place) = board.places.iter_mut().find(|place| place.name == *node) {
                        place.pieces.push(piece.clone());
                    }
                }
            }
            for (number, place) in board.places.iter_mut().enumerate() {
                if let Some(mut list) = pieces.remove(&(index, number)) {
                    list.sort_by_key(|(order, _)| *order);
                    place.pieces.extend(list.into_iter().map(|(_, piece)| piece));
                }
                if doubtful.contains(&(index, number)) {
                    place.shade = Shade::Unknown;
                    place.pieces.push(Piece {
                        symbol: Symbol::Back,
                        text: "?".to_owned(),
                        glyph: "?".to_owned(),
                        owner: None,
                        tint: 0,
                        count: 1,
                        name: "unknown".to_owned(),
                        fluent: String::new(),
                    });
                }
            }
            if board.kind == BoardKind::Stacks {
                crate::infer::stacks::arrange(&mut board);
            }
            scene.boards.push(board);
        }
        if let Some(reals) = &self.reals {
            scene.boards.extend(reals.finish(&collected, &self.roles, inside, &mut panels));
        }
        arrange_boards(&mut scene);
        scene.panels = panels.finish();
        scene
    }
}

/// The things of a state that stand on things.
#[derive(Default)]
struct Towers {
    /// By thing: what it stands on.
    below: BTreeMap<String, Option<String>>,
    /// By thing: how it is drawn.
    pieces: BTreeMap<String, Piece>,
    /// A relation of the towers and one of its fluents.
    example: Option<(Layer, Flat)>,
}

impl Towers {
    fn add(&mut self, layout: &Layout, layer: &Layer, flat: &Flat, fluent: &str) {
        let thing = flat.arguments[0].clone();
        let below = layer.key.first().map(|&i| flat.arguments[i].clone());
        self.below.insert(thing.clone(), below);
        self.pieces.extend(
            layout.styles.piece(layer, flat, fluent, &layout.roles).map(|piece| (thing, piece)),
        );
        self.example.get_or_insert((layer.clone(), flat.clone()));
    }

    /// Returns place, height and piece of each thing. A thing on which others stand, and of which
    /// no fluent says anything, is drawn as well, unless it is a pillar.
    fn finish(mut self, layout: &Layout, board: usize) -> Vec<(usize, usize, Piece)> {
        let plan = &layout.boards[board];
        let Some((layer, flat)) = self.example.take() else { return Vec::new() };
        let is_named = !plan.labels.is_empty();
        let unsaid: Vec<String> = self.below.values().flatten().cloned().collect();
        for thing in unsaid.into_iter().filter(|_| !is_named) {
            if !self.below.contains_key(&thing) {
                let flat = Flat { arguments: vec![thing.clone(); 2], ..flat.clone() };
                let piece = layout.styles.piece(&layer, &flat, "", &layout.roles);
                self.pieces.extend(piece.map(|piece| (thing.clone(), piece)));
                self.below.insert(thing, None);
            }
        }
        let heights = heights(&self.below);
        let found = heights.into_iter().filter_map(|(thing, (lowest, height))| {
            let nameless = vec![NAMELESS.to_owned(), lowest.clone()];
            let place = plan.lookup.get(&vec![lowest]).or(plan.lookup.get(&nameless));
            let place = *place?;
            Some((place, height, self.pieces.remove(&thing)?))
        });
        found.collect()
    }
}

impl Layer {
    /// Returns the place of a fluent.
    pub(crate) fn place(&self, board: &BoardPlan, flat: &Flat) -> Option<usize> {
        let key: Vec<String> = self
            .prefix
            .iter()
            .cloned()
            .chain(self.key.iter().map(|&i| flat.arguments[i].clone()))
            .collect();
        board.lookup.get(&key).copied()
    }
}

impl BoardPlan {
    fn empty_board(&self) -> Board {
        let places = self.places.iter().map(|place| Place {
            id: place.id.clone(),
            name: place.name.clone(),
            shape: place.shape,
            x: place.x,
            y: place.y,
            shade: place.shade,
            pieces: Vec::new(),
        });
        Board {
            id: self.id.clone(),
            kind: self.kind,
            title: self.title.clone(),
            x: 0.0,
            y: 0.0,
            width: self.width,
            height: self.height,
            places: places.collect(),
            lines: self.lines.clone(),
            frames: self.frames.clone(),
            labels: self.labels.clone(),
        }
    }
}

/// Width of the margin around a board, which holds its labels.
const MARGIN: f64 = 0.7;

/// Puts the boards of a scene side by side, in lines of about equal width.
fn arrange_boards(scene: &mut Scene) {
    let widest = scene.boards.iter().map(|board| board.width).fold(0.0, f64::max);
    let area: f64 = scene
        .boards
        .iter()
        .map(|board| (board.width + 2.0 * MARGIN) * (board.height + 2.0 * MARGIN))
        .sum();
    // A bit wider than high, as screens are.
    let limit = (1.6 * area).sqrt().max(widest + 2.0 * MARGIN);
    let (mut x, mut y, mut line_height) = (0.0_f64, 0.0_f64, 0.0_f64);
    for board in &mut scene.boards {
        let top = if board.title.is_empty() { MARGIN } else { MARGIN + 0.4 };
        let (width, height) = (board.width + 2.0 * MARGIN, board.height + top + MARGIN);
        if x > 0.0 && x + width > limit + 0.01 {
            (x, y, line_height) = (0.0, y + line_height, 0.0);
        }
        board.shift(x + MARGIN, y + top);
        x += width;
        line_height = line_height.max(height);
        scene.width = scene.width.max(x);
        scene.height = scene.height.max(y + line_height);
    }
}

impl Board {
    fn shift(&mut self, dx: f64, dy: f64) {
        self.x += dx;
        self.y += dy;
        for place in &mut self.places {
            place.x += dx;
            place.y += dy;
        }
        for line in &mut self.lines {
            line.x1 += dx;
            line.x2 += dx;
            line.y1 += dy;
            line.y2 += dy;
        }
        for frame in &mut self.frames {
            frame.x += dx;
            frame.y += dy;
        }
        for label in &mut self.labels {
            label.x += dx;
            label.y += dy;
        }
    }
}
