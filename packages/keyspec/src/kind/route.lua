-- route.lua. Says at one of the two names of a key, which a cluster keeps in different slots, where the key stands.
-- The old name decides (`side` 'old'): `marker` has the field 'away' there if the key has gone to its new name.
-- Answers and the arguments that remain: 0 here; 1 at the other name; 2 on its way, set aside; 3 both names exist;
-- 4 not here nor moved, so the new name must be looked at before the key may be created here (phase 1; then `sure`).
-- In phase 2 a key that stands nowhere goes to its new name, and a write says so here first (`writes`). So it does in
-- phase 1 if the new name was found to exist (`exists`).
if redis.call('EXISTS', aside) == 1 then return 2, given end
local away = redis.call('HEXISTS', marker, 'away') == 1
if side == 'new' then
  if away and not sure then return 1, given end
  if away then redis.call('HDEL', marker, 'away') end
  return 0, given
end
if redis.call('EXISTS', key) == 1 then return away and 3 or 0, given end
if away then return 1, given end
if phase == '2' or exists then
  if writes or exists then redis.call('HSET', marker, 'away', '') end
  return 1, given
end
return sure and 0 or 4, given
