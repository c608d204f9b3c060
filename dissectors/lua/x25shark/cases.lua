-- SPDX-License-Identifier: GPL-2.0-or-later
-- The cases of an evidence file, by the comments that x25shark wrote at the deciding packets:
-- "met: CASE: ..." and "NOT MET: CASE: ...". Pure Lua; a comment is somebody else's text.

local cases = {}

-- Names of state tables have small letters: STATE-C4-d1-reset_confirmation.
local CASE = "^([A-Z][A-Z0-9]*%-[A-Za-z0-9_%-]*): (.*)$"

-- What a line of a comment tells: "NOT MET" or "met", the case, and the sentence; nil for somebody
-- else's.
function cases.told(line)
  local word, rest = line:match("^(NOT MET): (.*)$")
  if not word then
    word, rest = line:match("^(met): (.*)$")
  end
  local name, what = (rest or ""):match(CASE)
  if name then
    return word, name, what
  end
end

function cases.new()
  return { order = {}, by_name = {} }
end

-- One comment of one frame; others than ours are passed over.
function cases.take(all, frame, comment)
  for line in comment:gmatch("[^\r\n]+") do
    local word, name, what = cases.told(line)
    if word then
      local case = all.by_name[name]
      if not case then
        case = { name = name, met = 0, failed = {} }
        all.by_name[name] = case
        all.order[#all.order + 1] = case
      end
      if word == "met" then
        case.met = case.met + 1
      else
        case.failed[#case.failed + 1] = { frame = frame, what = what }
      end
    end
  end
end

function cases.text(all)
  local lines = {}
  for _, case in ipairs(all.order) do
    lines[#lines + 1] = string.format("%-4s  %s  %d expectations met, %d not", #case.failed > 0 and "FAIL" or "PASS",
      case.name, case.met, #case.failed)
    for _, failed in ipairs(case.failed) do
      lines[#lines + 1] = string.format("      frame %d: %s", failed.frame, failed.what)
    end
  end
  if #lines == 0 then
    lines[1] = "no verdicts of x25shark in this capture"
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The command that repeats the cases that failed, or all where none did; nil without cases.
function cases.command(all)
  local failed, every = {}, {}
  for _, case in ipairs(all.order) do
    every[#every + 1] = case.name
    if #case.failed > 0 then
      failed[#failed + 1] = case.name
    end
  end
  local names = #failed > 0 and failed or every
  return #names > 0 and "x25shark run --router PROFILE --select '" .. table.concat(names, ",") .. "'" or nil
end

return cases
