/** Before looking again for another daemon's answer. */
const [LOOK_AGAIN_MS, LOOK_AGAIN_MS_MAX] = [5, 100]
const IDLE_LOOK_MS = 25
const KEPT_MS = 10_000

/** A future instant comes from a clock that was set back. */
const BEGIN = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'asked', 'claimed', 'took')
local function instant(value)
  local at = tonumber(value) or 0
  return at <= now and at or 0
end
local asked, claimed = instant(held[1]), instant(held[2])
`

/**
 * The newest reading, or whose turn it is: a daemon that finds nothing claims the turn, and others
 * wait. ARGV: request time of the caller's newest reading; earliest good request time, or 0 and the
 * maximum age in ms; otherwise: turn, claim or wait.
 */
export const LOOK_SCRIPT = `${BEGIN}
local since = tonumber(ARGV[2])
if since == 0 then since = now - ARGV[3] end
if asked >= since and asked ~= tonumber(ARGV[1]) then
  local answer = redis.call('HMGET', KEYS[1], 'encoding', 'body')
  return {'reading', now, asked, answer[1], answer[2]}
end
if ARGV[4] ~= 'claim' and claimed >= since then
  local left = claimed + (tonumber(held[3]) or 0) - now
  return {'wait', now, since, math.min(math.max(left, ${LOOK_AGAIN_MS}), ${LOOK_AGAIN_MS_MAX})}
end
if ARGV[4] == 'wait' then return {'wait', now, since, ${IDLE_LOOK_MS}} end
redis.call('HSET', KEYS[1], 'claimed', now)
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
return {'read', now}
`

/**
 * Unless a newer one is stored. ARGV: request time; duration, ms; the answer's encoding and bytes,
 * empty without one.
 */
export const HAND_ON_SCRIPT = `${BEGIN}
redis.call('HDEL', KEYS[1], 'claimed')
if ARGV[4] == '' or asked > tonumber(ARGV[1]) then return {} end
redis.call('HSET', KEYS[1], 'asked', ARGV[1], 'took', ARGV[2], 'encoding', ARGV[3], 'body', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
return {}
`
