-- forget.lua. Deletes an old key once its value has been copied, unless it changed since.
if redis.call('DUMP', old) == dump then return redis.call('UNLINK', old) end
return 0
