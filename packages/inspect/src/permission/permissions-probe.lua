-- permissions-probe.lua. Answers for each command line in `lines` (JSON arrays of words) 1 if the user may run it,
-- 0 if not, and -1 if the server does not know the command. Runs none of them. Nil before Redis 7, which has no such check.
local may = redis.acl_check_cmd
if not may then return false end
local answer = {}
for i, line in ipairs(lines) do
  local known, allowed = pcall(may, unpack(cjson.decode(line)))
  answer[i] = not known and -1 or (allowed and 1 or 0)
end
return answer
