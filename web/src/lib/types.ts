// The shapes of what the API sends; `openapi.json` of agon-web describes them.

export interface GameEntry {
  id: string;
  name: string;
  title: string;
  origin: 'shipped' | 'folder' | 'upload';
  kind: 'GDL' | 'GDL-II' | 'Toss';
  roles: string[];
  players: number;
  chance: boolean;
  hidden: boolean;
  continuous: boolean;
  summary: string | null;
  interest: string | null;
  facts: string | null;
  problem: string | null;
  engine?: string;
  notes?: string[];
  layout?: string;
  nature?: number | null;
  turn_taking?: boolean;
  constant_sum?: number | null;
}

export interface PlayerKind {
  name: string;
  form: string;
  summary: string;
  built_in: boolean;
  options: { name: string; type: string; range: unknown; default: unknown; meaning: string }[];
}

/** A legal move and the clicks that make it. */
export interface MoveTarget {
  text: string;
  steps: string[][];
  choice: string;
  label: string;
}

/** A real parameter of a family of moves: any number from `low` to `high` is legal. */
export interface Parameter {
  name: string;
  low: number;
  high: number;
}

/** Moves that differ only in real numbers: `(Chase c)` with `px` is `(Chase c (px 0.3))`. */
export interface Family {
  text: string;
  parameters: Parameter[];
}

export interface BoardView {
  role: number | null;
  svg: string;
  state?: string[];
  known?: string[];
  n_possible?: number;
}

export interface Step {
  at: number;
  time: number;
  joint?: string[];
  errors?: string[];
  thoughts?: Record<string, { value: number | null; proven: boolean; line: string[][] }>;
  choosers?: number[];
  places?: string[];
  own?: { role: number; move: string; places: string[]; error: string; percepts: string[] | null }[];
}

export interface Seat {
  role: number;
  name: string;
  colour: string;
  player: string;
  person: boolean;
  mine: boolean;
  key?: string | null;
}

export interface Ending {
  kind: 'finished' | 'fault' | 'too-long' | 'resigned' | 'aborted';
  payoffs?: number[];
  role?: number;
  text?: string;
  imported?: boolean;
  /** How an imported record differs from the rules. */
  note?: string;
}

export interface MatchView {
  id: string;
  game: string;
  kind: 'GDL' | 'GDL-II' | 'Toss';
  title: string;
  roles: string[];
  nature: number | null;
  hidden: boolean;
  /** Whether time passes and numbers change in a step. */
  continuous: boolean;
  secret: boolean;
  constant_sum: number | null;
  payoffs: [number, number];
  seats: Seat[];
  play_clock: number;
  owner: boolean;
  watch_key?: string;
  ending: Ending | null;
  n_steps: number;
  from: number;
  steps: Step[];
  boards: BoardView[];
  asked: { role: number; since: number; deadline: number | null; moves?: MoveTarget[]; families?: Family[] }[];
  thinking: number[];
  takeback: number[];
  warnings: string[];
  now: number;
  opening: number;
}

export interface MatchSummary {
  id: string;
  game: string;
  title: string;
  players: string[];
  n_steps: number;
  ending: Ending | null;
  created: number;
}

export interface PositionView {
  game: string;
  /** Places that the last move touched. */
  last: string[];
  moves: string[][];
  state: string[];
  svg: string;
  layout: string;
  roles: {
    role: number;
    name: string;
    colour: string;
    n_moves: number;
    moves: MoveTarget[];
    families: Family[];
  }[];
  choosers: number[];
  nature: number | null;
  terminal: boolean;
  payoffs: number[] | null;
  range: [number, number];
  constant_sum: number | null;
  continuous: boolean;
}

export interface Considered {
  move: string;
  visits: number;
  value: number;
  probability: number;
  proven: boolean;
  /** Joint moves that are expected, the move itself first; empty if not known. */
  line: string[][];
}

export interface Report {
  /** The specification of the player that analyses; hints have none. */
  player?: string;
  role: number;
  role_name: string;
  best: string;
  value: number | null;
  proven: boolean;
  considered: Considered[];
  targets: MoveTarget[];
  line: string[][];
  iterations: number;
  nodes: number;
  playouts: number;
  seconds: number;
  last: boolean;
  error: string | null;
}

export interface Finding {
  severity: 'error' | 'warning' | 'note';
  code: string;
  message: string;
  line: number;
  column: number;
  from: number;
  to: number;
  hints: string[];
  fix: { title: string; edits: { from: number; to: number; insert: string }[] } | null;
}

/** A mark on the board: places to point at, with a label. */
export interface Mark {
  places: string[];
  kind: 'last' | 'candidate' | 'witness' | 'concept' | 'hint';
  label?: string;
  weight?: number;
}

/** The report of `agon assess`. */
export interface Assessment {
  players: string[];
  play: {
    strength: string;
    plays: number;
    given_up: number;
    time_was_up: boolean;
    payoffs: Record<string, { mean: number; interval: number } | undefined>;
    /** Null, like what follows, if no play ended in time. */
    draws: number | null;
    decisive: number | null;
    length: { mean: number; min: number; max: number } | null;
    branching: number | null;
    lead_changes: number | null;
    first_player_advantage: number | null;
  }[];
  termination: {
    known: 'proved' | 'cycle' | 'observed';
    max_steps?: number;
    step?: number;
    moves?: string[][];
    longest?: number;
  };
  /** Null if the game has no circuit. */
  unused_moves: string[] | null;
  unused_rules: string[];
  symmetries: string[];
  solution: { solved: boolean; values?: Record<string, number>; reason?: string };
}

/** What happens during one step of a continuous game. */
export interface Trajectory {
  duration: number;
  times: number[];
  events: number[];
  values: { function: string; element: string; samples: number[] }[];
  /** Pictures at the times. */
  frames: string[];
  /** By place: its pixels in each picture. */
  places: Record<string, [number, number][]>;
}

/** A moment of a motion: a picture, and by how many pixels places have moved on since. */
export interface MotionFrame {
  svg: string;
  shifts: Record<string, [number, number]>;
}

/** Something that can be asked about a place of the board. */
export interface Question {
  kind: 'fact' | 'legal' | 'illegal';
  role?: string;
  text: string;
  sentence: string;
}

/** Facts that are typical of plays that a role won. */
export interface ConceptRule {
  role: string;
  value: number;
  facts: string[];
  places: string[];
  held: string[];
}
