//! Records in the XML format of Dresden's GameController, for its stylesheets and for programs that
//! read its files.

use std::fmt::Write as _;

use agon_game::kif::list;

use crate::Record;

impl Record {
    /// Returns the match after `n_steps` steps as Dresden's GameController writes it. The goal
    /// values are included only after the last step.
    pub fn dresden_xml(&self, n_steps: usize, role_names: &[String]) -> String {
        let n_steps = n_steps.min(self.moves.len()).min(self.states.len().saturating_sub(1));
        let is_last = n_steps == self.moves.len();
        let mut xml = String::from(
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n\
             <!DOCTYPE match SYSTEM \
             \"http://games.stanford.edu/gamemaster/xml/viewmatch.dtd\">\n<match>\n",
        );
        leaf(&mut xml, "match-id", &self.match_id);
        leaf(&mut xml, "sight-of", "RANDOM");
        leaf(&mut xml, "gdl-version", "1");
        role_names.iter().for_each(|name| leaf(&mut xml, "role", name));
        self.player_names.iter().for_each(|name| leaf(&mut xml, "player", name));
        leaf(&mut xml, "timestamp", &self.start_time.to_string());
        leaf(&mut xml, "startclock", &self.start_clock.to_string());
        if !is_last {
            leaf(&mut xml, "playclock", &self.play_clock.to_string());
        }
        xml.push_str("<history>\n");
        for (number, joint) in self.moves[..n_steps].iter().enumerate() {
            xml.push_str("<step>");
            leaf(&mut xml, "step-number", &(number + 1).to_string());
            joint.iter().for_each(|made| leaf(&mut xml, "move", made));
            xml.push_str("</step>\n");
        }
        xml.push_str("</history>\n");
        if let Some(goals) = self.goal_values.as_ref().filter(|_| is_last) {
            xml.push_str("<scores>");
            goals.iter().for_each(|goal| leaf(&mut xml, "reward", &goal.to_string()));
            xml.push_str("</scores>\n");
        }
        xml.push_str("<state>\n");
        for fluent in &self.states[n_steps] {
            xml.push_str("<fact>");
            term(&mut xml, fluent);
            xml.push_str("</fact>\n");
        }
        xml.push_str("</state>\n</match>\n");
        xml
    }
}

/// Writes an element that contains a text.
fn leaf(xml: &mut String, name: &str, text: &str) {
    let _ = writeln!(xml, "<{name}>{}</{name}>", escaped(text));
}

/// Writes a term: its name, then its arguments, which may be terms. The depth is bounded by the
/// parser of the term.
fn term(xml: &mut String, text: &str) {
    match list(text).filter(|_| text.starts_with('(')) {
        Some(parts) if !parts.is_empty() => {
            let _ = write!(xml, "<prop-f>{}</prop-f>", escaped(&parts[0].to_uppercase()));
            for argument in &parts[1..] {
                xml.push_str("<arg>");
                if argument.starts_with('(') {
                    term(xml, argument);
                } else {
                    xml.push_str(&escaped(&argument.to_uppercase()));
                }
                xml.push_str("</arg>");
            }
        }
        Some(_) | None => {
            let _ = write!(xml, "<prop-f>{}</prop-f>", escaped(&text.to_uppercase()));
        }
    }
}

/// Returns a text in ASCII with the special characters of XML escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // XML cannot contain these, not even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('?'),
            c if c.is_ascii() => escaped.push(c),
            c => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
        }
    }
    escaped
}
