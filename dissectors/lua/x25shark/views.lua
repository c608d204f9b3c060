-- SPDX-License-Identifier: GPL-2.0-or-later
-- What can be looked at besides the packets: `tshark -z x25,circuits`, `-z x25,findings`, `-z x25,cases`
-- and `-z x25,ladder,N`, and in Wireshark the menu Tools > X.25.

local cases = require("x25shark.cases")
local observed = require("x25shark.observed")
local survey = require("x25shark.survey")

local views = {}

local comment_field

-- Read the whole capture into a survey; `draw` is called with it when all has been read. Returns the
-- listener, which has to be removed by its owner.
local function survey_all(ladder, draw)
  observed.listening = true
  local listener = Listener.new("frame")
  local s = survey.new(ladder)
  function listener.packet(pinfo)
    local packets, findings = observed.of(pinfo)
    if #packets + #findings > 0 then
      survey.take(s, pinfo.number, pinfo.rel_ts, packets, findings)
    end
  end
  function listener.reset()
    s = survey.new(ladder)
  end
  function listener.draw()
    draw(s)
  end
  return listener
end

local function cases_all(draw)
  local listener = Listener.new("frame", "frame.comment")
  local all = cases.new()
  function listener.packet(pinfo)
    for _, item in ipairs({ comment_field() }) do
      cases.take(all, pinfo.number, tostring(item.value))
    end
  end
  function listener.reset()
    all = cases.new()
  end
  function listener.draw()
    draw(all)
  end
  return listener
end

local function banner(title, text)
  print(string.rep("=", 79) .. "\n" .. title .. "\n" .. text .. string.rep("=", 79))
end

local function register_statistics()
  register_stat_cmd_arg("x25,circuits", function()
    survey_all(nil, function(s) banner("X.25 circuits", survey.circuits_text(s)) end)
  end)
  register_stat_cmd_arg("x25,findings", function()
    survey_all(nil, function(s) banner("X.25 findings", survey.findings_text(s)) end)
  end)
  register_stat_cmd_arg("x25,cases", function()
    cases_all(function(all) banner("x25shark cases", cases.text(all)) end)
  end)
  register_stat_cmd_arg("x25,ladder", function(argument)
    local number = tonumber((argument or ""):match("^x25,ladder,(%d+)$") or "1")
    survey_all(number, function(s) banner("X.25 ladder", survey.ladder_text(s)) end)
  end)
end

-- A window that shows `text_of` what `listen` collects, anew with every retap. Returns the window, and
-- a function that returns what is shown.
local function open_window(title, listen, text_of)
  local window = TextWindow.new(title)
  local shown
  local listener = listen(function(found)
    shown = found
    window:set(text_of(found))
  end)
  window:set_atclose(function()
    listener:remove()
  end)
  return window, function()
    return shown
  end
end

local function filter_by(text)
  set_filter(text)
  apply_filter()
end

local function show_ladder(number)
  open_window("X.25 ladder of circuit " .. number, function(draw)
    return survey_all(number, draw)
  end, function(s)
    return survey.ladder_text(s, true)
  end)
  retap_packets()
end

-- Ask for the number of a circuit, and do something with it.
local function ask_circuit(title, act)
  new_dialog(title, function(text)
    local number = tonumber(text)
    if number then
      act(math.floor(number))
    end
  end, "Number of the circuit (see Circuits)")
end

local function show_circuits()
  local window, shown = open_window("X.25 circuits", function(draw)
    return survey_all(nil, draw)
  end, survey.circuits_blocks)
  window:add_button("Show packets", function()
    ask_circuit("Show the packets of a circuit", function(number)
      local c = shown() and shown().circuits[number]
      if c then
        filter_by(survey.filter(c))
      end
    end)
  end)
  window:add_button("Ladder", function()
    ask_circuit("Ladder of a circuit", show_ladder)
  end)
  retap_packets()
end

local MOST_IN_FILTER = 200

local function show_findings()
  local window, shown = open_window("X.25 findings", function(draw)
    return survey_all(nil, draw)
  end, survey.findings_blocks)
  window:add_button("Show frames", function()
    local numbers, seen = {}, {}
    for _, finding in ipairs(shown() and shown().findings or {}) do
      if not seen[finding.frame] and #numbers < MOST_IN_FILTER then
        seen[finding.frame] = true
        numbers[#numbers + 1] = tostring(finding.frame)
      end
    end
    if #numbers > 0 then
      filter_by("frame.number in {" .. table.concat(numbers, ", ") .. "}")
    end
  end)
  retap_packets()
end

local function show_cases()
  local window, shown = open_window("x25shark cases", cases_all, cases.text)
  window:add_button("Show verdicts", function()
    filter_by("frame.comment")
  end)
  window:add_button("Copy command", function()
    local command = shown() and cases.command(shown())
    if command then
      copy_to_clipboard(command)
    end
  end)
  retap_packets()
end

local function register_menu_entries()
  register_menu("X.25/Circuits", show_circuits, MENU_TOOLS_UNSORTED)
  register_menu("X.25/Ladder of a circuit", function()
    ask_circuit("Ladder of a circuit", show_ladder)
  end, MENU_TOOLS_UNSORTED)
  register_menu("X.25/Findings", show_findings, MENU_TOOLS_UNSORTED)
  register_menu("X.25/Cases and verdicts", show_cases, MENU_TOOLS_UNSORTED)
end

-- Programs other than tshark and Wireshark (the judge) have no taps of a command line.
function views.register()
  comment_field = Field.new("frame.comment")
  if register_stat_cmd_arg then
    register_statistics()
  end
  if gui_enabled and gui_enabled() then
    register_menu_entries()
  end
end

return views
