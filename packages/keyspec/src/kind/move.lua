-- move.lua. Moves a key from the first of its old names that exists to its new one, value and time to live as they are.
-- Where the new name is taken it stays: it was written by a program that knows the new name, and so is the newer.
if redis.call('EXISTS', key) == 1 then return 0 end
for _, before in ipairs(old) do
  if redis.call('EXISTS', before) == 1 then
    redis.call('RENAME', before, key)
    return 1
  end
end
return 0
