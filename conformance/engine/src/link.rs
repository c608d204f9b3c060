// SPDX-License-Identifier: GPL-2.0-or-later
//! A TCP connection that carries XOT: what could not be sent yet and what is not a whole unit yet.
//!
//! Receiving goes through one large buffer per worker, sending through one scratch vector; a
//! connection keeps octets of its own only while it must, in vectors that keep their capacity.

use crate::poll::Socket;
use std::io;

/// Octets of the receive buffer that all connections of a worker share.
pub const RECEIVE_BUFFER: usize = 256 * 1024;
/// An incomplete unit is shorter than this (header and longest packet).
pub const MAX_UNIT: usize = 4 + 4100;

/// Reads of one connection before all others have their turn.
pub const READS_IN_A_ROW: usize = 4;

/// A peer that lets more than this pile up is given up.
const MAX_WAITING: usize = 8 << 20;

/// How a read ended.
pub enum Received {
    /// This many octets lie in the buffer (an incomplete unit of the last read included);
    /// `more` if the kernel may have more.
    Octets { length: usize, more: bool },
    /// Nothing there now.
    Nothing,
    /// FIN.
    End,
    /// RST or another error.
    Failed(io::Error),
}

#[derive(Debug)]
pub struct Link {
    socket: Socket,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    sent: usize,
    /// Octets received and sent on this connection.
    pub octets_in: u64,
    pub octets_out: u64,
}

impl Link {
    pub fn new(socket: Socket) -> Self {
        Link { socket, inbox: Vec::new(), outbox: Vec::new(), sent: 0, octets_in: 0, octets_out: 0 }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Reads into `buffer`, behind what the last read left over.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Received {
        let kept = self.inbox.len();
        match self.socket.recv(&mut buffer[kept..]) {
            Ok(0) => Received::End,
            Ok(n) => {
                buffer[..kept].copy_from_slice(&self.inbox);
                self.inbox.clear();
                self.octets_in += n as u64;
                Received::Octets { length: kept + n, more: kept + n == buffer.len() }
            }
            Err(e) => match e.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Received::Nothing,
                _ => Received::Failed(e),
            },
        }
    }

    /// Keeps the start of a unit until the rest arrives.
    pub fn keep(&mut self, rest: &[u8]) {
        debug_assert!(rest.len() < MAX_UNIT);
        self.inbox.extend_from_slice(rest);
    }

    /// Sends `octets` behind what is still waiting, and empties them.
    pub fn send(&mut self, octets: &mut Vec<u8>) -> io::Result<()> {
        if !self.outbox.is_empty() {
            self.outbox.extend_from_slice(octets);
            octets.clear();
            if self.outbox.len() > MAX_WAITING {
                return Err(io::Error::other("the peer does not read"));
            }
            return self.flush();
        }
        if octets.is_empty() {
            return Ok(());
        }
        let done = match self.socket.send(octets) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => 0,
            Err(e) => {
                octets.clear();
                return Err(e);
            }
        };
        self.octets_out += done as u64;
        self.outbox.extend_from_slice(&octets[done..]);
        octets.clear();
        Ok(())
    }

    /// Sends what is waiting.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.outbox.len() {
            match self.socket.send(&self.outbox[self.sent..]) {
                Ok(n) => {
                    self.sent += n;
                    self.octets_out += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        self.outbox.clear();
        self.sent = 0;
        if self.outbox.capacity() > 64 * 1024 {
            self.outbox = Vec::new(); // a burst must not cost memory for the rest of a long call
        }
        Ok(())
    }

    pub fn is_blocked(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Octets of memory the connection holds besides its own structure.
    pub fn held(&self) -> usize {
        self.inbox.capacity() + self.outbox.capacity()
    }
}
