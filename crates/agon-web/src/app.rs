//! The state of the server that all requests share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agon_text::Source;

use crate::answer::ApiError;
use crate::config::Config;
use crate::experiments::Experiments;
use crate::library::Library;
use crate::lock;
use crate::matches::{Host, Hosted};
use crate::store::Store;
use crate::tournaments::Tournaments;
use crate::worker::Workers;

/// The state of the server.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) library: Arc<Library>,
    pub(crate) host: Arc<Host>,
    pub(crate) workers: Workers,
    pub(crate) tournaments: Tournaments,
    pub(crate) experiments: Experiments,
    pub(crate) n_analyses: AtomicUsize,
    /// One permit for each picture that may be drawn at a time.
    pub(crate) drawing: tokio::sync::Semaphore,
    /// One permit for each editor that may be connected at a time.
    pub(crate) editors: Arc<tokio::sync::Semaphore>,
    matches: Mutex<BTreeMap<String, Arc<Hosted>>>,
}

impl App {
    /// Opens the store, reads the library and continues stored matches. Returns remarks for the
    /// person who started the server.
    ///
    /// # Errors
    /// A sentence if the store cannot be opened.
    pub(crate) fn new(config: Config) -> Result<(Arc<App>, Vec<String>), String> {
        let store = Arc::new(Store::open(config.store.as_deref())?);
        let (library, mut remarks) =
            Library::new(&config.games, config.models.clone(), config.limits.open_games);
        for (id, name, rules) in store.uploads()? {
            let source = Arc::new(Source::new(name, rules));
            if let Err(error) = library.add_upload(id, source, config.limits.uploads) {
                remarks.push(error.message);
            }
        }
        let library = Arc::new(library);
        let limits = &config.limits;
        let workers = Workers::new(config.worker.clone(), limits.workers, limits.worker_seconds);
        let tournaments = Tournaments::new(config.store.as_deref());
        let experiments = Experiments::new(config.store.as_deref());
        let host = Arc::new(Host {
            library: Arc::clone(&library),
            store: Arc::clone(&store),
            start_program: config.start_program.clone(),
            n_thinking: AtomicUsize::new(0),
        });
        let mut matches = BTreeMap::new();
        for stored in store.matches()? {
            match Hosted::load(&host, stored) {
                Ok(hosted) => {
                    matches.insert(hosted.id.clone(), hosted);
                }
                Err(error) => remarks.push(error),
            }
        }
        let drawing = tokio::sync::Semaphore::new(config.limits.cores);
        let editors = Arc::new(tokio::sync::Semaphore::new(config.limits.editors));
        let app = App {
            config,
            library,
            host,
            workers,
            tournaments,
            experiments,
            n_analyses: AtomicUsize::new(0),
            drawing,
            editors,
            matches: Mutex::new(matches),
        };
        Ok((Arc::new(app), remarks))
    }

    /// Continues the matches that were being played when the server ended. Returns remarks on those
    /// that cannot be continued.
    pub(crate) fn resume(&self) -> Vec<String> {
        let unfinished = self.matches().into_iter().filter(|hosted| hosted.is_running());
        let mut remarks = Vec::new();
        for hosted in unfinished.take(self.config.limits.matches) {
            if let Err(error) = hosted.start() {
                remarks.push(format!("match {} cannot be continued: {}", hosted.id, error.message));
                let _ = hosted.abort();
            }
        }
        remarks
    }

    /// Returns all matches, the newest first.
    pub(crate) fn matches(&self) -> Vec<Arc<Hosted>> {
        let mut all: Vec<Arc<Hosted>> = lock(&self.matches).values().cloned().collect();
        all.sort_by_key(|hosted| std::cmp::Reverse(hosted.created));
        all
    }

    /// Returns a match.
    ///
    /// # Errors
    /// [`ApiError`] if there is none of this id.
    pub(crate) fn find_match(&self, id: &str) -> Result<Arc<Hosted>, ApiError> {
        let found = lock(&self.matches).get(id).cloned();
        found.ok_or_else(|| ApiError::missing(format!("there is no match `{id}`")))
    }

    /// Adds a match to the list.
    pub(crate) fn add_match(&self, hosted: &Arc<Hosted>) {
        lock(&self.matches).insert(hosted.id.clone(), Arc::clone(hosted));
    }

    /// Forgets a match.
    pub(crate) fn remove_match(&self, id: &str) {
        lock(&self.matches).remove(id);
    }

    /// Checks that one more match can be played.
    ///
    /// # Errors
    /// [`ApiError`] if too many are being played.
    pub(crate) fn check_room(&self, is_automatic: bool) -> Result<(), ApiError> {
        let limits = &self.config.limits;
        let running: Vec<Arc<Hosted>> =
            self.matches().into_iter().filter(|hosted| hosted.is_running()).collect();
        if running.len() >= limits.matches {
            return Err(ApiError::busy(format!(
                "{} matches are being played, which is the limit: end one of them",
                running.len()
            )));
        }
        let n_automatic = running.iter().filter(|hosted| hosted.is_automatic()).count();
        if is_automatic && n_automatic >= limits.cores {
            return Err(ApiError::busy(format!(
                "{n_automatic} matches between computers use all {} processors: wait for one of \
                 them or end it",
                limits.cores
            )));
        }
        Ok(())
    }

    /// Returns whether the clocks of matches need all processors, so that analyses must wait.
    pub(crate) fn is_busy(&self) -> bool {
        self.host.n_thinking.load(Ordering::Relaxed) >= self.config.limits.cores
    }
}
