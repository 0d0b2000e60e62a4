// Generated from the .lua files beside it by scripts/embed-lua.js
export const advance = "\n\n\nlocal current = redis.call('GET', key)\nif current ~= (present and seen) then return {0, current} end\nredis.call('SET', key, value, 'KEEPTTL')\nif ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end\nreturn {1}\n"
