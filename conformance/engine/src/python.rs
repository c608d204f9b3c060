// SPDX-License-Identifier: GPL-2.0-or-later
//! Python bindings: configurations go in as JSON text, results come out as JSON text. The work is
//! done by threads of the engine; no call here holds the interpreter lock while it waits.

use crate::config;
use crate::flood::Flood;
use crate::gateway::Gateway;
use crate::record::{self, Key};
use crate::relay::Relay;
use crate::run::Run;
use crate::stats::Stats;
use crate::trial::Clock;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Waits at most `seconds` for `done`; in short naps, so that signals reach Python soon.
fn wait(py: Python<'_>, seconds: f64, done: impl Fn() -> bool + Send + Sync) -> PyResult<bool> {
    let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
    loop {
        if done() {
            return Ok(true);
        }
        let now = Instant::now();
        if now >= end {
            return Ok(false);
        }
        py.detach(|| std::thread::sleep((end - now).min(Duration::from_millis(20))));
        py.check_signals()?;
    }
}

macro_rules! side {
    ($name:ident, $start:path, $doc:literal) => {
        #[doc = $doc]
        ///
        /// Takes the configuration as JSON and starts at once. Raises ValueError where the
        /// configuration is wrong or a socket cannot be had.
        #[pyclass]
        struct $name(Run);

        #[pymethods]
        impl $name {
            #[new]
            fn new(configuration: &str) -> PyResult<Self> {
                $start(configuration).map($name).map_err(PyValueError::new_err)
            }

            /// TCP port it listens on (0: it does not listen).
            #[getter]
            fn port(&self) -> u16 {
                self.0.port()
            }

            /// Counters so far as JSON, with `open_circuits`.
            fn snapshot(&self) -> PyResult<String> {
                let (counters, open) = self.0.snapshot();
                let mut value = serde_json::to_value(counters)
                    .map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
                value["open_circuits"] = open.into();
                json(&value)
            }

            /// Lets go of the calls and clears that the called side ignores on purpose.
            fn release(&self) {
                self.0.release();
            }

            /// Set-ups of calls since the last time as JSON, where `sample` is set.
            fn samples(&self) -> PyResult<String> {
                json(&self.0.take_samples())
            }

            /// Asks for an orderly end: no new calls, open calls are cleared.
            fn stop(&self) {
                self.0.stop();
            }

            /// Waits up to `seconds`; whether it has ended.
            fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
                wait(py, seconds, || self.0.is_finished())
            }

            /// Waits for the end and returns the results as JSON. Can be called once.
            fn result(&mut self, py: Python<'_>) -> PyResult<String> {
                let stats = py.detach(|| self.0.join()).map_err(PyRuntimeError::new_err)?;
                json(&stats)
            }
        }
    };
}

side!(Caller, Run::caller, "The calling side of a load run.");
side!(Responder, Run::responder, "The called side: echo, sink or source.");

/// A transparent relay, with faults if the configuration names some.
#[pyclass(name = "Relay")]
struct PyRelay(Relay);

#[pymethods]
impl PyRelay {
    #[new]
    fn new(configuration: &str) -> PyResult<Self> {
        Relay::start(configuration).map(PyRelay).map_err(PyValueError::new_err)
    }

    /// TCP port it listens on.
    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self) {
        self.0.stop();
    }

    /// What the emulated line has carried so far, from A to B and back, as JSON.
    fn carried(&self) -> PyResult<String> {
        json(&self.0.carried())
    }

    /// Stops, and returns what was relayed and which faults were made, as JSON.
    fn result(&mut self, py: Python<'_>) -> PyResult<String> {
        self.0.stop();
        let report = py.detach(|| self.0.join()).map_err(PyRuntimeError::new_err)?;
        json(&report)
    }
}

/// The schedule of a trial whose calling sides are other testers: as long as it lives, called sides
/// of this process find it by the number of the run.
#[pyclass(name = "TrialClock")]
struct PyClock(std::sync::Arc<Clock>);

#[pymethods]
impl PyClock {
    /// Takes the configuration of the calling side as JSON, with `trial_start_ns`.
    #[new]
    fn new(configuration: &str) -> PyResult<Self> {
        let config = config::Caller::parse(configuration).map_err(PyValueError::new_err)?;
        let trial = config.trial.ok_or_else(|| PyValueError::new_err("trial is missing"))?;
        let circuits = config.whole();
        Ok(PyClock(Clock::new(trial, circuits, circuits, config.trial_start_ns, config.run)))
    }

    /// Messages that have arrived at the called sides of this process.
    fn arrived(&self) -> u64 {
        self.0.arrived()
    }

    /// Whether nothing more is to be waited for; elsewhere: messages that arrived at other processes.
    fn is_over(&self, elsewhere: u64) -> bool {
        self.0.is_over(crate::poll::now(), elsewhere)
    }
}

/// Impolite callers: a flood of connections, calls, clears or half-closed connections.
#[pyclass(name = "Flood")]
struct PyFlood(Flood);

#[pymethods]
impl PyFlood {
    #[new]
    fn new(configuration: &str) -> PyResult<Self> {
        Flood::start(configuration).map(PyFlood).map_err(PyValueError::new_err)
    }

    fn stop(&self) {
        self.0.stop();
    }

    /// Stops, lets go of all connections, and returns what was counted as JSON.
    fn result(&mut self, py: Python<'_>) -> PyResult<String> {
        self.0.stop();
        let report = py.detach(|| self.0.join()).map_err(PyRuntimeError::new_err)?;
        json(&report)
    }
}

/// A gateway between a TUN device and virtual calls.
#[pyclass(name = "Gateway")]
struct PyGateway(Gateway);

#[pymethods]
impl PyGateway {
    #[new]
    fn new(configuration: &str) -> PyResult<Self> {
        Gateway::start(configuration).map(PyGateway).map_err(PyValueError::new_err)
    }

    /// TCP port it listens on (0: it does not listen).
    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    /// What was counted so far, with every circuit, as JSON.
    fn snapshot(&self) -> PyResult<String> {
        json(&self.0.snapshot())
    }

    fn stop(&self) {
        self.0.stop();
    }

    /// Clears all circuits, ends, and returns what was counted as JSON.
    fn result(&mut self, py: Python<'_>) -> PyResult<String> {
        self.0.stop();
        let report = py.detach(|| self.0.join()).map_err(PyRuntimeError::new_err)?;
        json(&report)
    }
}

/// Builds a test record of `length` octets.
#[pyfunction]
fn build_record(run: u32, call: u32, sequence: u32, direction: u8, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    record::build(&Key { run, call, sequence, direction }, length, &mut out);
    out
}

/// Checks one whole test record; the verdict in words.
#[pyfunction]
fn check_record(octets: &[u8]) -> String {
    match record::check(octets) {
        record::Verdict::Good(_) => "good".into(),
        record::Verdict::Length { announced, actual, .. } => {
            format!("{actual} octets where the record has {announced}")
        }
        record::Verdict::Corrupt { offset, octets, .. } => {
            format!("{octets} octets differ, the first is octet {offset}")
        }
    }
}

/// Adds up what several testers counted (each as JSON): counters, histograms, findings.
#[pyfunction]
fn merge(py: Python<'_>, results: Vec<String>) -> PyResult<String> {
    let merged = py.detach(|| Stats::merge_all(&results)).map_err(PyValueError::new_err)?;
    json(&merged)
}

#[pymodule]
fn x25shark_engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Caller>()?;
    module.add_class::<Responder>()?;
    module.add_class::<PyRelay>()?;
    module.add_class::<PyFlood>()?;
    module.add_class::<PyClock>()?;
    module.add_function(wrap_pyfunction!(merge, module)?)?;
    module.add_class::<PyGateway>()?;
    module.add_function(wrap_pyfunction!(build_record, module)?)?;
    module.add_function(wrap_pyfunction!(check_record, module)?)?;
    Ok(())
}
