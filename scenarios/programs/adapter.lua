-- adapter.lua - runs a limiter that is a script of Redis as a policy of weir:   lua5.1 adapter.lua SCRIPT [SETTING...]
--
-- The script is loaded as it is. It finds what it has in Redis: KEYS, ARGV and redis.call, here over a table, and TIME,
-- which is that of the question. ARGV is the question: its word, then its keys and values by turns, as in HSET, and
-- behind them the settings of the command line. It returns the answer.
local script = assert(loadfile(arg[1]))
local strings, hashes, sets = {}, {}, {}
local now

local function hash(key)
    hashes[key] = hashes[key] or {}
    return hashes[key]
end

-- Members of a sorted set by score, then by name, as Redis has them.
local function ranked(key)
    local members = {}
    for member in pairs(sets[key] or {}) do
        members[#members + 1] = member
    end
    table.sort(members, function(one, other)
        local a, b = sets[key][one], sets[key][other]
        return a < b or (a == b and one < other)
    end)
    return members
end

local commands = {
    TIME = function()
        local seconds, fraction = now:match("^(%d+)%.(%d+)$")
        return { seconds, (fraction .. "000000"):sub(1, 6) }
    end,
    GET = function(key) return strings[key] or false end,
    SET = function(key, value) strings[key] = tostring(value) end,
    HGET = function(key, field) return hash(key)[field] or false end,
    HSET = function(key, ...)
        local pairs_ = { ... }
        for i = 1, #pairs_, 2 do
            local value = pairs_[i + 1]
            hash(key)[pairs_[i]] = type(value) == "number" and ("%.17g"):format(value) or value
        end
    end,
    DEL = function(key) strings[key], hashes[key], sets[key] = nil, nil, nil end,
    ZADD = function(key, score, member)
        sets[key] = sets[key] or {}
        sets[key][member] = tonumber(score)
    end,
    ZREM = function(key, member)
        if sets[key] then sets[key][member] = nil end
    end,
    ZRANGE = function(key, first, last)
        return { unpack(ranked(key), first + 1, last + 1) }
    end,
}
redis = { call = function(command, ...) return commands[command:upper()](...) end }
KEYS = {}

for line in io.lines() do
    ARGV = { line:match("^%S+") }
    for key, value in line:gmatch("(%S-)=(%S*)") do
        ARGV[#ARGV + 1] = key
        ARGV[#ARGV + 1] = value
        if key == "now" then now = value end
    end
    for i = 2, #arg do
        for key, value in arg[i]:gmatch("(%S-)=(%S*)") do
            ARGV[#ARGV + 1] = key
            ARGV[#ARGV + 1] = value
        end
    end
    io.write(script(), "\n")
    io.flush()
end
