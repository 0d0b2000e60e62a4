-- give-lifetime.lua. Gives `key` its lifetime. With renew 'creation' only where the key has none, be it new or never given one.
if ttlMs ~= '0' and (renew ~= 'creation' or redis.call('PTTL', key) == -1) then redis.call('PEXPIRE', key, ttlMs) end
