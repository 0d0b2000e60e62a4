// Generated from the .lua files beside it by scripts/embed-lua.js
export const permissionsProbe = "\n\nlocal may = redis.acl_check_cmd\nif not may then return false end\nlocal answer = {}\nfor i, line in ipairs(lines) do\n  local known, allowed = pcall(may, unpack(cjson.decode(line)))\n  answer[i] = not known and -1 or (allowed and 1 or 0)\nend\nreturn answer\n"
