// SPDX-License-Identifier: GPL-2.0-or-later
//! The test record: what a load run sends as user data, so that every octet can be verified and
//! a strange record can be named.
//!
//! Header, big endian, 24 octets: magic "X25T" (4), run (4), call (4), sequence (4), direction (1),
//! length of the whole record (3), CRC-32C of the whole record with this field zero (4). Then the
//! filler: 64-bit words, little endian, word i (from 1) = mix(seed + i * GAMMA), where `mix` is the
//! finaliser of SplitMix64 and seed = mix((run<<32 | call) XOR mix((direction<<32 | sequence) + 1)).
//!
//! A record of 16 to 23 octets has a header of 16: in the first octet 1010, the direction (1 bit) and
//! the octets that follow the header (3 bits), then sequence modulo 2^24 (3), run (4), call (4), CRC
//! (4). Its sequence is the one nearest to what is due, and the CRC and the filler are made as above.
//!
//! The filler never repeats between calls or messages, and `mix` can be undone: from any aligned
//! eight octets of filler one can tell which record they belong to ([`identify`]).

use serde::Serialize;

/// Octets of the record header, but of those that are shorter.
pub const HEADER: usize = 24;
/// Octets of the shortest record, and of the header of those below [`HEADER`].
pub const SHORTEST: usize = 16;
/// Octets of the CRC, the last of the header.
const CRC: usize = 4;
/// Longest record: the length field has three octets.
pub const MAX_LENGTH: usize = 0xFF_FFFF;
const MAGIC: [u8; 4] = *b"X25T";
/// The upper four bits of the first octet of a short record.
const SHORT: u8 = 0xA0;
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
const M1: u64 = 0xBF58_476D_1CE4_E5B9;
const M2: u64 = 0x94D0_49BB_1331_11EB;
// Multiplicative inverses of M1 and M2 modulo 2^64.
const M1_INVERSE: u64 = inverse(M1);
const M2_INVERSE: u64 = inverse(M2);

const fn inverse(a: u64) -> u64 {
    // Newton's iteration doubles the number of right bits each time; an odd a is right in 3 bits.
    let mut x = a;
    let mut i = 0;
    while i < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(a.wrapping_mul(x)));
        i += 1;
    }
    x
}

/// The finaliser of SplitMix64.
#[inline(always)]
pub const fn mix(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(M1);
    z ^= z >> 27;
    z = z.wrapping_mul(M2);
    z ^ (z >> 31)
}

/// The inverse of [`mix`].
pub const fn unmix(mut z: u64) -> u64 {
    z = z ^ (z >> 31) ^ (z >> 62);
    z = z.wrapping_mul(M2_INVERSE);
    z = z ^ (z >> 27) ^ (z >> 54);
    z = z.wrapping_mul(M1_INVERSE);
    z ^ (z >> 30) ^ (z >> 60)
}

/// Which record this is: everything in the header but the length and the CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Default)]
pub struct Key {
    pub run: u32,
    pub call: u32,
    pub sequence: u32,
    /// 0 = from A (calling) to B, 1 = from B to A.
    pub direction: u8,
}

impl Key {
    /// Start value of the filler.
    pub const fn seed(&self) -> u64 {
        let inner = mix((((self.direction as u64) << 32) | self.sequence as u64).wrapping_add(1));
        mix((((self.run as u64) << 32) | self.call as u64) ^ inner)
    }
}

#[inline(always)]
fn fill_body(seed: u64, words: &mut [u8]) {
    let mut z = seed;
    for chunk in words.as_chunks_mut::<8>().0 {
        z = z.wrapping_add(GAMMA);
        *chunk = mix(z).to_le_bytes();
    }
}

#[inline(always)]
fn equal_body(seed: u64, words: &[u8]) -> bool {
    let mut z = seed;
    let mut difference = 0u64;
    for chunk in words.as_chunks::<8>().0 {
        z = z.wrapping_add(GAMMA);
        difference |= mix(z) ^ u64::from_le_bytes(*chunk);
    }
    difference == 0
}

// The same loops for each instruction set: the compiler turns them into vector code. The 64-bit
// product is what costs, and AVX-512DQ has it as one instruction.
#[cfg(target_arch = "x86_64")]
mod vector {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub fn fill_avx512(seed: u64, words: &mut [u8]) {
        super::fill_body(seed, words);
    }
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub fn equal_avx512(seed: u64, words: &[u8]) -> bool {
        super::equal_body(seed, words)
    }
    #[target_feature(enable = "avx2")]
    pub fn fill_avx2(seed: u64, words: &mut [u8]) {
        super::fill_body(seed, words);
    }
    #[target_feature(enable = "avx2")]
    pub fn equal_avx2(seed: u64, words: &[u8]) -> bool {
        super::equal_body(seed, words)
    }
    pub fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")
    }
    pub fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2")
    }
}

fn fill_words(seed: u64, words: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        if vector::has_avx512() {
            // SAFETY: the processor has the instructions, as just asked.
            return unsafe { vector::fill_avx512(seed, words) };
        }
        if vector::has_avx2() {
            // SAFETY: as above.
            return unsafe { vector::fill_avx2(seed, words) };
        }
    }
    fill_body(seed, words);
}

fn equal_words(seed: u64, words: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        if vector::has_avx512() {
            // SAFETY: the processor has the instructions, as just asked.
            return unsafe { vector::equal_avx512(seed, words) };
        }
        if vector::has_avx2() {
            // SAFETY: as above.
            return unsafe { vector::equal_avx2(seed, words) };
        }
    }
    equal_body(seed, words)
}

/// The filler word that holds octet `offset` of the filler.
#[inline]
fn word_at(seed: u64, offset: usize) -> [u8; 8] {
    mix(seed.wrapping_add((offset as u64 / 8 + 1).wrapping_mul(GAMMA))).to_le_bytes()
}

fn advance(seed: u64, offset: usize) -> u64 {
    seed.wrapping_add((offset as u64 / 8).wrapping_mul(GAMMA))
}

/// Writes filler octets from `offset` (counted from the first filler octet) into `out`.
pub fn fill(seed: u64, mut offset: usize, mut out: &mut [u8]) {
    while !offset.is_multiple_of(8) && !out.is_empty() {
        out[0] = word_at(seed, offset)[offset % 8];
        offset += 1;
        out = &mut out[1..];
    }
    let whole = out.len() & !7;
    let (words, rest) = out.split_at_mut(whole);
    fill_words(advance(seed, offset), words);
    let last = word_at(seed, offset + whole);
    rest.copy_from_slice(&last[..rest.len()]);
}

/// Whether `octets` are the filler from `offset` on.
pub fn is_filler(seed: u64, mut offset: usize, mut octets: &[u8]) -> bool {
    while !offset.is_multiple_of(8) && !octets.is_empty() {
        if octets[0] != word_at(seed, offset)[offset % 8] {
            return false;
        }
        offset += 1;
        octets = &octets[1..];
    }
    let whole = octets.len() & !7;
    let (words, rest) = octets.split_at(whole);
    equal_words(advance(seed, offset), words)
        && *rest == word_at(seed, offset + whole)[..rest.len()]
}

/// Builds a whole record of `length` octets into `out` (emptied first).
///
/// `length` is raised to [`SHORTEST`] and cut at [`MAX_LENGTH`].
pub fn build(key: &Key, length: usize, out: &mut Vec<u8>) {
    out.clear();
    out.resize(length.clamp(SHORTEST, MAX_LENGTH), 0);
    write(key, out);
}

/// Writes the record that has the length of `out`.
fn write(key: &Key, out: &mut [u8]) {
    let size = header_size(out.len());
    let header = header(key, out.len());
    out[..size].copy_from_slice(&header[..size]);
    fill(key.seed(), 0, &mut out[size..]);
    let crc = crc32c::crc32c(out);
    out[size - CRC..size].copy_from_slice(&crc.to_be_bytes());
}

/// Octets of the header of a record of this length.
const fn header_size(length: usize) -> usize {
    if length < HEADER { SHORTEST } else { HEADER }
}

/// The header with a CRC of zero; a short one is in front.
fn header(key: &Key, length: usize) -> [u8; HEADER] {
    let mut h = [0u8; HEADER];
    h[4..8].copy_from_slice(&key.run.to_be_bytes());
    h[8..12].copy_from_slice(&key.call.to_be_bytes());
    if length < HEADER {
        h[0..4].copy_from_slice(&key.sequence.to_be_bytes());
        h[0] = SHORT | ((key.direction & 1) << 3) | (length - SHORTEST) as u8;
        return h;
    }
    h[0..4].copy_from_slice(&MAGIC);
    h[12..16].copy_from_slice(&key.sequence.to_be_bytes());
    h[16] = key.direction;
    h[17..20].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
    h
}

fn be32(octets: &[u8]) -> u32 {
    u32::from_be_bytes([octets[0], octets[1], octets[2], octets[3]])
}

/// Names the record that filler octets found in a wrong place belong to.
///
/// `octets` begin at filler offset `offset`. The place may be the same or another one in the
/// foreign record, whose run must be `run`; sequences below 4096 are searched. Work is bounded.
pub fn identify(run: u32, offset: usize, octets: &[u8]) -> Option<Key> {
    let skip = (8 - offset % 8) % 8;
    let (words, _) = octets.get(skip..)?.as_chunks::<8>();
    let first_place = (offset + skip) / 8;
    for (place, pair) in (first_place..).zip(words.windows(2).take(64)) {
        let first = unmix(u64::from_le_bytes(pair[0]));
        let second = unmix(u64::from_le_bytes(pair[1]));
        // Two neighbours of one filler stream are GAMMA apart: anything else is not filler.
        if second.wrapping_sub(first) == GAMMA {
            for index in std::iter::once(place).chain((0..512).filter(|i| *i != place)) {
                let seed = first.wrapping_sub((index as u64 + 1).wrapping_mul(GAMMA));
                let outer = unmix(seed);
                for direction in 0..2u8 {
                    for sequence in 0..(if index == place { 4096 } else { 64 }) {
                        let inner = mix((((direction as u64) << 32) | sequence as u64) + 1);
                        let id = outer ^ inner;
                        if (id >> 32) as u32 == run {
                            return Some(Key { run, call: id as u32, sequence, direction });
                        }
                    }
                }
            }
            return None;
        }
    }
    None
}

/// What a finished record turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every octet is right: the header may be trusted.
    Good(Key),
    /// The sequence ended before (or after) the length its header gives, so far without a flaw.
    Length { key: Key, announced: usize, actual: usize },
    /// Octets differ: the first at `offset` (from the start of the record), `octets` in all as far
    /// as can be told (at least 1); `foreign` names the record the octets come from.
    Corrupt { offset: usize, octets: usize, foreign: Option<Key> },
}

/// Verifies one record while it arrives in pieces of any size; keeps no copy of it.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    header: [u8; HEADER],
    seen: usize,
    crc: u32,
    seed: u64,
    wrong: usize,
    first_wrong: usize,
    foreign: Option<Key>,
}

impl Checker {
    /// Forgets everything: the next octet is the first of a record.
    pub fn restart(&mut self) {
        *self = Checker::default();
    }

    /// Whether octets of an unfinished record were seen.
    pub fn is_partial(&self) -> bool {
        self.seen > 0
    }

    fn key(&self) -> Key {
        Key {
            run: be32(&self.header[4..8]),
            call: be32(&self.header[8..12]),
            sequence: be32(&self.header[12..16]),
            direction: self.header[16],
        }
    }

    /// Number of the call by the header of the record under way, if that has come.
    pub fn call(&self) -> Option<u32> {
        (self.seen >= HEADER && self.header[..4] == MAGIC).then(|| self.key().call)
    }

    /// Takes the next octets. `expected` is the record that should be here, if the caller knows:
    /// it is what a damaged header is compared with.
    pub fn push(&mut self, mut octets: &[u8], expected: Option<&Key>, run: u32) {
        if self.seen < HEADER {
            let take = octets.len().min(HEADER - self.seen);
            self.header[self.seen..self.seen + take].copy_from_slice(&octets[..take]);
            self.seen += take;
            octets = &octets[take..];
            if self.seen < HEADER {
                return;
            }
            let mut zeroed = self.header;
            zeroed[20..24].fill(0);
            self.crc = crc32c::crc32c(&zeroed);
            // The filler follows the header's key if its magic is right (a record of another call
            // is then recognised as whole), else the key that was due.
            let own = self.key();
            self.seed = match expected {
                Some(key) if self.header[..4] != MAGIC => key.seed(),
                _ => own.seed(),
            };
        }
        if octets.is_empty() {
            return;
        }
        let offset = self.seen - HEADER;
        self.crc = crc32c::crc32c_append(self.crc, octets);
        self.seen += octets.len();
        if !is_filler(self.seed, offset, octets) {
            self.differ(offset, octets, expected, run);
        }
    }

    #[cold]
    fn differ(&mut self, offset: usize, octets: &[u8], expected: Option<&Key>, run: u32) {
        // A damaged key in the header makes all of the filler look wrong: try the expected one.
        if let Some(key) = expected
            && key.seed() != self.seed
            && is_filler(key.seed(), offset, octets)
        {
            self.seed = key.seed();
            return;
        }
        let mut right = vec![0u8; octets.len()];
        fill(self.seed, offset, &mut right);
        for (i, (a, b)) in octets.iter().zip(&right).enumerate() {
            if a != b {
                if self.wrong == 0 {
                    self.first_wrong = HEADER + offset + i;
                }
                self.wrong += 1;
            }
        }
        if self.foreign.is_none() {
            let first = octets.iter().zip(&right).position(|(a, b)| a != b).unwrap_or(0);
            let seed = self.seed;
            // Undamaged words behind the damage name the record itself: not foreign.
            self.foreign =
                identify(run, offset + first, &octets[first..]).filter(|key| key.seed() != seed);
        }
    }

    /// Ends the record (the packet without M bit was seen) and starts over. `length` is the length
    /// that was due, if the caller knows: a header that says otherwise is then damaged.
    pub fn finish(&mut self, expected: Option<&Key>, length: Option<usize>) -> Verdict {
        let done = std::mem::take(self);
        if done.seen < HEADER {
            return finish_short(&done.header[..done.seen], expected, length);
        }
        let key = done.key();
        let crc = be32(&done.header[20..24]);
        let announced = be32(&done.header[16..20]) as usize & MAX_LENGTH;
        if done.wrong == 0 && done.header[..4] == MAGIC && done.seed == key.seed() {
            if crc == done.crc && announced == done.seen {
                return Verdict::Good(key);
            }
            if announced != done.seen && length != Some(done.seen) {
                return Verdict::Length { key, announced, actual: done.seen };
            }
        }
        let begun = short_length(done.header[0]);
        if begun > 0
            && length != Some(done.seen)
            && let Verdict::Good(key) = finish_short(&done.header[..begun], expected, None)
        {
            return Verdict::Length { key, announced: begun, actual: done.seen };
        }
        // Count the header's octets too, against the expected header where it is known.
        let mut octets = done.wrong;
        let mut first = done.first_wrong;
        if let Some(due) = expected {
            let right = header(due, done.seen);
            for i in (0..20).rev() {
                if done.header[i] != right[i] {
                    // A foreign packet brought these along: they are not damage of their own.
                    octets += usize::from(done.foreign.is_none());
                    first = i;
                }
            }
        }
        if octets == 0 {
            (octets, first) = (1, 20); // only the CRC field itself is left
        }
        Verdict::Corrupt { offset: first, octets, foreign: done.foreign }
    }
}

/// Length of a short record by its first octet; 0: it is none.
fn short_length(first: u8) -> usize {
    if first & 0xF0 == SHORT { SHORTEST + usize::from(first & 7) } else { 0 }
}

/// The number nearest to `due` that has these lower 24 bits.
fn nearest(due: u32, low: u32) -> u32 {
    let ahead = (low.wrapping_sub(due) << 8) as i32 >> 8;
    due.wrapping_add(ahead as u32)
}

/// What fewer octets than [`HEADER`] are: a short record, or the rest of one.
fn finish_short(octets: &[u8], expected: Option<&Key>, length: Option<usize>) -> Verdict {
    let due = expected.copied().unwrap_or_default();
    let actual = octets.len();
    if actual < SHORTEST {
        return Verdict::Length { key: due, announced: length.unwrap_or(SHORTEST), actual };
    }
    let low = be32(&octets[..4]) & 0xFF_FFFF;
    let key = Key {
        run: be32(&octets[4..8]),
        call: be32(&octets[8..12]),
        sequence: expected.map_or(low, |due| nearest(due.sequence, low)),
        direction: (octets[0] >> 3) & 1,
    };
    let mut right = [0; HEADER];
    let right = &mut right[..actual];
    write(&key, right);
    if right == octets {
        return Verdict::Good(key);
    }
    let announced = short_length(octets[0]);
    let named = expected.is_none_or(|due| (due.run, due.call) == (key.run, key.call));
    if length != Some(actual) {
        if octets[..4] == MAGIC {
            let announced = length.unwrap_or(HEADER);
            return Verdict::Length { key: due, announced, actual };
        }
        if announced > 0 && announced != actual && named {
            return Verdict::Length { key, announced, actual };
        }
    }
    write(expected.unwrap_or(&key), right);
    // The CRC differs with the rest: it is not damage of its own unless it is the only one.
    let crc = SHORTEST - CRC..SHORTEST;
    let wrong = |i: &usize| !crc.contains(i) && octets[*i] != right[*i];
    Verdict::Corrupt {
        offset: (0..actual).find(wrong).unwrap_or(crc.start),
        octets: (0..actual).filter(wrong).count().max(1),
        foreign: None,
    }
}

/// Whether a whole record verifies, and what it is: the check of one record in one piece.
pub fn check(record: &[u8]) -> Verdict {
    let mut checker = Checker::default();
    checker.push(record, None, 0);
    checker.finish(None, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { run: 0x0102_0304, call: 77, sequence: 5, direction: 0 };

    fn record(key: &Key, length: usize) -> Vec<u8> {
        let mut out = Vec::new();
        build(key, length, &mut out);
        out
    }

    #[test]
    fn mix_is_splitmix64_and_can_be_undone() {
        // First output of SplitMix64 with state 0 (published test vector).
        assert_eq!(mix(GAMMA), 0xE220_A839_7B1D_CDAF);
        for z in [0, 1, GAMMA, u64::MAX, 0x1234_5678_9ABC_DEF0] {
            assert_eq!(unmix(mix(z)), z);
        }
    }

    #[test]
    fn layout_octet_by_octet() {
        let r = record(&KEY, 40);
        assert_eq!(&r[..20], b"X25T\x01\x02\x03\x04\0\0\0\x4d\0\0\0\x05\0\0\0\x28");
        let mut zeroed = r.clone();
        zeroed[20..24].fill(0);
        assert_eq!(be32(&r[20..24]), crc32c::crc32c(&zeroed));
        let seed = mix(0x0102_0304_0000_004D ^ mix(6));
        assert_eq!(r[24..32], mix(seed.wrapping_add(GAMMA)).to_le_bytes());
        assert_eq!(r[32..40], mix(seed.wrapping_add(GAMMA.wrapping_mul(2))).to_le_bytes());
    }

    #[test]
    fn any_cut_gives_the_same_verdict() {
        let r = record(&KEY, 1003);
        for piece in [1, 7, 16, 23, 24, 25, 128, 1003] {
            let mut checker = Checker::default();
            for part in r.chunks(piece) {
                checker.push(part, Some(&KEY), KEY.run);
            }
            assert_eq!(checker.finish(Some(&KEY), None), Verdict::Good(KEY), "pieces of {piece}");
        }
    }

    #[test]
    fn filler_is_the_same_at_every_offset_and_in_every_width() {
        let seed = KEY.seed();
        let mut whole = vec![0; 300];
        fill(seed, 0, &mut whole);
        let mut plain = vec![0; 296];
        fill_body(seed, &mut plain);
        assert_eq!(whole[..296], plain);
        for offset in 0..64 {
            for length in 0..64 {
                let mut part = vec![0; length];
                fill(seed, offset, &mut part);
                assert_eq!(part, whole[offset..offset + length]);
                assert!(is_filler(seed, offset, &part));
            }
        }
    }

    #[test]
    fn every_changed_octet_is_found_where_it_is() {
        let good = record(&KEY, 200);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            let mut checker = Checker::default();
            checker.push(&bad[..100], Some(&KEY), KEY.run);
            checker.push(&bad[100..], Some(&KEY), KEY.run);
            match checker.finish(Some(&KEY), None) {
                Verdict::Corrupt { offset, octets: 1, foreign: None } => {
                    let place = if (20..24).contains(&at) { 20 } else { at };
                    assert_eq!(offset, place);
                }
                Verdict::Length { .. } if (17..20).contains(&at) => {}
                other => panic!("octet {at}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_damaged_length_is_no_short_message_where_the_length_is_known() {
        let mut bad = record(&KEY, 200);
        bad[18] ^= 1;
        let mut checker = Checker::default();
        checker.push(&bad, Some(&KEY), KEY.run);
        let verdict = checker.finish(Some(&KEY), Some(200));
        assert_eq!(verdict, Verdict::Corrupt { offset: 18, octets: 1, foreign: None });
    }

    #[test]
    fn layout_of_a_short_record_octet_by_octet() {
        let key = Key { sequence: 0x0123_4567, direction: 1, ..KEY };
        let r = record(&key, 19);
        assert_eq!(&r[..12], b"\xAB\x23\x45\x67\x01\x02\x03\x04\0\0\0\x4d");
        let mut zeroed = r.clone();
        zeroed[12..16].fill(0);
        assert_eq!(be32(&r[12..16]), crc32c::crc32c(&zeroed));
        assert_eq!(r[16..], mix(key.seed().wrapping_add(GAMMA)).to_le_bytes()[..3]);
        assert_eq!(record(&key, 1).len(), SHORTEST);
    }

    #[test]
    fn every_changed_octet_of_a_short_record_is_found_where_it_is() {
        for length in SHORTEST..HEADER {
            let good = record(&KEY, length);
            for (at, bit) in (0..length).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                for known in [None, Some(length)] {
                    let mut checker = Checker::default();
                    checker.push(&bad[..10], Some(&KEY), KEY.run);
                    checker.push(&bad[10..], Some(&KEY), KEY.run);
                    let place = if (12..16).contains(&at) { 12 } else { at };
                    match checker.finish(Some(&KEY), known) {
                        Verdict::Corrupt { offset, octets: 1, foreign: None } => {
                            assert_eq!(offset, place);
                        }
                        Verdict::Length { .. } if known.is_none() && at == 0 && bit < 3 => {}
                        other => panic!("{length} octets, octet {at}: {other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn the_sequence_of_a_short_record_is_the_nearest() {
        let numbers = [0, 1, 0xFF_FFFF, 0x100_0000, 0x7FFF_FFFF, u32::MAX];
        for (due, ahead) in numbers.iter().flat_map(|n| [-70_000i32, -1, 0, 1, 9].map(|a| (*n, a)))
        {
            let sent = Key { sequence: due.wrapping_add(ahead as u32), ..KEY };
            let mut checker = Checker::default();
            let due = Key { sequence: due, ..KEY };
            checker.push(&record(&sent, 17), Some(&due), KEY.run);
            assert_eq!(checker.finish(Some(&due), None), Verdict::Good(sent));
        }
    }

    #[test]
    fn short_records_that_are_cut_or_joined_show_as_length() {
        let r = record(&KEY, 22);
        let length = |announced, actual| Verdict::Length { key: KEY, announced, actual };
        let finish = |octets: &[u8]| {
            let mut checker = Checker::default();
            checker.push(octets, Some(&KEY), KEY.run);
            checker.finish(Some(&KEY), None)
        };
        assert_eq!(finish(&r[..18]), length(22, 18));
        assert_eq!(finish(&r[..9]), length(16, 9));
        assert_eq!(finish(&[r.clone(), r].concat()), length(22, 44));
        assert_eq!(finish(&record(&KEY, 200)[..20]), length(24, 20));
    }

    #[test]
    fn a_piece_of_another_call_is_named() {
        let other = Key { call: 1234, sequence: 3, ..KEY };
        let mut mixed = record(&KEY, 4096);
        mixed[1024..1152].copy_from_slice(&record(&other, 4096)[1024..1152]);
        let mut checker = Checker::default();
        for part in mixed.chunks(128) {
            checker.push(part, Some(&KEY), KEY.run);
        }
        match checker.finish(Some(&KEY), None) {
            Verdict::Corrupt { offset, foreign, .. } => {
                assert!((1024..1032).contains(&offset));
                assert_eq!(foreign, Some(other));
            }
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn a_whole_foreign_record_is_good_and_says_whose_it_is() {
        let other = Key { call: 9, ..KEY };
        let mut checker = Checker::default();
        for length in [16, 23, 64] {
            checker.push(&record(&other, length), Some(&KEY), KEY.run);
            assert_eq!(checker.finish(Some(&KEY), None), Verdict::Good(other));
        }
    }

    #[test]
    fn lost_octets_show_as_length() {
        let r = record(&KEY, 512);
        assert_eq!(check(&r[..384]), Verdict::Length { key: KEY, announced: 512, actual: 384 });
    }
}
