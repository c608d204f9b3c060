// SPDX-License-Identifier: GPL-2.0-or-later
//! Threads of a run: start, look at, stop, collect.

use crate::config;
use crate::poll;
use crate::stats::{Counters, Live, Sample, Stats};
use crate::{caller, responder};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

enum Kind {
    Caller(Arc<caller::Shared>),
    Responder(Arc<responder::Shared>),
}

/// A calling or called side at work.
pub struct Run {
    kind: Kind,
    threads: Vec<JoinHandle<Stats>>,
    live: Vec<Arc<Live>>,
}

fn os(e: std::io::Error) -> String {
    format!("cannot start: {e}")
}

fn parse<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|e| format!("configuration: {e}"))
}

impl Run {
    /// Starts the calling side.
    pub fn caller(json: &str) -> Result<Run, String> {
        poll::raise_file_limit();
        let shared = caller::Shared::new(parse::<config::Caller>(json)?)?;
        let mut run =
            Run { kind: Kind::Caller(shared.clone()), threads: Vec::new(), live: Vec::new() };
        for index in 0..shared.config.threads {
            let live = Arc::new(Live::default());
            let caller = caller::Caller::new(shared.clone(), index, live.clone()).map_err(os)?;
            run.spawn(live, "x25-caller", || caller.run())?;
        }
        Ok(run)
    }

    /// Starts the called side; it listens when this returns.
    pub fn responder(json: &str) -> Result<Run, String> {
        poll::raise_file_limit();
        let shared = responder::Shared::new(parse::<config::Responder>(json)?)?;
        let mut run =
            Run { kind: Kind::Responder(shared.clone()), threads: Vec::new(), live: Vec::new() };
        for _ in 0..shared.config.threads {
            let live = Arc::new(Live::default());
            let responder = responder::Responder::new(shared.clone(), live.clone()).map_err(os)?;
            run.spawn(live, "x25-responder", || responder.run())?;
        }
        Ok(run)
    }

    fn spawn(
        &mut self,
        live: Arc<Live>,
        name: &str,
        work: impl FnOnce() -> Stats + Send + 'static,
    ) -> Result<(), String> {
        let thread = std::thread::Builder::new().name(name.into()).spawn(work).map_err(os)?;
        self.threads.push(thread);
        self.live.push(live);
        Ok(())
    }

    /// Port the called side listens on.
    pub fn port(&self) -> u16 {
        match &self.kind {
            Kind::Caller(_) => 0,
            Kind::Responder(shared) => shared.listener.local_port().unwrap_or(0),
        }
    }

    /// Counters so far and open circuits.
    pub fn snapshot(&self) -> (Counters, u64) {
        let mut sum = Counters::default();
        let mut open = 0;
        for live in &self.live {
            let (counters, circuits) = live.read();
            sum.add(&counters);
            open += circuits;
        }
        (sum, open)
    }

    /// Set-ups of calls since the last time, where the configuration asks for samples.
    pub fn take_samples(&self) -> Vec<Sample> {
        self.live.iter().flat_map(|live| live.take_samples()).collect()
    }

    /// The called side lets go of the calls and clears that it ignores on purpose.
    pub fn release(&self) {
        if let Kind::Responder(shared) = &self.kind {
            shared.released.fetch_add(1, Relaxed);
        }
    }

    /// Asks for an orderly end: no new calls, open ones are cleared.
    pub fn stop(&self) {
        match &self.kind {
            Kind::Caller(shared) => shared.stop.store(true, Relaxed),
            Kind::Responder(shared) => shared.stop.store(true, Relaxed),
        }
    }

    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits for the end and merges what the threads counted.
    pub fn join(&mut self) -> Result<Stats, String> {
        let mut merged: Option<Stats> = None;
        for thread in self.threads.drain(..) {
            let stats = thread.join().map_err(|_| "a worker thread died (a defect)".to_owned())?;
            match &mut merged {
                None => merged = Some(stats),
                Some(sum) => sum.merge(&stats),
            }
        }
        merged.ok_or_else(|| "the result was already taken".to_owned())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
