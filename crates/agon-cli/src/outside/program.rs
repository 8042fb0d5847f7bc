//! A program as a player: JSON lines on its standard input and output. The format is documented in
//! `docs/players.md`.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon_game::Observation;
use agon_match::{Choice, Player, PlayerError, View};
use agon_search::Budget;
use serde_json::{Map, Value, json};

use crate::engine_calls::{EngineCalls, families_json};
use crate::outside::process_group;
use crate::terminal::remark;
use agon_match::Invitation;

/// Maximum length of a line in bytes.
const MAX_LINE: u64 = 1 << 20;

/// How long a program may run after the message that the match is over.
const STOP_TIME: Duration = Duration::from_millis(500);

/// Why a program could not be started.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The specification names no program.
    Missing,
    /// The system cannot run the program.
    NotRun {
        /// The program.
        program: String,
        /// The error of the system.
        error: std::io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Missing => f.write_str("the program is missing"),
            StartError::NotRun { program, error } => write!(f, "cannot run {program}: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A program that plays a role.
pub(crate) struct Program {
    invitation: Invitation,
    view: Box<dyn View>,
    child: Child,
    /// Lines for its standard input. A thread writes them, because a program that does not read
    /// must not block the match.
    lines_out: Option<Sender<String>>,
    lines_in: Receiver<Result<String, String>>,
    /// Number of requests without an answer. A late answer must not be taken for the answer to the
    /// next request.
    n_unanswered: usize,
    last: Option<Observation>,
    /// Answers the calls by which the program looks ahead. State 0 is the position of the match if
    /// nothing is hidden, or else the start.
    calls: EngineCalls,
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// [`StartError`] if there is no program or it cannot be run.
    pub(crate) fn start(
        words: &[String],
        invitation: Invitation,
        view: Box<dyn View>,
        calls: EngineCalls,
    ) -> Result<Program, StartError> {
        let [program, arguments @ ..] = words else {
            return Err(StartError::Missing);
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process_group::spawn(&mut command)
            .map_err(|error| StartError::NotRun { program: program.clone(), error })?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take();
        let (lines_out, to_write) = channel::<String>();
        std::thread::spawn(move || {
            let Some(mut stdin) = stdin else { return };
            for line in to_write {
                if writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        let (found, lines_in) = channel();
        std::thread::spawn(move || {
            let Some(stdout) = stdout else { return };
            let mut reader = BufReader::new(stdout);
            while let Some(line) = next_line(&mut reader) {
                let is_broken = line.is_err();
                if found.send(line).is_err() || is_broken {
                    return;
                }
            }
        });
        let name = invitation.role_name().to_owned();
        std::thread::spawn(move || {
            let Some(stderr) = stderr else { return };
            let mut reader = BufReader::new(stderr);
            while let Some(Ok(line)) = next_line(&mut reader) {
                remark!("[{name}] {line}");
            }
        });
        Ok(Program {
            invitation,
            view,
            child,
            lines_out: Some(lines_out),
            lines_in,
            n_unanswered: 0,
            last: None,
            calls,
        })
    }

    fn send(&mut self, message: &Value) -> Result<(), PlayerError> {
        let gone = || PlayerError::Unreachable("the program has ended".to_owned());
        let lines = self.lines_out.as_ref().ok_or_else(gone)?;
        lines.send(message.to_string()).map_err(|_| gone())
    }

    /// Waits for the answer to the last request.
    fn receive(&mut self, budget: &Budget) -> Result<Value, PlayerError> {
        loop {
            let line = match budget.deadline {
                Some(deadline) => {
                    self.lines_in.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
                None => self.lines_in.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let line = match line {
                Ok(Ok(line)) => line,
                Ok(Err(why)) => return Err(PlayerError::Broken(why)),
                Err(RecvTimeoutError::Timeout) => return Err(PlayerError::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(self.closed_output_error()),
            };
            if line.trim().is_empty() {
                continue;
            }
            let parsed = serde_json::from_str::<Value>(&line);
            if let Ok(call) = &parsed
                && call.get("call").is_some()
            {
                // A call is not the answer to a request. Its own answer is marked as one.
                let mut answer = self.calls.answer(call, budget.deadline);
                answer["type"] = json!("answer");
                self.send(&answer)?;
                continue;
            }
            self.n_unanswered = self.n_unanswered.saturating_sub(1);
            if self.n_unanswered > 0 {
                continue;
            }
            return parsed.map_err(|error| {
                let shown: String = line.chars().take(80).collect();
                PlayerError::Broken(format!("`{shown}` is not a JSON line: {error}"))
            });
        }
    }

    fn closed_output_error(&mut self) -> PlayerError {
        // Most programs close their output by exiting. The exit status is available a moment later.
        let until = Instant::now() + Duration::from_millis(50);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    return PlayerError::Unreachable(format!("the program has ended, {status}"));
                }
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => {
                    return PlayerError::Unreachable(
                        "the program has closed its output".to_owned(),
                    );
                }
            }
        }
    }

    /// Adds the observation of the last step to a message.
    fn add_observation(&self, observation: Option<&Observation>, message: &mut Map<String, Value>) {
        message.insert(
            "step".to_owned(),
            json!(observation.map_or(0, |observation| observation.step)),
        );
        if self.invitation.shape.hidden {
            message
                .insert("own".to_owned(), json!(observation.map(|observation| &observation.own)));
            message.insert(
                "percepts".to_owned(),
                json!(observation.map(|observation| &observation.seen)),
            );
        } else {
            message.insert(
                "moves".to_owned(),
                json!(observation.map(|observation| &observation.seen)),
            );
        }
    }
}

impl Player for Program {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        let invitation = &self.invitation;
        let message = json!({
            "type": "start", "id": invitation.id, "role": invitation.role_name(),
            "roles": invitation.shape.role_names, "hidden": invitation.shape.hidden,
            "start_clock": invitation.start_clock, "play_clock": invitation.play_clock,
            "rules": invitation.rules,
        });
        self.send(&message)?;
        self.n_unanswered += 1;
        self.receive(budget).map(|_| ())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let mut message = Map::new();
        message.insert("type".to_owned(), json!("play"));
        self.add_observation(self.last.as_ref(), &mut message);
        if let Some(state) = self.view.state() {
            message.insert("state".to_owned(), json!(state));
        }
        message.insert("legal".to_owned(), json!(self.view.legal_moves()));
        let families = self.view.families();
        if !families.is_empty() {
            message.insert("families".to_owned(), families_json(&families));
        }
        self.send(&Value::Object(message))?;
        self.n_unanswered += 1;
        let answer = self.receive(budget)?;
        match answer.get("move").and_then(Value::as_str) {
            Some(text) => Ok(Choice { text: text.to_owned(), thought: None }),
            None => Err(PlayerError::Broken(format!("there is no string `move` in `{answer}`"))),
        }
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.last = Some(observation.clone());
        if !self.invitation.shape.hidden {
            self.calls.follow(&observation.seen);
        }
        self.view.learn(observation).map_err(|error| PlayerError::Broken(error.to_string()))
    }

    fn finish(&mut self, observation: Option<&Observation>, payoffs: Option<&[f64]>) {
        let mut message = Map::new();
        message.insert("type".to_owned(), json!("stop"));
        self.add_observation(observation, &mut message);
        let goals = match (payoffs, observation) {
            (Some(payoffs), _) => {
                let names = self.invitation.shape.role_names.iter().cloned();
                names.zip(payoffs.iter().map(|payoff| json!(payoff))).collect::<Map<_, _>>().into()
            }
            // A host over HTTP does not tell them. Where nothing is hidden, they follow from the
            // moves.
            (None, Some(last)) if !self.invitation.shape.hidden => {
                self.calls.follow(&last.seen);
                json!(self.calls.goals_at_the_end())
            }
            (None, _) => Value::Null,
        };
        message.insert("goals".to_owned(), goals);
        if self.send(&Value::Object(message)).is_err() {
            return;
        }
        // Closing the input also ends programs that only read on.
        self.lines_out = None;
        let until = Instant::now() + STOP_TIME;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        process_group::kill(&mut self.child);
    }
}

/// Returns the next line without its line break, or `None` at the end of the output.
///
/// # Errors
/// A text if the line is too long.
fn next_line(reader: &mut impl std::io::BufRead) -> Option<Result<String, String>> {
    let mut bytes = Vec::new();
    match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) if bytes.len() as u64 >= MAX_LINE && bytes.last() != Some(&b'\n') => {
            Some(Err(format!("a line has more than {MAX_LINE} bytes")))
        }
        Ok(_) => Some(Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())),
    }
}
