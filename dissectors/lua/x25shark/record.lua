-- SPDX-License-Identifier: GPL-2.0-or-later
-- The test record that a tester sends as the user data of a complete packet sequence.
-- Big endian: magic "X25T" (4 octets), run (4), call (4), sequence (4), direction (1: 0 from A to B,
-- 1 from B to A), length of the whole record (3), CRC-32C over the whole record with the CRC field
-- zero (4), then filler.
-- A record of 16 to 23 octets: 1010 in the upper four bits of the first octet, direction (1 bit), octets
-- behind the header (3 bits), sequence modulo 2^24 (3 octets), run (4), call (4), CRC-32C (4), filler.
-- Nothing else tells it from other user data, so it is one only if its CRC is right.

local record = {}

record.HEADER = 24
record.SHORTEST = 16
record.MAGIC = "X25T"
record.LONGEST = 16777215 -- its length has three octets
local SHORT = 10
local byte = string.byte
local MAGIC_FIRST = byte(record.MAGIC)
-- Lua computes a CRC-32C octet by octet, so a record above this is shown without a CRC status.
record.MOST_OCTETS = 1048576

-- `bit` is in every Lua that Wireshark brings; its results are signed, which xor and table look-ups
-- by the low octet do not mind.
local bit = bit
local crc_tables

local function build_table()
  local entries = {}
  for value = 0, 255 do
    local crc = value
    for _ = 1, 8 do
      local carry = bit.band(crc, 1)
      crc = bit.rshift(crc, 1)
      if carry == 1 then
        crc = bit.bxor(crc, 0x82f63b78) -- Castagnoli polynomial, bits reversed
      end
    end
    entries[value] = crc
  end
  return entries
end

-- Tables for an octet that up to seven further octets follow: eight octets are taken in a step, since
-- each call of `bit` costs more than all the arithmetic beside it.
local function build_tables(first)
  local tables = { first }
  for place = 2, 8 do
    local entries = {}
    for value = 0, 255 do
      local crc = tables[place - 1][value]
      entries[value] = bit.bxor(bit.rshift(crc, 8), first[bit.band(crc, 255)])
    end
    tables[place] = entries
  end
  return tables
end

local function crc_step(crc, octets)
  local band, bxor, rshift = bit.band, bit.bxor, bit.rshift
  local last, t2, t3, t4 = crc_tables[1], crc_tables[2], crc_tables[3], crc_tables[4]
  local t5, t6, t7, t8 = crc_tables[5], crc_tables[6], crc_tables[7], crc_tables[8]
  local size = #octets
  local eights = size - size % 8
  for position = 1, eights, 8 do
    local a, b, c, d, e, f, g, h = byte(octets, position, position + 7)
    local mixed = bxor(crc, a + 256 * b + 65536 * c + 16777216 * d)
    a = mixed % 256
    mixed = (mixed - a) / 256
    b = mixed % 256
    mixed = (mixed - b) / 256
    c = mixed % 256
    d = (mixed - c) / 256 % 256
    crc = bxor(t8[a], t7[b], t6[c], t5[d], t4[e], t3[f], t2[g], last[h])
  end
  for position = eights + 1, size do
    crc = bxor(rshift(crc, 8), last[band(bxor(crc, byte(octets, position)), 255)])
  end
  return crc
end

-- CRC-32C of the octets, 0 to 2^32 - 1.
function record.crc32c(octets)
  crc_tables = crc_tables or build_tables(build_table())
  local crc = bit.bnot(crc_step(-1, octets))
  return crc < 0 and crc + 4294967296 or crc
end

local function number(octets, first, count)
  local value = 0
  for i = first, first + count - 1 do
    value = value * 256 + octets:byte(i)
  end
  return math.floor(value)
end

local function decode(octets)
  local r = {
    magic = record.MAGIC,
    run = number(octets, 5, 4),
    call = number(octets, 9, 4),
    sequence = number(octets, 13, 4),
    direction = number(octets, 17, 1),
    length = number(octets, 18, 3),
    crc = number(octets, 21, 4),
    octets = #octets,
  }
  if r.length ~= #octets then
    r.problem = string.format("the record says %d octets, the packet sequence holds %d", r.length, #octets)
  end
  if r.length < record.HEADER or r.length > #octets then
    r.crc_status = 0
  elseif r.length <= record.MOST_OCTETS then
    local whole = octets:sub(1, r.length)
    local zeroed = whole:sub(1, 20) .. "\0\0\0\0" .. whole:sub(25)
    r.crc_status = record.crc32c(zeroed) == r.crc and 1 or 0
  end
  return r
end

local function decode_short(octets)
  local first = number(octets, 1, 1)
  local crc = number(octets, 13, 4)
  if
    first % 8 ~= #octets - record.SHORTEST
    or record.crc32c(octets:sub(1, 12) .. "\0\0\0\0" .. octets:sub(17)) ~= crc
  then
    return nil
  end
  return {
    run = number(octets, 5, 4),
    call = number(octets, 9, 4),
    sequence = number(octets, 2, 3),
    direction = math.floor(first / 8) % 2,
    length = #octets,
    crc = crc,
    crc_status = 1,
    octets = #octets,
  }
end

-- Whether octets that begin so, behind `at`, can be a test record, and the most that it can have.
function record.begins(octets, at)
  local first = byte(octets, at + 1) or 0
  if first == MAGIC_FIRST then
    return octets:sub(at + 1, at + 4) == record.MAGIC and record.LONGEST or nil
  end
  return first >= SHORT * 16 and first < SHORT * 16 + 16 and record.HEADER - 1 or nil
end

-- Records decoded of late, by their octets: each is captured before the router and behind it.
local decoded, decoded_count = {}, 0
local MOST_DECODED, LONGEST_DECODED = 200, 8192

-- Decode the user data of a complete packet sequence. Nil unless it starts as a test record. Equal octets
-- share the result: nobody changes it.
function record.decode(octets)
  local most = record.begins(octets, 0)
  if not most or #octets > most then
    return nil
  elseif most < record.HEADER then
    return #octets >= record.SHORTEST and decode_short(octets) or nil
  elseif #octets < record.HEADER then
    return nil
  end
  local r = decoded[octets] or decode(octets)
  if not decoded[octets] and #octets <= LONGEST_DECODED then
    if decoded_count >= MOST_DECODED then
      decoded, decoded_count = {}, 0
    end
    decoded[octets], decoded_count = r, decoded_count + 1
  end
  return r
end

return record
