//! What a player may know of a match, kept for players that do not keep it themselves: people and programs.

use agon_game::{Hidden, Live, Role, Table};

use crate::referee::find;
use crate::{Belief, News};

/// What a role may know of a match. It is made from the rules and hears only the news that the role does.
pub trait View: Send {
    /// Follows a step after which play goes on. The text says why it could not.
    fn learn(&mut self, news: &News) -> Result<(), String>;
    /// The legal moves of the role. Where information is hidden: as far as they follow from what it knows.
    fn legal_moves(&mut self) -> Vec<String>;
    /// A joint move of any spelling as the rules spell it, if it can be made and everybody sees every move.
    fn joint(&mut self, told: &[String]) -> Option<Vec<String>>;
    /// The state as its parts, sorted, where everybody knows it.
    fn state(&self) -> Option<Vec<String>>;
}

/// The view of a role at the start of a match.
pub fn view<P: Hidden + 'static>(start: P, role: Role, seed: u64) -> Box<dyn View> {
    if start.shape().hidden {
        Box::new(HiddenView { belief: Belief::new(start, role, seed) })
    } else {
        Box::new(OpenView { table: Box::new(Live::open(start)), role })
    }
}

struct OpenView {
    table: Box<dyn Table>,
    role: Role,
}

impl View for OpenView {
    fn learn(&mut self, news: &News) -> Result<(), String> {
        let joint: Vec<&str> = news.seen.iter().map(String::as_str).collect();
        self.table.advance(&joint).map_err(|why| why.to_string())
    }

    fn legal_moves(&mut self) -> Vec<String> {
        self.table.legal_moves(self.role)
    }

    fn joint(&mut self, told: &[String]) -> Option<Vec<String>> {
        let roles = self.table.shape().roles();
        let found =
            roles.zip(told).map(|(role, text)| find(&self.table.legal_moves(role), text).cloned());
        let joint: Vec<String> = found.collect::<Option<_>>()?;
        (joint.len() == told.len() && joint.len() == self.table.shape().role_names.len())
            .then_some(joint)
    }

    fn state(&self) -> Option<Vec<String>> {
        Some(self.table.state())
    }
}

struct HiddenView<P: Hidden> {
    belief: Belief<P>,
}

impl<P: Hidden> View for HiddenView<P> {
    fn learn(&mut self, news: &News) -> Result<(), String> {
        self.belief.learn(news);
        Ok(())
    }

    fn legal_moves(&mut self) -> Vec<String> {
        self.belief.legal_moves()
    }

    fn joint(&mut self, _: &[String]) -> Option<Vec<String>> {
        None
    }

    fn state(&self) -> Option<Vec<String>> {
        None
    }
}
