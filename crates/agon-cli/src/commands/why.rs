//! `agon why`: explains why a sentence holds or does not hold at a position.

mod toss;

use agon::reports::explanation_json;
use agon_game::{Notation, Role};
use agon_gdl::read::split_terms;
use agon_gdl::why::{Attempt, Because, Explanation, Failure as NotHeld, Support, Unmet, Why};
use agon_text::{Source, Span};

use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::say;

/// Explain why a sentence holds or not: a proof, or the conditions that fail
#[derive(clap::Args)]
#[command(after_help = "\
MOVES is a list of terms: for each step one move of each role, or only the move of the role that has
a choice. Variables in the sentence ask for all values for which it holds.

Examples:
  agon why tic-tac-toe \"(legal xplayer (mark 1 1))\"
  agon why tic-tac-toe --after \"(mark 1 1) (mark 2 2)\" \"(legal xplayer (mark 1 1))\"
  agon why tic-tac-toe --does \"(mark 1 1) noop\" \"(next (cell 1 1 x))\"
  agon why tic-tac-toe \"(legal ?who (mark 1 ?y))\"

For a structure rewriting game, ask for a move, a formula or a term:
  agon why toss/tic-tac-toe --after \"(Cross a1)\" \"(Circle a1)\"
  agon why toss/tic-tac-toe --after \"(Cross a1)\" \"ex x (P(x) and R(x, y))\"
  agon why toss/tic-tac-toe \"Sum (x | not P(x) : 1)\"

The exit code is 0 whether the sentence holds or not; with --json, see the key `holds`.")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Sentence in KIF, or a move, formula or term of a structure rewriting game
    sentence: String,
    /// Moves from the start to the position
    #[arg(long, value_name = "MOVES", default_value = "")]
    after: String,
    /// Joint move made at the position, for sentences about `does`, `next` and `sees`
    #[arg(long, value_name = "MOVES")]
    does: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

/// Time in seconds for evaluating the rules.
const SECONDS: f64 = 30.0;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let source = open::source(&args.game)?;
    if open::language(&source) == Language::Toss {
        return toss::run(args, source);
    }
    let game = open::open_source(source, &args.play.within(SECONDS))?;
    let mut position = game.start();
    let step = play_moves(&mut position, &args.after)?;
    let joint = match &args.does {
        None => None,
        Some(text) => {
            let mut moves = split_moves(text)?;
            let joint = take_joint(&position, &mut moves, step + 1)?;
            if moves.peek().is_some() {
                return Err(Failure::wrong("--does needs one joint move: one move for each role"));
            }
            Some(joint)
        }
    };
    let explanation = Why::new(&position, joint.as_deref())
        .and_then(|mut why| why.explain(&args.sentence))
        .map_err(|error| {
            let hint = match error {
                agon_gdl::why::WhyError::NeedsMoves(_) => "; give them with --does",
                _ => "",
            };
            Failure::wrong(format!("{error}{hint}"))
        })?;
    let source = &game.rules().sheet().source;
    if args.json {
        say!("{}", explanation_json(&explanation, source));
    } else {
        View { source }.print(&explanation);
    }
    Ok(())
}

/// Prints why a sentence about a game holds or not, after some moves from the start.
pub(crate) fn print(game: &str, sentence: &str, after: &str) -> Result<(), Failure> {
    run(&Args {
        game: game.to_owned(),
        sentence: sentence.to_owned(),
        after: after.to_owned(),
        does: None,
        json: false,
        play: RuleOptions::default(),
    })
}

/// Plays moves given as text and returns the number of steps.
pub(crate) fn play_moves<P: Notation>(position: &mut P, moves: &str) -> Result<usize, Failure> {
    let mut moves = split_moves(moves)?;
    let mut step = 0;
    while moves.peek().is_some() {
        step += 1;
        let joint = take_joint(position, &mut moves, step)?;
        position.advance(&joint);
    }
    Ok(step)
}

/// Moves given as text, one after another.
type Moves = std::iter::Peekable<std::vec::IntoIter<String>>;

fn split_moves(text: &str) -> Result<Moves, Failure> {
    let terms = split_terms(text).map_err(|error| Failure::unreadable(error.to_string()))?;
    Ok(terms.into_iter().peekable())
}

/// Takes the next joint move: a move of each role, or only the move of the role that has a choice.
fn take_joint<P: Notation>(
    position: &P,
    moves: &mut Moves,
    step: usize,
) -> Result<Vec<P::Move>, Failure> {
    if position.is_terminal() {
        return Err(Failure::wrong(format!(
            "step {step}: the game has ended, no move is possible"
        )));
    }
    let roles: Vec<Role> = position.shape().roles().collect();
    let whole: Vec<String> = moves.clone().take(roles.len()).collect();
    let parsed: Option<Vec<P::Move>> = if whole.len() == roles.len() {
        roles.iter().zip(&whole).map(|(&role, text)| position.parse_move(role, text)).collect()
    } else {
        None
    };
    if let Some(joint) = parsed {
        moves.nth(roles.len() - 1);
        return Ok(joint);
    }
    let choosers: Vec<Role> = position.choosers().collect();
    if let ([chooser], Some(text)) = (choosers.as_slice(), moves.peek())
        && let Some(chosen) = position.parse_move(*chooser, text)
    {
        moves.next();
        let fill = |&role: &Role| {
            if role == *chooser { chosen.clone() } else { position.legal_moves(role)[0].clone() }
        };
        return Ok(roles.iter().map(fill).collect());
    }
    let legal = |role: Role| {
        let moves = position.legal_moves(role);
        let some: Vec<String> = moves.iter().take(6).map(|m| position.move_text(m)).collect();
        let more = if moves.len() > 6 { " …" } else { "" };
        format!("  {}: {}{more}", position.shape().role_names[role.index()], some.join(" "))
    };
    let legal: Vec<String> = roles.into_iter().map(legal).collect();
    Err(Failure::wrong(format!(
        "step {step}: `{}` is not a legal joint move; the legal moves are\n{}",
        whole.join(" "),
        legal.join("\n")
    )))
}

/// Prints explanations with places in the rules.
struct View<'a> {
    source: &'a Source,
}

impl View<'_> {
    fn place(&self, span: Span) -> String {
        format!("{}:{}", self.source.name(), self.source.place(span.start()).line)
    }

    fn print(&self, explanation: &Explanation) {
        match explanation {
            Explanation::Holds { proofs, n_ways } => {
                for proof in proofs {
                    say!("{} {}", terminal::bold(&proof.sentence), terminal::green("holds"));
                    self.print_because(&proof.because, "");
                }
                if *n_ways > proofs.len() {
                    say!("… and {} more ways", n_ways - proofs.len());
                }
            }
            Explanation::Fails(failure) => {
                say!("{} {}", terminal::bold(&failure.sentence), terminal::red("does not hold"));
                self.print_failure(failure, "");
            }
        }
    }

    fn print_because(&self, because: &Because, indent: &str) {
        let Because::Rule(_, supports) = because else {
            say!("{indent}└─ {}", terminal::dim(&self.reason(because)));
            return;
        };
        say!("{indent}{}", terminal::dim(&format!("│  {}", self.reason(because))));
        for (i, support) in supports.iter().enumerate() {
            let last = i + 1 == supports.len();
            let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
            match support {
                Support::Holds(proof) => {
                    if let Because::Rule(..) = proof.because {
                        say!("{indent}{branch} {}", proof.sentence);
                        self.print_because(&proof.because, &format!("{indent}{below}"));
                    } else {
                        let reason = terminal::dim(&self.reason(&proof.because));
                        say!("{indent}{branch} {}  {reason}", proof.sentence);
                    }
                }
                Support::DoesNotHold(sentence) => {
                    say!(
                        "{indent}{branch} (not {sentence})  {}",
                        terminal::dim("it does not hold")
                    );
                }
                Support::Different(a, b) => say!("{indent}{branch} (distinct {a} {b})"),
            }
        }
    }

    fn reason(&self, because: &Because) -> String {
        match because {
            Because::State => "in the state".to_owned(),
            Because::Move => "the move made".to_owned(),
            Because::Fact(span) => format!("fact, {}", self.place(*span)),
            Because::Rule(span, _) => format!("rule, {}", self.place(*span)),
            Because::ShownAbove => "shown above".to_owned(),
            Because::TooDeep => "not shown: too deep".to_owned(),
        }
    }

    fn print_failure(&self, failure: &NotHeld, indent: &str) {
        if let Some(remark) = &failure.remark {
            say!("{indent}└─ {remark}");
        }
        for (i, attempt) in failure.attempts.iter().enumerate() {
            let last = i + 1 == failure.attempts.len() && failure.remark.is_none();
            let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
            say!(
                "{indent}{branch} {}",
                terminal::dim(&format!("rule, {}", self.place(attempt.rule)))
            );
            let indent = format!("{indent}{below}");
            for met in &attempt.met {
                say!("{indent}{} {met}", terminal::green("✓"));
            }
            say!(
                "{indent}{} {}  {}",
                terminal::red("✗"),
                attempt.unmet,
                terminal::dim(&self.unmet_place(attempt))
            );
            match &attempt.because {
                Unmet::Same => say!("{indent}  └─ the two are the same"),
                Unmet::Fails(None) => {}
                Unmet::Fails(Some(failure)) => self.print_failure(failure, &format!("{indent}  ")),
                Unmet::Holds(proof) => {
                    say!("{indent}  └─ {} holds", proof.sentence);
                    self.print_because(&proof.because, &format!("{indent}     "));
                }
            }
        }
    }

    fn unmet_place(&self, attempt: &Attempt) -> String {
        format!("line {}", self.source.place(attempt.unmet_span.start()).line)
    }
}
