//! Experiments of published papers that run in processes of their own. Each run has a folder with
//! one file of matches for each column of the table.

use std::path::{Path, PathBuf};
use std::process::Command;

use agon::experiment::{ExperimentOptions, ExperimentPlan};
use serde_json::{Value, json};

use crate::answer::ApiError;
use crate::runs::Runs;

/// Runs of experiments in the folder beside the store.
pub(crate) struct Experiments {
    pub(crate) runs: Runs,
}

/// What a run of an experiment was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The name of the experiment.
    pub(crate) name: String,
    /// Whether there are fewer and shorter matches.
    pub(crate) quick: bool,
    /// Iterations for each move, instead of those of the experiment.
    pub(crate) iterations: Option<u64>,
    /// Repetitions, instead of those of the experiment.
    pub(crate) repeats: Option<u64>,
    /// Only games whose names contain this text are played.
    pub(crate) only: Option<String>,
}

impl Run {
    /// Returns the run as JSON.
    pub(crate) fn to_json(&self) -> Value {
        json!({"name": self.name, "quick": self.quick, "iterations": self.iterations,
            "repeats": self.repeats, "only": self.only})
    }

    fn from_json(value: &Value) -> Option<Run> {
        Some(Run {
            name: value["name"].as_str()?.to_owned(),
            quick: value["quick"].as_bool()?,
            iterations: value["iterations"].as_u64(),
            repeats: value["repeats"].as_u64(),
            only: value["only"].as_str().map(str::to_owned),
        })
    }

    /// Returns the plan of the run: its columns and games.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such experiment or no game of it.
    pub(crate) fn plan(&self) -> Result<ExperimentPlan, ApiError> {
        let options = ExperimentOptions {
            quick: self.quick,
            iterations: self.iterations,
            repeats: self.repeats,
            only: self.only.clone(),
            ..ExperimentOptions::default()
        };
        ExperimentPlan::new(&self.name, options).map_err(ApiError::bad)
    }
}

impl Experiments {
    pub(crate) fn new(store: Option<&Path>) -> Experiments {
        Experiments { runs: Runs::new("experiment", "json", store) }
    }

    /// Returns what a run was started with.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such run.
    pub(crate) fn run(&self, id: &str) -> Result<Run, ApiError> {
        let text = std::fs::read_to_string(self.runs.description(id)?).map_err(ApiError::broken)?;
        let broken = || ApiError::broken("the description of the experiment cannot be read");
        serde_json::from_str(&text).ok().as_ref().and_then(Run::from_json).ok_or_else(broken)
    }

    /// Returns all runs, the newest first.
    pub(crate) fn list(&self) -> Vec<(String, Run)> {
        let all = self.runs.list().into_iter();
        all.filter_map(|(id, text)| Some((id, Run::from_json(&serde_json::from_str(&text).ok()?)?)))
            .collect()
    }

    /// Starts a run.
    ///
    /// # Errors
    /// [`ApiError`] if a file cannot be written or the process not started.
    pub(crate) fn start(&self, program: &Path, id: &str, run: &Run) -> Result<(), ApiError> {
        self.runs.write(&format!("{id}.json"), &run.to_json().to_string())?;
        self.resume(program, id)
    }

    /// Starts the process of a run, or continues it.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such run or the process cannot be started.
    pub(crate) fn resume(&self, program: &Path, id: &str) -> Result<(), ApiError> {
        let run = self.run(id)?;
        let mut command = Command::new(program);
        command.arg("experiment").args(["--json", "--quiet", "--jobs", "1", "--store", id]);
        if run.quick {
            command.arg("--quick");
        }
        let numbers = [("--iterations", run.iterations), ("--repeats", run.repeats)];
        for (option, number) in numbers {
            command.args(number.map(|number| format!("{option}={number}")));
        }
        command.args(run.only.map(|only| format!("--only={only}")));
        command.arg("--").arg(&run.name);
        self.runs.start(id, command)
    }

    /// Returns the columns of a run that have been started, with their files of matches.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such run.
    pub(crate) fn columns(&self, id: &str) -> Result<Vec<(String, PathBuf)>, ApiError> {
        let plan = self.run(id)?.plan()?;
        let folder = self.runs.folder()?.join(id);
        let columns = plan.experiment.columns.iter().map(|column| {
            let [store, _] = plan.store_names(column);
            (column.name.clone(), folder.join(format!("{store}.db")))
        });
        Ok(columns.filter(|(_, path)| path.is_file()).collect())
    }

    /// Returns the report of a run that has ended, as `agon experiment --json` prints it.
    pub(crate) fn report(&self, id: &str) -> Option<Value> {
        let path = self.runs.folder().ok()?.join(format!("{id}.out"));
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    }
}
