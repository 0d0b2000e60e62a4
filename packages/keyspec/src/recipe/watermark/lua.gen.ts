// Generated from the .lua files beside it by scripts/embed-lua.js
export const advance = "\n\n\nlocal current = redis.call('GET', key)\nif current ~= (present and seen) then return {0, current} end\nif ttlMs == '0' or (renew == 'creation' and redis.call('PTTL', key) >= 0) then\n  redis.call('SET', key, value, 'KEEPTTL')\nelse\n  redis.call('SET', key, value, 'PX', ttlMs)\nend\nreturn {1}\n"
