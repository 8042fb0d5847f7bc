//! The library of games: shipped ones, those of folders, and rulesheets that were sent by the page.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use agon::models::ModelStore;
use agon::open::{EngineChoice, Language, MAX_BYTES, OpenOptions, language, source_from};
use agon::shipped::{SHIPPED, header};
use agon::{Game, OpenError};
use agon_board::svg::{SvgOptions, Theme, svg};
use agon_text::Source;
use serde_json::{Value, json};

use crate::answer::ApiError;
use crate::api::{is_continuous, rules_kind};
use crate::diagnostics::findings_json;
use crate::lock;
use crate::store::Store;

/// Maximum number of rulesheets that are read from folders.
const MAX_FILES: usize = 2000;
/// Maximum depth of folders in folders.
const MAX_DEPTH: usize = 4;

/// Where a game comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It is part of Agon.
    Shipped,
    /// It is in a folder that was given when the server was started.
    Folder,
    /// It was sent by a page.
    Upload,
    /// It was sent by an editor while the person types.
    Draft,
}

impl Origin {
    fn word(self) -> &'static str {
        match self {
            Origin::Shipped => "shipped",
            Origin::Folder => "folder",
            Origin::Upload => "upload",
            Origin::Draft => "draft",
        }
    }
}

/// A game of the library.
pub(crate) struct Entry {
    /// The name of the game in addresses.
    pub(crate) id: String,
    pub(crate) origin: Origin,
    pub(crate) source: Arc<Source>,
    /// The path of a rulesheet in a folder. Hints for drawing are looked for beside it.
    path: Option<PathBuf>,
    facts: OnceLock<Facts>,
    /// Pictures of the start position, light and dark.
    pictures: [OnceLock<Arc<str>>; 2],
}

/// What the library shows of a game.
#[derive(Clone, Default)]
struct Facts {
    kind: &'static str,
    roles: Vec<String>,
    n_players: usize,
    has_chance: bool,
    is_hidden: bool,
    is_continuous: bool,
    problem: Option<String>,
}

impl Entry {
    pub(crate) fn new(id: String, origin: Origin, source: Arc<Source>) -> Entry {
        let (facts, pictures) = (OnceLock::new(), [OnceLock::new(), OnceLock::new()]);
        Entry { id, origin, source, path: None, facts, pictures }
    }

    /// Returns the name under which the game is opened: the path of a file, or the id.
    fn open_name(&self) -> String {
        self.path.as_ref().map_or_else(|| self.id.clone(), |path| path.display().to_string())
    }

    /// Returns the title: from the comment at the top of the rules, or the name.
    pub(crate) fn title(&self) -> String {
        let name = || {
            let stem = Path::new(self.source.name()).file_stem().unwrap_or_default();
            stem.to_string_lossy().replace(['-', '_'], " ")
        };
        header(self.source.text(), "title").unwrap_or_else(name)
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| {
            // The interpreter opens a game without grounding it, so a list of hundreds is quick.
            let options =
                OpenOptions { engine: EngineChoice::Interpreter, ..OpenOptions::default() };
            let language = language(&self.source);
            match Game::from_source(Arc::clone(&self.source), &options) {
                Ok(game) => {
                    let shape = game.shape();
                    Facts {
                        kind: rules_kind(&game),
                        roles: shape.role_names.clone(),
                        n_players: shape.players().count(),
                        has_chance: shape.nature.is_some(),
                        is_hidden: game.hides_information(),
                        is_continuous: is_continuous(&game),
                        problem: None,
                    }
                }
                Err(error) => Facts {
                    kind: if language == Language::Toss { "Toss" } else { "GDL" },
                    problem: Some(error.to_string()),
                    ..Facts::default()
                },
            }
        })
    }

    /// Returns the entry as the list of games has it.
    pub(crate) fn to_json(&self) -> Value {
        let facts = self.facts();
        let header = |key| header(self.source.text(), key);
        json!({
            "id": self.id, "name": self.source.name(), "title": self.title(),
            "origin": self.origin.word(), "kind": facts.kind, "roles": facts.roles,
            "players": facts.n_players, "chance": facts.has_chance, "hidden": facts.is_hidden,
            "continuous": facts.is_continuous,
            "summary": header("summary"), "interest": header("interest"),
            "facts": header("facts"), "bytes": self.source.text().len(),
            "problem": facts.problem,
        })
    }
}

/// All games that the server knows.
pub(crate) struct Library {
    entries: Mutex<BTreeMap<String, Arc<Entry>>>,
    /// Rulesheets as they stand in an editor, the one sent last at the end. They are not listed.
    drafts: Mutex<VecDeque<Arc<Entry>>>,
    /// Games that are ready to be played, the one used last at the end.
    open: Mutex<Vec<(String, Game)>>,
    /// One lock for each game that is being opened, so that no game is opened twice at the same
    /// time. Different games are opened side by side.
    opening: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    max_open: usize,
    /// The store of models that players use.
    models: Option<ModelStore>,
}

impl Library {
    /// Collects the shipped games and those of folders. Returns remarks on what cannot be read.
    pub(crate) fn new(
        folders: &[PathBuf],
        models: Option<ModelStore>,
        max_open: usize,
    ) -> (Library, Vec<String>) {
        let mut entries = BTreeMap::new();
        let mut remarks = Vec::new();
        for game in SHIPPED {
            let id = game.name.replace('/', "-");
            let source = Arc::new(Source::new(game.path, game.text));
            entries.insert(id.clone(), Arc::new(Entry::new(id, Origin::Shipped, source)));
        }
        for folder in folders {
            let mut files = Vec::new();
            if let Err(error) = collect(folder, folder, 0, &mut files) {
                remarks.push(format!("cannot read {}: {error}", folder.display()));
            }
            files.sort();
            for (name, path) in files {
                match read(&name, &path) {
                    Ok(source) => {
                        let id = free_id(&entries, &id_of(&name));
                        let mut entry = Entry::new(id.clone(), Origin::Folder, source);
                        entry.path = Some(path);
                        entries.insert(id, Arc::new(entry));
                    }
                    Err(error) => remarks.push(error),
                }
            }
        }
        let library = Library {
            entries: Mutex::new(entries),
            drafts: Mutex::default(),
            open: Mutex::default(),
            opening: Mutex::default(),
            max_open,
            models,
        };
        (library, remarks)
    }

    /// Returns all games, sorted by title.
    pub(crate) fn list(&self) -> Vec<Arc<Entry>> {
        let mut all: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        all.sort_by_key(|entry| entry.title().to_lowercase());
        all
    }

    /// Returns a game by its id.
    ///
    /// # Errors
    /// [`ApiError`] if there is none, with the id that is most similar.
    pub(crate) fn entry(&self, id: &str) -> Result<Arc<Entry>, ApiError> {
        let entries = lock(&self.entries);
        if let Some(entry) = entries.get(id).or_else(|| entries.get(&id.replace('/', "-"))) {
            return Ok(Arc::clone(entry));
        }
        if let Some(draft) = lock(&self.drafts).iter().find(|draft| draft.id == id) {
            return Ok(Arc::clone(draft));
        }
        let names = entries.keys().map(String::as_str);
        let hint = agon_text::did_you_mean(id, names)
            .map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        Err(ApiError::missing(format!("there is no game `{id}`{hint}")))
    }

    /// Adds a rulesheet that was sent by a page. The same text gets the same id.
    ///
    /// # Errors
    /// [`ApiError`] if there are too many.
    pub(crate) fn add_upload(
        &self,
        id: String,
        source: Arc<Source>,
        max_uploads: usize,
    ) -> Result<Arc<Entry>, ApiError> {
        let mut entries = lock(&self.entries);
        if let Some(known) = entries.get(&id) {
            if known.source.text() != source.text() {
                return Err(ApiError::conflict("another rulesheet has the same id"));
            }
            return Ok(Arc::clone(known));
        }
        let n_uploads = entries.values().filter(|entry| entry.origin == Origin::Upload).count();
        if n_uploads >= max_uploads {
            return Err(ApiError::busy(format!(
                "the server keeps at most {max_uploads} rulesheets that were sent to it"
            )));
        }
        let entry = Arc::new(Entry::new(id.clone(), Origin::Upload, source));
        entries.insert(id, Arc::clone(&entry));
        Ok(entry)
    }

    /// Adds a rulesheet as it stands in an editor. Forgets the oldest one if there are too many. A
    /// match of a draft has its own copy of the rules.
    pub(crate) fn add_draft(
        &self,
        id: String,
        source: Arc<Source>,
        max_drafts: usize,
    ) -> Arc<Entry> {
        if let Some(known) = lock(&self.entries).get(&id) {
            return Arc::clone(known);
        }
        let mut drafts = lock(&self.drafts);
        let known = drafts.iter().position(|draft| draft.id == id);
        let draft = known.and_then(|at| drafts.remove(at));
        let draft = draft.unwrap_or_else(|| Arc::new(Entry::new(id, Origin::Draft, source)));
        drafts.push_back(Arc::clone(&draft));
        while drafts.len() > max_drafts.max(1) {
            drafts.pop_front();
        }
        draft
    }

    /// Returns the games that a file calls by a name, which need not be an id: `ticTacToe` is
    /// `tic-tac-toe`, and the rulesheet `ticTacToe.kif` in any folder. The likeliest is the first.
    ///
    /// # Errors
    /// [`ApiError`] if there is none; it may suggest another name.
    pub(crate) fn called(&self, name: &str) -> Result<Vec<Arc<Entry>>, ApiError> {
        let letters = |text: &str| {
            text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
        };
        let wanted = letters(name);
        let rank = |entry: &Entry| {
            let path = Path::new(entry.source.name());
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let names = [name == entry.id, letters(&entry.id) == wanted, letters(&stem) == wanted];
            names.into_iter().position(|is| is)
        };
        let found = self.list().into_iter().filter_map(|entry| Some((rank(&entry)?, entry)));
        let mut found: Vec<(usize, Arc<Entry>)> = found.collect();
        found.sort_by_key(|(rank, _)| *rank);
        if found.is_empty() {
            return self.entry(name).map(|entry| vec![entry]);
        }
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Opens a game for play and search, or returns it if it is open. May take seconds.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such game or its rules have errors.
    pub(crate) fn open(&self, id: &str) -> Result<Game, ApiError> {
        let entry = self.entry(id)?;
        self.open_once(&entry.id, || {
            Ok(self.open_source(&entry.source)?.with_name(&entry.open_name()))
        })
    }

    /// Returns the open game of a key, or opens it. While it is being opened, others who want the
    /// same game wait for it.
    fn open_once(
        &self,
        key: &str,
        open: impl FnOnce() -> Result<Game, ApiError>,
    ) -> Result<Game, ApiError> {
        if let Some(game) = self.find_open(key) {
            return Ok(game);
        }
        let own = Arc::clone(lock(&self.opening).entry(key.to_owned()).or_default());
        let guard = lock(&own);
        let opened = match self.find_open(key) {
            Some(game) => Ok(game),
            None => open().inspect(|game| self.keep_open(key, game)),
        };
        drop(guard);
        lock(&self.opening).remove(key);
        opened
    }

    /// Returns whether no game is being opened.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.opening).is_empty()
    }

    fn keep_open(&self, key: &str, game: &Game) {
        let mut open = lock(&self.open);
        open.push((key.to_owned(), game.clone()));
        if open.len() > self.max_open {
            open.remove(0);
        }
    }

    /// Opens a game from its source.
    fn open_source(&self, source: &Arc<Source>) -> Result<Game, ApiError> {
        let options = OpenOptions { models: self.models.clone(), ..OpenOptions::default() };
        Game::from_source(Arc::clone(source), &options).map_err(refusal)
    }

    /// Opens the game of a match. If the library has other rules by now, the given rules count.
    ///
    /// # Errors
    /// [`ApiError`] if the rules have errors.
    pub(crate) fn open_rules(&self, id: &str, name: &str, rules: &str) -> Result<Game, ApiError> {
        let is_known = |entry: &Arc<Entry>| entry.source.text() == rules;
        if self.entry(id).is_ok_and(|entry| is_known(&entry)) {
            return self.open(id);
        }
        let key = format!("{} {name}", upload_id(rules));
        self.open_once(&key, || {
            let source = Arc::new(Source::new(name, rules));
            Ok(self.open_source(&source)?.with_name(id))
        })
    }

    fn find_open(&self, id: &str) -> Option<Game> {
        let mut open = lock(&self.open);
        let at = open.iter().position(|(other, _)| other == id)?;
        let found = open.remove(at);
        let game = found.1.clone();
        open.push(found);
        Some(game)
    }

    /// Returns a picture of the start position of a game, as SVG. Pictures are kept in the store,
    /// because finding out how to draw a game may take a second.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such game or its rules have errors.
    pub(crate) fn picture(
        &self,
        id: &str,
        theme: Theme,
        store: &Store,
    ) -> Result<Arc<str>, ApiError> {
        let entry = self.entry(id)?;
        let known = &entry.pictures[usize::from(theme == Theme::Dark)];
        if let Some(picture) = known.get() {
            return Ok(Arc::clone(picture));
        }
        let rules = upload_id(entry.source.text());
        let key = format!("{} {theme:?} {rules}", env!("CARGO_PKG_VERSION"));
        if let Some(picture) = store.picture(&key) {
            return Ok(Arc::clone(known.get_or_init(|| Arc::from(picture))));
        }
        // The interpreter opens a game quickly, and a picture of the start needs no more.
        let options = OpenOptions { engine: EngineChoice::Interpreter, ..OpenOptions::default() };
        let game = match self.find_open(&entry.id) {
            Some(game) => game,
            None => Game::from_source(Arc::clone(&entry.source), &options)
                .map_err(refusal)?
                .with_name(&entry.open_name()),
        };
        let scene = game.layout().scene(&game.table().state());
        let options = SvgOptions { theme, transparent: true, ..SvgOptions::default() };
        let picture = svg(&scene, &options);
        // A picture that cannot be kept is drawn again the next time.
        let _ = store.save_picture(&key, &picture);
        Ok(Arc::clone(known.get_or_init(|| Arc::from(picture))))
    }
}

/// Says why rules cannot be opened, with the findings.
fn refusal(error: OpenError) -> ApiError {
    match &error {
        OpenError::Rules { findings, source } => ApiError::bad(format!(
            "{} cannot be played as it stands: {}",
            source.name(),
            findings.first().map_or("the rules have errors", |finding| &finding.message)
        ))
        .with(json!({"findings": findings_json(findings, source)})),
        _ => ApiError::bad(error),
    }
}

/// Returns the id of a rulesheet that was sent by a page. It depends on the text alone.
pub(crate) fn upload_id(rules: &str) -> String {
    // FNV-1a, twice with different bases: ids need not resist an attacker, because a text is only
    // ever replaced by itself.
    let hash = |basis: u64| {
        rules
            .bytes()
            .fold(basis, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    format!("u-{:016x}", hash(0xcbf2_9ce4_8422_2325) ^ hash(0x6c62_272e_07bb_0142).rotate_left(17))
}

/// Collects the rulesheets of a folder as pairs of a name below the folder and a path. Links are
/// not followed, so that nothing outside of the folder is read.
fn collect(
    root: &Path,
    folder: &Path,
    depth: usize,
    files: &mut Vec<(String, PathBuf)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() && depth < MAX_DEPTH {
            collect(root, &path, depth + 1, files)?;
        }
        let ending = path.extension().unwrap_or_default();
        let is_rules = ["kif", "gdl", "toss"].iter().any(|known| ending == *known);
        if kind.is_file() && is_rules && files.len() < MAX_FILES {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.push((name, path));
        }
    }
    Ok(())
}

fn read(name: &str, path: &Path) -> Result<Arc<Source>, String> {
    let fail = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let mut file = std::fs::File::open(path).map_err(|error| fail(&error))?;
    if file.metadata().map_err(|error| fail(&error))?.len() > MAX_BYTES {
        return Err(fail(&"the file is too large"));
    }
    source_from(name, &mut file).map_err(|error| fail(&error))
}

fn id_of(name: &str) -> String {
    let stem = Path::new(name).with_extension("");
    let id: String = stem
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' })
        .collect();
    if id.is_empty() { "unnamed".to_owned() } else { id }
}

fn free_id(entries: &BTreeMap<String, Arc<Entry>>, wanted: &str) -> String {
    let mut id = wanted.to_owned();
    let mut number = 2;
    while entries.contains_key(&id) {
        id = format!("{wanted}-{number}");
        number += 1;
    }
    id
}
