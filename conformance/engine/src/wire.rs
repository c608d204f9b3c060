// SPDX-License-Identifier: GPL-2.0-or-later
//! XOT units (RFC 1613 4.1) and X.25 packets (X.25 clause 5) as octets, modulo 8 and 128.
//!
//! Decoding borrows from the input, allocates nothing, and answers every input with a packet or an
//! error: what arrives may come from a broken or hostile router.

/// Octets of the XOT header: version (2), length (2), both big endian.
pub const XOT_HEADER: usize = 4;

pub const CALL_REQUEST: u8 = 0x0B;
pub const CALL_ACCEPTED: u8 = 0x0F;
pub const CLEAR_REQUEST: u8 = 0x13;
pub const CLEAR_CONFIRMATION: u8 = 0x17;
pub const INTERRUPT: u8 = 0x23;
pub const INTERRUPT_CONFIRMATION: u8 = 0x27;
pub const RESET_REQUEST: u8 = 0x1B;
pub const RESET_CONFIRMATION: u8 = 0x1F;
const RR: u8 = 0x01;
const RNR: u8 = 0x05;
const REJ: u8 = 0x09;

const FACILITY_PACKET_SIZE: u8 = 0x42;
pub const FACILITY_WINDOW_SIZE: u8 = 0x43;

/// Why octets are not a packet; `diagnostic` is the code of X.25 Annex E that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    TooShort,
    BadFormatIdentifier,
    UndefinedType(u8),
    TooLong,
    BadAddress,
    BadFacilities,
}

impl DecodeError {
    pub fn diagnostic(self) -> u8 {
        match self {
            DecodeError::TooShort => 38,
            DecodeError::BadFormatIdentifier => 40,
            DecodeError::UndefinedType(_) => 33,
            DecodeError::TooLong => 39,
            DecodeError::BadAddress => 67,
            DecodeError::BadFacilities => 69,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DecodeError::TooShort => "packet too short",
            DecodeError::BadFormatIdentifier => "invalid general format identifier",
            DecodeError::UndefinedType(_) => "undefined packet type",
            DecodeError::TooLong => "packet too long",
            DecodeError::BadAddress => "invalid address block",
            DecodeError::BadFacilities => "invalid facility field",
        }
    }
}

/// Number of sequence numbers of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Modulo {
    #[default]
    M8,
    M128,
}

impl Modulo {
    pub const fn mask(self) -> u8 {
        match self {
            Modulo::M8 => 7,
            Modulo::M128 => 127,
        }
    }
}

/// An X.121 address of up to 15 digits, without allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Address {
    digits: [u8; 15],
    length: u8,
}

impl Address {
    /// From decimal digits; `None` if there are more than 15 or other characters.
    pub fn parse(text: &str) -> Option<Self> {
        let mut address = Address::default();
        for c in text.bytes() {
            if !c.is_ascii_digit() || address.length == 15 {
                return None;
            }
            address.digits[address.length as usize] = c - b'0';
            address.length += 1;
        }
        Some(address)
    }

    pub fn digits(&self) -> &[u8] {
        &self.digits[..self.length as usize]
    }

    /// The number that the last digits are.
    pub fn tail(&self, digits: usize) -> u64 {
        let from = (self.length as usize).saturating_sub(digits);
        self.digits()[from..].iter().fold(0, |n, d| n * 10 + u64::from(*d))
    }

    /// Replaces the last digits by `value`, counted modulo ten to their number.
    pub fn set_tail(&mut self, digits: usize, mut value: u64) {
        let length = self.length as usize;
        for i in (length.saturating_sub(digits)..length).rev() {
            self.digits[i] = (value % 10) as u8;
            value /= 10;
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.digits().iter().try_for_each(|d| write!(f, "{d:x}"))
    }
}

/// Packet sizes (octets) and windows as the facilities 0x42 and 0x43 carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowParameters {
    /// From the called DTE.
    pub called_size: u16,
    /// From the calling DTE.
    pub calling_size: u16,
    pub called_window: u8,
    pub calling_window: u8,
}

impl Default for FlowParameters {
    /// The standard defaults: 128 octets, window 2 (X.25 6.9, 6.10).
    fn default() -> Self {
        FlowParameters { called_size: 128, calling_size: 128, called_window: 2, calling_window: 2 }
    }
}

/// Call Request/Incoming Call or Call Accepted/Connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallPacket<'a> {
    pub called: Address,
    pub calling: Address,
    /// Facility field without its length octet.
    pub facilities: &'a [u8],
    pub user_data: &'a [u8],
    pub d: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    CallRequest(CallPacket<'a>),
    CallAccepted(CallPacket<'a>),
    ClearRequest { cause: u8, diagnostic: u8 },
    ClearConfirmation,
    Data { q: bool, d: bool, m: bool, p_s: u8, p_r: u8, user_data: &'a [u8] },
    Interrupt(&'a [u8]),
    InterruptConfirmation,
    ReceiveReady { p_r: u8 },
    ReceiveNotReady { p_r: u8 },
    Reject { p_r: u8 },
    ResetRequest { cause: u8, diagnostic: u8 },
    ResetConfirmation,
}

/// What the first two octets say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub modulo: Modulo,
    pub lcn: u16,
}

/// Decodes one X.25 packet (the octets behind an XOT header).
#[inline]
pub fn decode(octets: &[u8]) -> Result<(Head, Packet<'_>), DecodeError> {
    let [first, second, kind, rest @ ..] = octets else {
        return Err(DecodeError::TooShort);
    };
    let modulo = match first >> 4 & 3 {
        1 => Modulo::M8,
        2 => Modulo::M128,
        _ => return Err(DecodeError::BadFormatIdentifier),
    };
    let head = Head { modulo, lcn: u16::from(first & 15) << 8 | u16::from(*second) };
    let (q, d) = (first & 0x80 != 0, first & 0x40 != 0);
    if kind & 1 == 0 {
        let packet = match modulo {
            Modulo::M8 => Packet::Data {
                q,
                d,
                m: kind & 0x10 != 0,
                p_s: kind >> 1 & 7,
                p_r: kind >> 5,
                user_data: rest,
            },
            Modulo::M128 => {
                let (fourth, user_data) = rest.split_first().ok_or(DecodeError::TooShort)?;
                Packet::Data {
                    q,
                    d,
                    m: fourth & 1 != 0,
                    p_s: kind >> 1,
                    p_r: fourth >> 1,
                    user_data,
                }
            }
        };
        return Ok((head, packet));
    }
    let packet = match *kind {
        CALL_REQUEST => Packet::CallRequest(decode_call(rest, q, d, true)?),
        CALL_ACCEPTED => Packet::CallAccepted(decode_call(rest, q, d, false)?),
        CLEAR_REQUEST => {
            let cause = *rest.first().ok_or(DecodeError::TooShort)?;
            Packet::ClearRequest { cause, diagnostic: rest.get(1).copied().unwrap_or(0) }
        }
        CLEAR_CONFIRMATION => Packet::ClearConfirmation,
        INTERRUPT => match rest.len() {
            0 => return Err(DecodeError::TooShort),
            1..=32 => Packet::Interrupt(rest),
            _ => return Err(DecodeError::TooLong),
        },
        INTERRUPT_CONFIRMATION if rest.is_empty() => Packet::InterruptConfirmation,
        RESET_REQUEST => {
            let cause = *rest.first().ok_or(DecodeError::TooShort)?;
            if rest.len() > 2 {
                return Err(DecodeError::TooLong);
            }
            Packet::ResetRequest { cause, diagnostic: rest.get(1).copied().unwrap_or(0) }
        }
        RESET_CONFIRMATION if rest.is_empty() => Packet::ResetConfirmation,
        INTERRUPT_CONFIRMATION | RESET_CONFIRMATION => return Err(DecodeError::TooLong),
        other => decode_flow(other, modulo, rest)?,
    };
    Ok((head, packet))
}

fn decode_flow<'a>(kind: u8, modulo: Modulo, rest: &[u8]) -> Result<Packet<'a>, DecodeError> {
    let (low, p_r, extra) = match modulo {
        Modulo::M8 => (kind & 0x1F, kind >> 5, rest.len()),
        Modulo::M128 => match kind {
            RR | RNR | REJ => {
                let fourth = *rest.first().ok_or(DecodeError::TooShort)?;
                (kind, fourth >> 1, rest.len() - 1)
            }
            _ => return Err(DecodeError::UndefinedType(kind)),
        },
    };
    let packet = match low {
        RR => Packet::ReceiveReady { p_r },
        RNR => Packet::ReceiveNotReady { p_r },
        REJ => Packet::Reject { p_r },
        _ => return Err(DecodeError::UndefinedType(kind)),
    };
    if extra > 0 { Err(DecodeError::TooLong) } else { Ok(packet) }
}

fn decode_call(
    rest: &[u8],
    a_bit: bool,
    d: bool,
    request: bool,
) -> Result<CallPacket<'_>, DecodeError> {
    let mut call = CallPacket { d, ..CallPacket::default() };
    if rest.is_empty() && !request {
        return Ok(call); // Call Accepted may end after octet 3 (X.25 5.2.3)
    }
    let first = *rest.first().ok_or(DecodeError::TooShort)?;
    let (called_length, calling_length, mut at) = if a_bit {
        let second = *rest.get(1).ok_or(DecodeError::TooShort)?;
        (usize::from(first), usize::from(second), 2)
    } else {
        (usize::from(first & 15), usize::from(first >> 4), 1)
    };
    let block = rest
        .get(at..at + (called_length + calling_length).div_ceil(2))
        .ok_or(DecodeError::BadAddress)?;
    at += block.len();
    let nibble = |i: usize| if i.is_multiple_of(2) { block[i / 2] >> 4 } else { block[i / 2] & 15 };
    // TOA/NPI addresses begin with two half-octets that are not digits (X.25 5.2.1).
    let skip = if a_bit { 2 } else { 0 };
    for (address, from, length) in
        [(&mut call.called, 0, called_length), (&mut call.calling, called_length, calling_length)]
    {
        for i in from + skip.min(length)..from + length {
            if address.length == 15 {
                return Err(DecodeError::BadAddress);
            }
            address.digits[address.length as usize] = nibble(i);
            address.length += 1;
        }
    }
    let Some((&facility_length, tail)) = rest.get(at..).unwrap_or_default().split_first() else {
        return if request { Err(DecodeError::TooShort) } else { Ok(call) };
    };
    if tail.len() < usize::from(facility_length) || facility_length > 109 {
        return Err(DecodeError::BadFacilities);
    }
    (call.facilities, call.user_data) = tail.split_at(usize::from(facility_length));
    if call.user_data.len() > 128 {
        return Err(DecodeError::TooLong);
    }
    Ok(call)
}

/// Reads packet size and window size out of a facility field; what is missing stays as it is in
/// `defaults`. Facilities behind a marker are not the local network's and are passed over.
pub fn flow_parameters(
    facilities: &[u8],
    defaults: FlowParameters,
) -> Result<FlowParameters, DecodeError> {
    let mut found = defaults;
    let mut rest = facilities;
    while let [code, tail @ ..] = rest {
        let length = match code >> 6 {
            0 => 1,
            1 => 2,
            2 => 3,
            _ => 1 + usize::from(*tail.first().ok_or(DecodeError::BadFacilities)?),
        };
        let value = tail.get(..length).ok_or(DecodeError::BadFacilities)?;
        match *code {
            0 => break, // a marker: non-X.25 or DTE facilities follow
            FACILITY_PACKET_SIZE => {
                if !value.iter().all(|v| (4..=12).contains(v)) {
                    return Err(DecodeError::BadFacilities);
                }
                (found.called_size, found.calling_size) = (1 << value[0], 1 << value[1]);
            }
            FACILITY_WINDOW_SIZE => {
                if !value.iter().all(|v| (1..=127).contains(v)) {
                    return Err(DecodeError::BadFacilities);
                }
                (found.called_window, found.calling_window) = (value[0], value[1]);
            }
            _ => {}
        }
        rest = &tail[length..];
    }
    Ok(found)
}

fn log2(size: u16) -> u8 {
    size.max(16).ilog2().min(12) as u8
}

/// Writes packets behind their XOT header.
pub struct Writer<'a> {
    pub out: &'a mut Vec<u8>,
    pub modulo: Modulo,
    pub lcn: u16,
}

impl Writer<'_> {
    #[inline]
    fn start(&mut self, length: usize, bits: u8) {
        let gfi = bits | if self.modulo == Modulo::M8 { 0x10 } else { 0x20 };
        self.out.extend_from_slice(&[
            0,
            0,
            (length >> 8) as u8,
            length as u8,
            gfi | (self.lcn >> 8) as u8 & 15,
            self.lcn as u8,
        ]);
    }

    fn plain(&mut self, kind: u8, rest: &[u8]) {
        self.start(3 + rest.len(), 0);
        self.out.push(kind);
        self.out.extend_from_slice(rest);
    }

    fn call_packet(
        &mut self,
        kind: u8,
        called: &Address,
        calling: &Address,
        flow: &FlowParameters,
        user_data: &[u8],
        d: bool,
    ) {
        let digits = called.digits().len() + calling.digits().len();
        let length = 3 + 1 + digits.div_ceil(2) + 1 + 6 + user_data.len();
        self.start(length, if d { 0x40 } else { 0 });
        self.out.push(kind);
        self.out.push((calling.length << 4) | called.length);
        let mut half = None;
        for &digit in called.digits().iter().chain(calling.digits()) {
            match half.take() {
                None => half = Some(digit << 4),
                Some(high) => self.out.push(high | digit),
            }
        }
        self.out.extend(half);
        self.out.extend_from_slice(&[
            6,
            FACILITY_PACKET_SIZE,
            log2(flow.called_size),
            log2(flow.calling_size),
            FACILITY_WINDOW_SIZE,
            flow.called_window,
            flow.calling_window,
        ]);
        self.out.extend_from_slice(user_data);
    }

    pub fn call_request(
        &mut self,
        called: &Address,
        calling: &Address,
        flow: &FlowParameters,
        user_data: &[u8],
        d: bool,
    ) {
        self.call_packet(CALL_REQUEST, called, calling, flow, user_data, d);
    }

    pub fn call_accepted(&mut self, flow: &FlowParameters) {
        let none = Address::default();
        self.call_packet(CALL_ACCEPTED, &none, &none, flow, &[], false);
    }

    /// Header of a Data packet; `length` octets of user data are to follow.
    #[inline]
    pub fn data(&mut self, q: bool, d: bool, m: bool, p_s: u8, p_r: u8, length: usize) {
        let bits = (q as u8) << 7 | (d as u8) << 6;
        match self.modulo {
            Modulo::M8 => {
                self.start(3 + length, bits);
                self.out.push(p_r << 5 | (m as u8) << 4 | p_s << 1);
            }
            Modulo::M128 => {
                self.start(4 + length, bits);
                self.out.extend_from_slice(&[p_s << 1, p_r << 1 | m as u8]);
            }
        }
    }

    fn flow(&mut self, kind: u8, p_r: u8) {
        match self.modulo {
            Modulo::M8 => self.plain(p_r << 5 | kind, &[]),
            Modulo::M128 => self.plain(kind, &[p_r << 1]),
        }
    }

    pub fn receive_ready(&mut self, p_r: u8) {
        self.flow(RR, p_r);
    }

    pub fn receive_not_ready(&mut self, p_r: u8) {
        self.flow(RNR, p_r);
    }

    pub fn interrupt(&mut self, user_data: &[u8]) {
        self.plain(INTERRUPT, user_data);
    }

    pub fn interrupt_confirmation(&mut self) {
        self.plain(INTERRUPT_CONFIRMATION, &[]);
    }

    pub fn reset_request(&mut self, cause: u8, diagnostic: u8) {
        self.plain(RESET_REQUEST, &[cause, diagnostic]);
    }

    pub fn reset_confirmation(&mut self) {
        self.plain(RESET_CONFIRMATION, &[]);
    }

    pub fn clear_request(&mut self, cause: u8, diagnostic: u8) {
        self.plain(CLEAR_REQUEST, &[cause, diagnostic]);
    }

    pub fn clear_confirmation(&mut self) {
        self.plain(CLEAR_CONFIRMATION, &[]);
    }
}

/// One step of cutting a TCP stream into XOT units.
#[derive(Debug, PartialEq, Eq)]
pub enum Unit<'a> {
    /// The packet, and the octets behind it.
    Packet(&'a [u8], &'a [u8]),
    /// More octets are needed.
    Incomplete,
    /// Version not 0 or length out of 3 to 4100 (RFC 1613 4.1: close the connection).
    Broken(&'static str),
}

/// Cuts the next XOT unit off `stream`.
#[inline]
pub fn next_unit(stream: &[u8]) -> Unit<'_> {
    let [v1, v2, l1, l2, rest @ ..] = stream else {
        return Unit::Incomplete;
    };
    if (*v1, *v2) != (0, 0) {
        return Unit::Broken("XOT version is not 0");
    }
    let length = usize::from(*l1) << 8 | usize::from(*l2);
    if length < 3 {
        return Unit::Broken("XOT length below 3");
    }
    if length > 4100 {
        return Unit::Broken("XOT length above 4100");
    }
    match rest.split_at_checked(length) {
        Some((packet, behind)) => Unit::Packet(packet, behind),
        None => Unit::Incomplete,
    }
}
