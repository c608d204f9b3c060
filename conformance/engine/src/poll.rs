// SPDX-License-Identifier: GPL-2.0-or-later
//! Sockets, epoll and the clock: the only module that talks to the kernel.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Nanoseconds of CLOCK_MONOTONIC: comparable between all parts of a run on one machine.
#[inline]
pub fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec; CLOCK_MONOTONIC always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// User and system CPU time of the calling thread in nanoseconds.
pub fn thread_cpu() -> (u64, u64) {
    // SAFETY: an all-zero rusage is valid, and getrusage fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn sockaddr(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

const ADDRESS_LENGTH: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

fn set_option(fd: RawFd, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
    set_value(fd, level, option, 1)
}

fn set_value(
    fd: RawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the value is one int that lives through the call.
    checked(unsafe {
        libc::setsockopt(
            fd,
            level,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// A non-blocking TCP socket.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    fn new() -> io::Result<Self> {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: plain system call; the descriptor is owned from here on.
        let fd = checked(unsafe { libc::socket(libc::AF_INET, kind, 0) })?;
        // SAFETY: `fd` was just opened and belongs to nobody else.
        let socket = Socket(unsafe { OwnedFd::from_raw_fd(fd) });
        set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
        Ok(socket)
    }

    /// Starts a connection; it may already be usable when this returns.
    pub fn connect(to: SocketAddrV4, from: Option<SocketAddrV4>) -> io::Result<Self> {
        Socket::new()?.connected(to, from)
    }

    /// The same with a largest segment and buffers of so many octets (0: as the kernel says).
    pub fn connect_with(
        to: SocketAddrV4,
        from: Option<SocketAddrV4>,
        mss: u16,
        buffers: u32,
    ) -> io::Result<Self> {
        let socket = Socket::new()?;
        socket.set_tcp(mss, buffers)?;
        socket.connected(to, from)
    }

    /// Largest segment and buffers (0: as the kernel says), before connecting or listening.
    pub fn set_tcp(&self, mss: u16, buffers: u32) -> io::Result<()> {
        if mss > 0 {
            self.set_mss(mss)?;
        }
        if buffers > 0 {
            self.set_buffers(buffers)?;
        }
        Ok(())
    }

    /// Largest TCP segment that the SYN announces and that is sent. Accepted sockets inherit it.
    pub fn set_mss(&self, mss: u16) -> io::Result<()> {
        set_value(self.fd(), libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss.into())
    }

    fn connected(self, to: SocketAddrV4, from: Option<SocketAddrV4>) -> io::Result<Self> {
        let socket = self;
        if let Some(from) = from {
            // The port is chosen at connect, so that every destination has all ports for itself.
            set_option(socket.fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT)?;
            let address = sockaddr(from);
            // SAFETY: the address lives through the call and has the length given.
            checked(unsafe {
                libc::bind(socket.fd(), (&raw const address).cast(), ADDRESS_LENGTH)
            })?;
        }
        let address = sockaddr(to);
        // SAFETY: as above.
        let result =
            unsafe { libc::connect(socket.fd(), (&raw const address).cast(), ADDRESS_LENGTH) };
        match checked(result) {
            Ok(_) => Ok(socket),
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(socket),
            Err(e) => Err(e),
        }
    }

    /// Listens, or says why not and what to do.
    pub fn listen_or_say(at: SocketAddrV4, shared: bool) -> Result<Self, String> {
        Self::listen(at, shared).map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::EADDRINUSE) => {
                    "another program listens there (ss -ltnp names it)".into()
                }
                Some(libc::EADDRNOTAVAIL) => "this machine does not have that address".into(),
                Some(libc::EACCES) => "ports below 1024 need root".into(),
                _ => error.to_string(),
            };
            format!("cannot listen on {at}: {hint}")
        })
    }

    /// Listens; accepted sockets inherit TCP_NODELAY. shared: together with other processes, each
    /// of which gets its share of the connections.
    pub fn listen(at: SocketAddrV4, shared: bool) -> io::Result<Self> {
        let socket = Socket::new()?;
        set_option(socket.fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR)?;
        if shared {
            set_option(socket.fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT)?;
        }
        let address = sockaddr(at);
        // SAFETY: the address lives through the call and has the length given.
        checked(unsafe { libc::bind(socket.fd(), (&raw const address).cast(), ADDRESS_LENGTH) })?;
        // SAFETY: plain system call.
        checked(unsafe { libc::listen(socket.fd(), 65_535) })?;
        Ok(socket)
    }

    /// The next waiting connection, if there is one.
    pub fn accept(&self) -> io::Result<Option<Socket>> {
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no address is asked for.
        let fd =
            unsafe { libc::accept4(self.fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags) };
        match checked(fd) {
            // SAFETY: `fd` was just opened and belongs to nobody else.
            Ok(fd) => Ok(Some(Socket(unsafe { OwnedFd::from_raw_fd(fd) }))),
            Err(e) => match e.raw_os_error() {
                Some(libc::EAGAIN | libc::ECONNABORTED | libc::EINTR) => Ok(None),
                _ => Err(e),
            },
        }
    }

    pub fn local_port(&self) -> io::Result<u16> {
        let mut address = sockaddr(SocketAddrV4::new(0.into(), 0));
        let mut length = ADDRESS_LENGTH;
        // SAFETY: address and length are valid for writing.
        checked(unsafe {
            libc::getsockname(self.fd(), (&raw mut address).cast(), &raw mut length)
        })?;
        Ok(u16::from_be(address.sin_port))
    }

    /// Octets of the send and the receive buffer; the kernel doubles and bounds them.
    pub fn set_buffers(&self, octets: u32) -> io::Result<()> {
        let value = libc::c_int::try_from(octets).unwrap_or(libc::c_int::MAX);
        set_value(self.fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, value)?;
        set_value(self.fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, value)
    }

    /// Segments sent again, and the largest segment that may be sent, by TCP_INFO.
    pub fn tcp_info(&self) -> Option<(u64, u64)> {
        // SAFETY: an all-zero tcp_info is valid; the kernel writes at most the length given.
        unsafe {
            let mut info: libc::tcp_info = std::mem::zeroed();
            let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
            let done = libc::getsockopt(
                self.fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            );
            (done == 0).then(|| (info.tcpi_total_retrans.into(), info.tcpi_snd_mss.into()))
        }
    }

    /// The error of a failed connection attempt.
    pub fn take_error(&self) -> io::Error {
        let mut error: libc::c_int = 0;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: value and length are valid for writing.
        unsafe {
            libc::getsockopt(
                self.fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut length,
            )
        };
        io::Error::from_raw_os_error(error)
    }

    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the buffer is valid for writing its length.
        let n = unsafe { libc::recv(self.fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if n < 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
    }

    pub fn send(&self, octets: &[u8]) -> io::Result<usize> {
        // SAFETY: the octets are valid for reading. MSG_NOSIGNAL: a closed peer is an error, not a
        // signal that ends the process.
        let n = unsafe {
            libc::send(self.fd(), octets.as_ptr().cast(), octets.len(), libc::MSG_NOSIGNAL)
        };
        if n < 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
    }

    /// Sends FIN and keeps receiving.
    pub fn shutdown_send(&self) {
        // SAFETY: plain system call; an error only says that the peer was faster.
        unsafe { libc::shutdown(self.fd(), libc::SHUT_WR) };
    }

    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A TUN device without packet information: a datagram a read, a datagram a write.
#[derive(Debug)]
pub struct Tun(OwnedFd);

impl Tun {
    /// A non-blocking copy of a descriptor that somebody else keeps.
    pub fn copy(fd: RawFd) -> io::Result<Tun> {
        // SAFETY: a wrong descriptor is an error (EBADF); the copy belongs to nobody else.
        let copy = unsafe {
            let copy = checked(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3))?;
            OwnedFd::from_raw_fd(copy)
        };
        // SAFETY: plain system calls on a descriptor that is open.
        unsafe {
            let flags = checked(libc::fcntl(copy.as_raw_fd(), libc::F_GETFL))?;
            checked(libc::fcntl(copy.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK))?;
        }
        Ok(Tun(copy))
    }

    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the buffer is valid for writing its length.
        let n = unsafe { libc::read(self.fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        if n <= 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
    }

    pub fn write(&self, datagram: &[u8]) -> io::Result<usize> {
        // SAFETY: the datagram is valid for reading.
        let n = unsafe { libc::write(self.fd(), datagram.as_ptr().cast(), datagram.len()) };
        if n < 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
    }

    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// What happened to a descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    pub failed: bool,
}

pub struct Poller {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    ready: usize,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call; the descriptor is owned from here on.
        let fd = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Poller {
            // SAFETY: just opened.
            epoll: unsafe { OwnedFd::from_raw_fd(fd) },
            events: vec![libc::epoll_event { events: 0, u64: 0 }; 512],
            ready: 0,
        })
    }

    fn add(&self, fd: RawFd, token: u64, events: libc::c_int) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: the event lives through the call.
        checked(unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event)
        })?;
        Ok(())
    }

    /// Edge-triggered, both ways: one registration for the life of a connection.
    pub fn add_stream(&self, socket: &Socket, token: u64) -> io::Result<()> {
        self.add(socket.fd(), token, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLET)
    }

    /// Level-triggered, and waking one of several workers.
    pub fn add_listener(&self, socket: &Socket, token: u64) -> io::Result<()> {
        self.add(socket.fd(), token, libc::EPOLLIN | libc::EPOLLEXCLUSIVE)
    }

    /// Level-triggered, for reading.
    pub fn add_level(&self, fd: RawFd, token: u64) -> io::Result<()> {
        self.add(fd, token, libc::EPOLLIN)
    }

    /// Waits at most `nanoseconds`; returns the number of events, to be read with [`Poller::get`].
    pub fn wait(&mut self, nanoseconds: u64) -> io::Result<usize> {
        let timeout = libc::timespec {
            tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanoseconds % 1_000_000_000) as _,
        };
        // epoll_pwait2 takes nanoseconds; epoll_wait would round schedules to milliseconds.
        // SAFETY: the event array has the length given, the timeout lives through the call.
        let mut n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                8usize,
            )
        };
        if n < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
            let milliseconds = nanoseconds.div_ceil(1_000_000).min(60_000) as libc::c_int;
            // SAFETY: as above. Kernels before 5.11.
            n = i64::from(unsafe {
                libc::epoll_wait(
                    self.epoll.as_raw_fd(),
                    self.events.as_mut_ptr(),
                    self.events.len() as libc::c_int,
                    milliseconds,
                )
            });
        }
        if n < 0 {
            let e = io::Error::last_os_error();
            self.ready = 0;
            return if e.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(e) };
        }
        self.ready = n as usize;
        Ok(self.ready)
    }

    pub fn get(&self, index: usize) -> Ready {
        let event = self.events[..self.ready][index];
        let has = |bits: libc::c_int| event.events & bits as u32 != 0;
        Ready {
            token: event.u64,
            readable: has(libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLRDHUP),
            writable: has(libc::EPOLLOUT),
            failed: has(libc::EPOLLERR),
        }
    }
}

/// Short name of an I/O error for counting by kind.
pub fn error_name(e: &io::Error) -> &'static str {
    match e.raw_os_error() {
        Some(libc::ECONNREFUSED) => "connection refused",
        Some(libc::ECONNRESET) => "connection reset",
        Some(libc::EPIPE) => "broken pipe",
        Some(libc::ETIMEDOUT) => "TCP timeout",
        Some(libc::EHOSTUNREACH) => "host unreachable",
        Some(libc::ENETUNREACH) => "network unreachable",
        Some(libc::EADDRNOTAVAIL) => "no free local port",
        Some(libc::EADDRINUSE) => "address in use",
        Some(libc::EMFILE | libc::ENFILE) => "no free file descriptor",
        Some(libc::ENOBUFS | libc::ENOMEM) => "no memory for a socket",
        _ => "other socket error",
    }
}

/// Whether the error means that sockets have run out (the caller then waits a while).
pub fn is_exhaustion(e: &io::Error) -> bool {
    matches!(
        e.raw_os_error(),
        Some(
            libc::EMFILE
                | libc::ENFILE
                | libc::ENOBUFS
                | libc::ENOMEM
                | libc::EADDRNOTAVAIL
                | libc::EADDRINUSE
        )
    )
}

/// Raises the limit of open files as far as it goes; returns the limit.
pub fn raise_file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid; failure leaves the limit as it was.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let all = libc::rlimit { rlim_cur: 1 << 20, rlim_max: (1 << 20).max(limit.rlim_max) };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const all) != 0 {
            let mine = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const mine);
        }
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
    }
    limit.rlim_cur
}
