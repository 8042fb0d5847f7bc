//! Concepts that a player takes from a file.

use std::fmt;
use std::path::Path;

use agon_analysis::Analysis;
use agon_analysis::concepts::read_concepts;
use agon_players::PlayerSpec;

/// Why a file of concepts cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConceptsError {
    /// The file cannot be read.
    Unreadable {
        /// The player that asks for it.
        player: String,
        /// The path.
        file: String,
        /// What went wrong.
        reason: String,
    },
    /// A line is not a concept.
    Syntax {
        /// The path.
        file: String,
        /// The number of the line, from 1.
        line: usize,
    },
}

impl fmt::Display for ConceptsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConceptsError::Unreadable { player, file, reason } => {
                write!(f, "{player}: cannot read {file}: {reason}")
            }
            ConceptsError::Syntax { file, line } => write!(
                f,
                "{file}:{line}: this is not a concept; one looks like \
                 (<= (concept (number ?x0) ?x1) (cell ?x0 ?x1) (cell (+ ?x0 1) ?x1))"
            ),
        }
    }
}

impl std::error::Error for ConceptsError {}

/// Reads the concepts that a player takes from a file, if it does.
///
/// # Errors
/// [`ConceptsError`] if the file cannot be used.
pub fn load_concepts(analysis: &Analysis, spec: &PlayerSpec) -> Result<(), ConceptsError> {
    let Some(file) = spec.concepts_file() else { return Ok(()) };
    let text =
        crate::files::read_text(Path::new(file)).map_err(|error| ConceptsError::Unreadable {
            player: spec.text.clone(),
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
    let concepts = read_concepts(&text)
        .map_err(|error| ConceptsError::Syntax { file: file.to_owned(), line: error.line })?;
    analysis.add_concepts(file, concepts);
    Ok(())
}
