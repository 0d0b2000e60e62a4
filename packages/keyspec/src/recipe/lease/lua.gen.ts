// Generated from the .lua files beside it by scripts/embed-lua.js
export const extend = "\nif redis.call('GET', key) ~= token then return 0 end\nreturn redis.call('PEXPIRE', key, ttlMs)\n"
export const release = "\nif redis.call('GET', key) ~= token then return 0 end\nredis.call('DEL', key)\nif wake then redis.pcall('PUBLISH', key, '') end -- not everyone may publish; those who wait ask again anyway\nreturn 1\n"
