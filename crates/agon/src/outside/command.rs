//! A program as a player: JSON lines on its standard input and output, as docs/players.md tells.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon_match::{Choice, Lapse, News, Player, View};
use agon_search::Budget;
use serde_json::{Map, Value, json};

use crate::terminal::remark;
use agon_server::Invitation;

/// Longer lines are not read to their end: no move is as long.
const MAX_LINE: u64 = 1 << 20;

/// How long a program may go on after it was told that the match is over.
const GOODBYE: Duration = Duration::from_millis(500);

/// A program that plays.
pub(crate) struct Program {
    invitation: Invitation,
    view: Box<dyn View>,
    child: Child,
    /// To its standard input, through a thread: a program that does not read must not stop us.
    lines_out: Option<Sender<String>>,
    lines_in: Receiver<Result<String, String>>,
    /// Answers that it still owes: an answer that comes too late is not taken for that to the next question.
    owed: usize,
    last: Option<News>,
}

impl Program {
    /// Starts the program. The text says why it could not be.
    pub(crate) fn start(
        words: &[String],
        invitation: Invitation,
        view: Box<dyn View>,
    ) -> Result<Program, String> {
        let [program, arguments @ ..] = words else {
            return Err("the program is missing".to_owned());
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {program}: {error}"))?;
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
            owed: 0,
            last: None,
        })
    }

    fn send(&mut self, message: &Value) -> Result<(), Lapse> {
        let gone = || Lapse::Unreachable("the program has ended".to_owned());
        let lines = self.lines_out.as_ref().ok_or_else(gone)?;
        lines.send(message.to_string()).map_err(|_| gone())
    }

    /// The answer to the last question.
    fn receive(&mut self, budget: &Budget) -> Result<Value, Lapse> {
        loop {
            let line = match budget.deadline {
                Some(deadline) => {
                    self.lines_in.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
                None => self.lines_in.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let line = match line {
                Ok(Ok(line)) => line,
                Ok(Err(why)) => return Err(Lapse::Broken(why)),
                Err(RecvTimeoutError::Timeout) => return Err(Lapse::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(self.why_silent()),
            };
            if line.trim().is_empty() {
                continue;
            }
            self.owed = self.owed.saturating_sub(1);
            if self.owed > 0 {
                continue;
            }
            return serde_json::from_str(&line).map_err(|error| {
                let shown: String = line.chars().take(80).collect();
                Lapse::Broken(format!("`{shown}` is not a JSON line: {error}"))
            });
        }
    }

    fn why_silent(&mut self) -> Lapse {
        // It has closed its output; most often because it has ended, which takes a moment to be known.
        let until = Instant::now() + Duration::from_millis(50);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    return Lapse::Unreachable(format!("the program has ended, {status}"));
                }
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => {
                    return Lapse::Unreachable("the program has closed its output".to_owned());
                }
            }
        }
    }

    /// What was seen of the last step.
    fn tell(&self, news: Option<&News>, message: &mut Map<String, Value>) {
        message.insert("step".to_owned(), json!(news.map_or(0, |news| news.step)));
        if self.invitation.shape.hidden {
            message.insert("own".to_owned(), json!(news.map(|news| &news.own)));
            message.insert("percepts".to_owned(), json!(news.map(|news| &news.seen)));
        } else {
            message.insert("moves".to_owned(), json!(news.map(|news| &news.seen)));
        }
    }
}

impl Player for Program {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        let invitation = &self.invitation;
        let message = json!({
            "type": "start", "id": invitation.id, "role": invitation.role_name(),
            "roles": invitation.shape.role_names, "hidden": invitation.shape.hidden,
            "start_clock": invitation.start_clock, "play_clock": invitation.play_clock,
            "rules": invitation.rules,
        });
        self.send(&message)?;
        self.owed += 1;
        self.receive(budget).map(|_| ())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let mut message = Map::new();
        message.insert("type".to_owned(), json!("play"));
        self.tell(self.last.as_ref(), &mut message);
        if let Some(state) = self.view.state() {
            message.insert("state".to_owned(), json!(state));
        }
        message.insert("legal".to_owned(), json!(self.view.legal_moves()));
        self.send(&Value::Object(message))?;
        self.owed += 1;
        let answer = self.receive(budget)?;
        match answer.get("move").and_then(Value::as_str) {
            Some(text) => Ok(Choice { text: text.to_owned(), thought: None }),
            None => Err(Lapse::Broken(format!("there is no string `move` in `{answer}`"))),
        }
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.last = Some(news.clone());
        self.view.learn(news).map_err(Lapse::Broken)
    }

    fn finish(&mut self, news: Option<&News>) {
        let mut message = Map::new();
        message.insert("type".to_owned(), json!("stop"));
        self.tell(news, &mut message);
        if self.send(&Value::Object(message)).is_err() {
            return;
        }
        // Its input ends after that, so a program that only reads on comes to its end as well.
        self.lines_out = None;
        let until = Instant::now() + GOODBYE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself, which is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line, without its end; `None` at the end, an error where a line is too long or no text.
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
