// Generated from the .lua files beside it by scripts/embed-lua.js
export const replace = "\n\n\n\nredis.call('DEL', staging)\nlocal size = 0\nfor from = 1, #values, 4000 do\n  size = size + redis.call(command, staging, unpack(values, from, math.min(from + 3999, #values)))\nend\nredis.call('RENAME', staging, key)\nif ttlMs ~= '0' then redis.call('PEXPIRE', key, ttlMs) end\nreturn size\n"
