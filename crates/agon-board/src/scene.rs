//! What is drawn for one state: boards with places and pieces, panels beside them, the turn.
//!
//! A scene knows nothing of rules. Renderers draw it ([`crate::svg`], [`crate::text`]), and
//! programs get it as JSON: every type here implements [`serde::Serialize`].

use serde::Serialize;

/// The picture of one state.
///
/// Coordinates of all boards are in one plane: `x` grows to the right, `y` grows downwards, and the
/// side of a cell has length 1. Panels have no coordinates; a renderer puts them where it likes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Width of the plane.
    pub width: f64,
    /// Height of the plane.
    pub height: f64,
    /// The names of the roles; an owner is an index into this list.
    pub roles: Vec<String>,
    /// The roles that the state names as being to move. Empty if the state does not say.
    pub turn: Vec<usize>,
    /// The boards. Empty if the game has none.
    pub boards: Vec<Board>,
    /// Counters, hands, and what does not fit on a board.
    pub panels: Vec<Panel>,
}

/// A board: places and what lies between and on them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// Identifies the board in all scenes of a layout.
    pub id: String,
    /// How the places are arranged.
    pub kind: BoardKind,
    /// The title, if there are several boards.
    pub title: String,
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width without labels.
    pub width: f64,
    /// Height without labels.
    pub height: f64,
    /// The places, in drawing order.
    pub places: Vec<Place>,
    /// Lines of the board that are not places, such as the edges of a graph.
    pub lines: Vec<Line>,
    /// Frames around groups of places, such as the small boards of a board of boards.
    pub frames: Vec<Frame>,
    /// Coordinates and names beside the places.
    pub labels: Vec<Label>,
}

/// How the places of a board are arranged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardKind {
    /// Rows and columns of squares.
    Grid,
    /// Hexagons in a rhombus.
    Hex,
    /// Dots, with edges between neighbours as places.
    Edges,
    /// Heaps, stacks or pegs, each with things on it.
    Stacks,
    /// Nodes joined by lines.
    Graph,
    /// Points in a plane or on a line, with coordinates that are real numbers. Lines are the grid,
    /// and arrows are velocities.
    Plane,
}

/// A part of a board that holds pieces and that a person can click on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Identifies the place in all scenes of a layout.
    pub id: String,
    /// The coordinates as a person writes them, such as `e2` or `3 1`.
    pub name: String,
    /// Outline.
    pub shape: Shape,
    /// Horizontal position of the centre.
    pub x: f64,
    /// Vertical position of the centre.
    pub y: f64,
    /// Background.
    pub shade: Shade,
    /// The pieces, from the lowest to the highest.
    pub pieces: Vec<Piece>,
}

/// The outline of a place.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Shape {
    /// A rectangle around the centre.
    Rectangle {
        /// Width.
        width: f64,
        /// Height.
        height: f64,
    },
    /// A hexagon with a corner at the top.
    Hexagon {
        /// Distance from the centre to a corner.
        radius: f64,
    },
    /// A circle.
    Circle {
        /// Radius.
        radius: f64,
    },
    /// A line through the centre: the place is an edge between two dots.
    Edge {
        /// Horizontal distance between the ends.
        dx: f64,
        /// Vertical distance between the ends.
        dy: f64,
    },
}

/// The background of a place.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shade {
    /// The usual background.
    Plain,
    /// The other colour of a chequered board.
    Dark,
    /// A place that the rules mark, such as one that a box must be pushed to.
    Aim,
    /// A place that the state does not mention, such as a hole in the board.
    Absent,
    /// A place whose contents the viewer does not know.
    Unknown,
}

/// A thing on a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// What is drawn.
    pub symbol: Symbol,
    /// The text to draw for [`Symbol::Text`] and [`Symbol::Tile`], and a short form of the name
    /// for all other symbols: one to three characters.
    pub text: String,
    /// One character for terminals and plain text, such as `♙`.
    pub glyph: String,
    /// The role that owns the piece.
    pub owner: Option<usize>,
    /// A number that distinguishes kinds of piece without owner by colour.
    pub tint: usize,
    /// Number of equal things; drawn if it is not 1.
    pub count: u32,
    /// The whole name, for tooltips and screen readers.
    pub name: String,
    /// The fluent that puts the piece there.
    pub fluent: String,
}

/// The picture of a piece.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbol {
    /// A chess pawn.
    Pawn,
    /// A chess knight.
    Knight,
    /// A chess bishop.
    Bishop,
    /// A chess rook.
    Rook,
    /// A chess queen.
    Queen,
    /// A chess king.
    King,
    /// A flat disc, the piece of a game with one kind of piece.
    Disc,
    /// A disc with a crown.
    CrownedDisc,
    /// A cross.
    Cross,
    /// A ring.
    Ring,
    /// A filled place: a wall, a burnt square, a track.
    Block,
    /// A small mark on a place.
    Dot,
    /// A lamp that is on.
    Light,
    /// An arrow upwards.
    North,
    /// An arrow downwards.
    South,
    /// An arrow to the right.
    East,
    /// An arrow to the left.
    West,
    /// A line over an edge.
    Line,
    /// A number or a word on a tile that fills the place.
    Tile,
    /// A short text in a shape that depends on the owner.
    Text,
    /// The back of something that the viewer does not know.
    Back,
}

/// A line of a board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Start, horizontally.
    pub x1: f64,
    /// Start, vertically.
    pub y1: f64,
    /// End, horizontally.
    pub x2: f64,
    /// End, vertically.
    pub y2: f64,
    /// Whether the line has an arrowhead at its end.
    pub arrow: bool,
    /// What the line means, such as the name of a relation; may be empty.
    pub name: String,
}

/// A frame around a group of places.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A text beside the places of a board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    /// Horizontal position of the centre.
    pub x: f64,
    /// Vertical position of the centre.
    pub y: f64,
    /// The text.
    pub text: String,
}

/// A table of values beside the boards.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// What the entries are, such as `score`.
    pub title: String,
    /// How the entries are meant.
    pub kind: PanelKind,
    /// The rows.
    pub entries: Vec<Entry>,
}

/// How the entries of a panel are meant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PanelKind {
    /// Numbers: scores, clocks, coins.
    Counters,
    /// Things that roles hold, such as cards.
    Hands,
    /// Words that describe the state, such as a phase.
    Status,
    /// Fluents as they are.
    List,
}

/// A row of a panel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The place that the row stands for, so that it can be clicked on; empty if none.
    pub place: String,
    /// The name before the value; may be empty.
    pub label: String,
    /// The values.
    pub values: Vec<String>,
    /// The role to which the row belongs.
    pub owner: Option<usize>,
}

impl Scene {
    /// Returns all places of all boards.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.boards.iter().flat_map(|board| &board.places)
    }

    /// Returns the place with this id.
    pub fn place(&self, id: &str) -> Option<&Place> {
        self.places().find(|place| place.id == id)
    }
}
