-- command.lua. Runs one command on these keys, which follow its first `before` words.
local call = {}
for i = 1, before do call[i] = words[i] end
for i = 1, #keys do call[before + i] = keys[i] end
for i = before + 1, #words do call[#call + 1] = words[i] end
return redis.pcall(unpack(call))
