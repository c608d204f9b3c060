-- SPDX-License-Identifier: GPL-2.0-or-later
-- The strict X.25 dissector of x25shark, over XOT and over HDLC with LAPB (link type USER0), for
-- Wireshark and tshark 4.0 and later.
-- Load it with `-X lua_script:x25shark.lua`, or copy this file and the folder x25shark beside it
-- into the personal plugin folder. It takes the TCP ports of its preference xots.ports, none unless
-- told: `-o xots.ports:1998`; -z x25,circuits and its like take 1998 then.

-- Whoever has it installed may name it with -X too. Globals of a plugin are its own, but for those of _G.
-- luacheck: globals _G.x25shark_loaded
if not _G.x25shark_loaded then
  _G.x25shark_loaded = true
  local folder = tostring(__DIR__ or "."):gsub("[/\\]+$", "")
  package.path = folder .. "/?.lua;" .. package.path

  local fields = require("x25shark.fields")
  local framing = require("x25shark.framing")
  local layer = require("x25shark.layer")
  local link = require("x25shark.link")
  local verdict = require("x25shark.verdict")
  local views = require("x25shark.views")

  set_plugin_info({
    version = "0.1.0",
    description = "X.25 over XOT, and over HDLC with LAPB: a strict dissector",
    author = "The authors of x25shark",
  })

  local registered = fields.register()
  layer.register(registered)
  framing.register(registered)
  link.register(registered)

  if os.getenv("X25SHARK_WORDS") ~= "0" then
    -- Many small objects of Wireshark's die with each frame: a third of the time went into looking for
    -- them after every few frames. In a large capture the heap may be ten times what lives in it.
    collectgarbage("setpause", 1000)
    verdict.register() -- the judge looks at the packets' fields alone
    views.register()
  end

  -- Wireshark builds no tree on its first pass unless something filters there; without one the
  -- number of a TCP stream is unknown and reused ports would look like one connection.
  if Listener then
    Listener.new("frame", "frame")
  end
end
