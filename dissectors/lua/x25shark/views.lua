-- SPDX-License-Identifier: GPL-2.0-or-later
-- What can be looked at besides the packets: `tshark -z x25,circuits`, `-z x25,findings`, `-z x25,cases`
-- and `-z x25,ladder,N`, and in Wireshark the menu Tools > X.25.

local cases = require("x25shark.cases")
local observed = require("x25shark.observed")
local ports = require("x25shark.ports")
local survey = require("x25shark.survey")

local views = {}

local comment_field

local NOTHING = [[
No X.25 in this capture: looked for XOT on TCP port %s, and for LAPB on link type USER0.
Other ports: -o xots.ports:1998,2000. LAPB over Ethernet and link type LAPB: -o lapbs.frames:TRUE, or
-C x25shark, the profile that x25shark wireshark install puts there. In Wireshark these are preferences.
]]

-- What stands above a survey that found nothing: where was looked, and what to type.
local function nothing(s)
  return #s.circuits == 0 and s.found == 0 and NOTHING:format(ports.told()) or ""
end

-- Read the whole capture into a survey; `draw` is called with it when all has been read. Returns the
-- listener, which has to be removed by its owner, and whether what was dissected before has to be dissected
-- again. Whoever asks for circuits wants those of port 1998, whatever the preferences say of other captures.
local function survey_all(ladder, draw)
  local again = ports.ask()
  observed.listening = true
  local listener = Listener.new("frame")
  local s = survey.new(ladder)
  function listener.packet(pinfo)
    local number = pinfo.number
    local packets, findings = observed.of(number)
    if packets[1] or findings[1] then
      survey.take(s, number, ladder and pinfo.rel_ts, packets, findings)
    end
  end
  function listener.reset()
    s = survey.new(ladder)
  end
  function listener.draw()
    draw(s)
  end
  return listener, again
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
    survey_all(nil, function(s) banner("X.25 circuits", nothing(s) .. survey.circuits_text(s)) end)
  end)
  register_stat_cmd_arg("x25,findings", function()
    survey_all(nil, function(s) banner("X.25 findings", nothing(s) .. survey.findings_text(s)) end)
  end)
  register_stat_cmd_arg("x25,cases", function()
    cases_all(function(all) banner("x25shark cases", cases.text(all)) end)
  end)
  register_stat_cmd_arg("x25,ladder", function(argument)
    local number = tonumber((argument or ""):match("^x25,ladder,(%d+)$") or "1")
    survey_all(number, function(s) banner("X.25 ladder", nothing(s) .. survey.ladder_text(s)) end)
  end)
end

local function filter_by(text)
  set_filter(text)
  apply_filter()
end

-- Select a frame. No Lua function goes to one; but a filter that one frame passes selects it, and it stays
-- selected when "All frames" takes the filter away. Both in one step do nothing: Wireshark filters behind it.
local function go_to(frame)
  filter_by("frame.number == " .. frame)
end

-- Ask for a number, and do something with it.
local function ask_number(title, label, act)
  new_dialog(title, function(text)
    local number = tonumber(text)
    if number then
      act(math.floor(number))
    end
  end, label)
end

local function ask_circuit(title, act)
  ask_number(title, "Number of the circuit (see Circuits)", act)
end

-- A window that shows `text_of` what `listen` collects, anew with every retap. `buttons` are a list of label
-- and function, which gets what is shown; two more go to a frame, and show it among all others.
local function open_window(title, listen, text_of, buttons)
  local window = TextWindow.new(title)
  local shown
  local listener, again = listen(function(found)
    shown = found
    window:set(text_of(found))
  end)
  window:set_atclose(function()
    listener:remove()
  end)
  window:add_button("Go to frame", function()
    ask_number("Go to a frame", "Number of the frame", go_to)
  end)
  window:add_button("All frames", function()
    filter_by("")
  end)
  for _, button in ipairs(buttons) do
    window:add_button(button[1], function()
      if shown then
        button[2](shown)
      end
    end)
  end
  if again then
    reload_packets()
  else
    retap_packets()
  end
end

local function show_ladder(number)
  open_window("X.25 ladder of circuit " .. number, function(draw)
    return survey_all(number, draw)
  end, function(s)
    return nothing(s) .. survey.ladder_text(s, true)
  end, {})
end

local function all_circuits(draw)
  return survey_all(nil, draw)
end

local function show_circuits()
  open_window("X.25 circuits", all_circuits, function(s)
    return nothing(s) .. survey.circuits_blocks(s)
  end, {
    { "Show packets", function(s)
      ask_circuit("Show the packets of a circuit", function(number)
        if s.circuits[number] then
          filter_by(survey.filter(s.circuits[number]))
        end
      end)
    end },
    { "Ladder", function()
      ask_circuit("Ladder of a circuit", show_ladder)
    end },
  })
end

local MOST_IN_FILTER = 200

local function show_frames(s)
  local numbers, seen = {}, {}
  for _, finding in ipairs(s.findings) do
    if not seen[finding.frame] and #numbers < MOST_IN_FILTER then
      seen[finding.frame] = true
      numbers[#numbers + 1] = tostring(finding.frame)
    end
  end
  if #numbers > 0 then
    filter_by("frame.number in {" .. table.concat(numbers, ", ") .. "}")
  end
end

local function show_findings()
  open_window("X.25 findings", all_circuits, function(s)
    return nothing(s) .. survey.findings_blocks(s)
  end, { { "Show frames", show_frames } })
end

local function show_cases()
  open_window("x25shark cases", cases_all, cases.text, {
    { "Show verdicts", function()
      filter_by("frame.comment")
    end },
    { "Copy command", function(all)
      local command = cases.command(all)
      if command then
        copy_to_clipboard(command)
      end
    end },
  })
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
