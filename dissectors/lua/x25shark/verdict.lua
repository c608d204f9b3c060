-- SPDX-License-Identifier: GPL-2.0-or-later
-- The verdict of a packet in a word, for a column that is seen whole: x25shark writes it, with the case
-- and all that was expected, as a comment of the frame.

local cases = require("x25shark.cases")
local layer = require("x25shark.layer")

local verdict = {}

local LONGEST = 300 -- octets of a comment that are shown
local WORDS = { ["NOT MET"] = "FAIL", met = "met" }

local proto, field, comment_field
local referenced = TreeItem.referenced

local function dissect(_, _, tree)
  if not referenced(tree, field) or not comment_field then
    return
  end
  for _, item in ipairs({ comment_field() }) do
    local comment = tostring(item.value)
    local word, case, what = cases.told(comment:match("^[^\r\n]*"))
    if word then
      -- The sentence is in the branch itself, so that it is seen with every branch closed; what is wanted
      -- first comes first, for the pane cuts it.
      local short = WORDS[word] .. " " .. case
      local sentence, clause = what:match("^(.-)%s*%(([^()]*)%)$")
      local told = clause and short .. " (" .. clause .. "): " .. sentence or short .. ": " .. what
      local branch = tree:add(proto, told:sub(1, LONGEST))
      branch:add(field, short):set_generated()
    end
  end
end

-- Register the field, and what finds it behind all other dissectors.
function verdict.register()
  proto = Proto("x25v", "x25shark verdict")
  field = ProtoField.string("x25v.verdict", "Verdict")
  proto.fields = { field }
  comment_field = layer.optional_field("frame.comment")
  proto.dissector = dissect
  register_postdissector(proto)
end

return verdict
