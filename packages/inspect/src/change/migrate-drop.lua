-- migrate-drop.lua. Deletes the value under an old name where the key stands under its new one; answers whether it did.
if redis.call('EXISTS', key) == 0 then return 0 end
return redis.call('UNLINK', old)
