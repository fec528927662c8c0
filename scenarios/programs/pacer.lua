-- pacer.lua - the pacer of policies/pacer.c as a script of Redis: budgets of tokens, requests and what is in flight, a
-- line of who waits, and what its first needs set aside. The store's outage is not in it. Settings are ARGV, too.
local ask = {}
for i = 2, #ARGV, 2 do ask[ARGV[i]] = tonumber(ARGV[i + 1]) or ARGV[i + 1] end
local word, id = ARGV[1], "call:" .. (ask.call or "")
local r_tok, c_burst = ask.r_tok or 20000, ask.c_burst or 500000
local r_qps, c_req, k_inflight = ask.r_qps or 1.5, ask.c_req or 30, ask.k_inflight or 1000000
local weight, expires = ask.cached_weight or 1, 300
local time = redis.call("TIME")
local now = time[1] + time[2] / 1e6

local function read(key, field, otherwise)
    return tonumber(redis.call("HGET", key, field)) or otherwise
end

if word == "begin" then
    redis.call("HSET", "pool", "tokens", c_burst, "requests", c_req, "at", 0, "in_flight", 0, "kappa", 4.89)
    redis.call("SET", "chance", ask.seed % 2147483646 + 1)
    return "takes admit admitted finish late"
end

local function jittered(wait)
    local drawn = redis.call("GET", "chance") * 16807 % 2147483647
    redis.call("SET", "chance", drawn)
    return wait * (0.75 + 0.5 * drawn / 2147483647)
end

local since = now - read("pool", "at")
local tokens = math.min(c_burst, read("pool", "tokens") + since * r_tok)
local requests = math.min(c_req, read("pool", "requests") + since * r_qps)
local in_flight, kappa = read("pool", "in_flight"), read("pool", "kappa")
local run = ("run:%s:%s:%s"):format(ask.class, ask.agent, ask.run)

local function keep()
    redis.call("HSET", "pool", "tokens", tokens, "requests", requests, "at", now, "in_flight", in_flight, "kappa", kappa)
end

-- Not now: at its hold cap as a 429 that the pacer makes up.
local function denied(wait, axis)
    keep()
    if ask.last == 0 then return ("hold %.9f %s"):format(math.max(wait, 0.001), axis) end
    redis.call("ZREM", "line", id)
    return ("defer %d %s"):format(read(id, "tries", 0) > 0 and 60 or 30, axis)
end

if word == "admit" then
    if read(id, "attempt", 0) ~= ask.attempt then -- seen for the first time
        local est = ask.chars / kappa
        local cached = math.min(read(run, "prompt", 0), est)
        redis.call("DEL", id)
        redis.call("HSET", id, "attempt", ask.attempt, "est", est, "charge", est - cached + cached * weight)
    end
    local est, charge = read(id, "est"), read(id, "charge")
    local wakes = read(id, "wakes", 0)
    if now < wakes then return denied(wakes - now, "overload") end
    local head = redis.call("ZRANGE", "line", 0, 0)[1]
    local aside = head and head ~= id
    local need = math.min(c_burst, charge + (aside and read(head, "charge") or 0))
    local room = math.min(k_inflight, est + (aside and read(head, "est") or 0))
    local ahead = aside and 2 or 1
    local axis = tokens < need and "tokens" or requests < ahead and "requests" or
        in_flight + room > k_inflight and "in_flight"
    if axis then
        if read(id, "waits", 0) == 0 then
            redis.call("HSET", id, "waits", 1)
            redis.call("ZADD", "line", now - charge / r_tok, id)
        end
        local wait = math.max((need - tokens) / r_tok, (ahead - requests) / r_qps)
        wait = math.max(0.25, math.min(5, wait))
        return denied(ask.last == 0 and jittered(wait) or wait, axis)
    end
    return "admit"
end

redis.call("ZREM", "line", id)
redis.call("HSET", id, "waits", 0)
if word == "admitted" then
    tokens, requests, in_flight = tokens - read(id, "charge"), requests - 1, in_flight + read(id, "est")
    redis.call("HSET", id, "inside", 1)
    keep()
    return "expires " .. expires
end

local inside = read(id, "inside", 0) == 1
if inside then
    redis.call("HSET", id, "inside", 0)
    in_flight = in_flight - read(id, "est")
end
if ask["end"] == "done" and ask["in"] and ask["in"] > 0 and (inside or word == "late") then
    local cached = ask.cached or 0
    redis.call("HSET", run, "prompt", ask["in"])
    kappa = math.max(2, math.min(8, 0.95 * kappa + 0.05 * ask.chars / ask["in"]))
    tokens = math.min(c_burst, tokens + read(id, "charge") - (ask["in"] - cached + cached * weight))
end
keep()
if word == "finish" and inside and ask["end"] == "overload" and not ask.retry_after and ask.last == 0 then
    local tries = read(id, "tries", 0) + 1
    local wait = jittered(math.min(30 * tries, 90))
    if tries <= 6 and not (ask.hold_until and now + wait > ask.hold_until) then
        redis.call("HSET", id, "tries", tries, "wakes", now + wait)
        return ("again %.9f"):format(wait)
    end
end
if ask["end"] == "done" or ask["end"] == "abandoned" then redis.call("DEL", id) end
return "ok"
