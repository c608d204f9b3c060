-- SPDX-License-Identifier: GPL-2.0-or-later
-- Numbers of things in words.

-- "1 octet", "2 octets", "0 octets".
return function(number, thing)
  return string.format(number == 1 and "%d %s" or "%d %ss", number, thing)
end
