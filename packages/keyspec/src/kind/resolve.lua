-- resolve.lua. Finds the name under which each key of a command stands, during a rename. `names` holds, for each key, its
-- new name and then its old ones; `counts` says how many names each key has: '2,1'.
-- Phase 1: the new name if it exists, else the old one that exists, else the newest old one. The new name is never created.
-- Phase 2: the new name, to which the key is moved first if it stands under an old one.
-- Answers the names and the arguments that remain, or the error TWONAMES and the place of a key that stands under two.
-- With `removes` the other names of such a key are deleted instead, as the command deletes the first.
local own, moves, doubles = {}, {}, {}
local at, place = 1, 0
for count in string.gmatch(counts, '%d+') do
  local last = at + tonumber(count) - 1
  place = place + 1
  local found
  if last > at then
    for i = at, last do
      if redis.call('EXISTS', names[i]) == 1 then
        if not found then found = names[i]
        elseif removes then doubles[#doubles + 1] = names[i]
        else return redis.error_reply('TWONAMES ' .. place) end
      end
    end
  end
  if phase == '2' or last == at then
    own[place] = names[at]
    if found and found ~= names[at] then moves[#moves + 1] = {found, names[at]} end
  else
    own[place] = found or names[at + 1]
  end
  at = last + 1
end
for i = 1, #doubles do redis.call('UNLINK', doubles[i]) end
for i = 1, #moves do redis.call('RENAME', moves[i][1], moves[i][2]) end
return own, given
