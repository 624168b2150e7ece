/** What a daemon says of one limit when it asks for its share. */
export interface LimitReport {
  /** Calls a window that all members may make together. */
  readonly calls: number
  /** How long after its holder's lease a call may still count at the exchange, ms: the window and a late request. */
  readonly lockMs: number
  /** Calls a window that the member holds, or that still count for it where those are more. */
  readonly held: number
  /** Calls a window that it could use. */
  readonly need: number
}

export interface ShareReport {
  readonly id: string
  /** Grows with each report: one that comes later than its successor is refused. */
  readonly sequence: number
  /** Server's time, ms: one that is carried out later is refused. */
  readonly notAfter: number
  readonly lastingMs: number
  /** How late a report may be carried out after it was sent, ms. */
  readonly slackMs: number
  /** Daemons that run at a time, at most. */
  readonly members: number
  readonly isLeaving: boolean
  /** It has made no call yet. What it held before it was started is held by what it was then. */
  readonly isNew: boolean
  readonly limits: readonly LimitReport[]
}

export interface ShareAnswer {
  /** `late`: nothing was changed. `full`: there are as many members already. `differs`: others have other limits. */
  readonly kind: 'granted' | 'late' | 'full' | 'differs'
  /** Server's time, ms. */
  readonly now: number
  readonly live?: number
  readonly limits?: readonly { readonly held: number; readonly target: number }[]
}

/** What of its even share no member lends, so that it is there without asking anybody. */
export const KEPT_SHARE = 0.5

/**
 * Shares each limit among its members. One key holds everything, so that nothing is lost but all of it; then, and
 * when the server is another one than before, whoever lent and borrowed is unknown: nothing is granted until every
 * lease from before is over.
 *
 * A member that is gone keeps what it held (its even share at least) until no call of it can count any more. The even
 * share of one that is not there is never lent: it may be calling, cut off from here.
 *
 * KEYS[1] the key; ARGV[1] a report; ARGV[2], ARGV[3] in tests, the time in ms and the name of the server.
 */
export const SHARE_SCRIPT = `
local q = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = tonumber(ARGV[2]) or (t[1] * 1000 + math.floor(t[2] / 1000))
local run = ARGV[3] or string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if now > q.notAfter then return cjson.encode({kind = 'late', now = now}) end
local terms = tostring(q.members)
local lock = 0
for _, l in ipairs(q.limits) do
  terms = terms .. ' ' .. l.calls
  lock = math.max(lock, l.lockMs)
end
local raw = redis.call('GET', KEYS[1])
local s = raw and cjson.decode(raw)
local function liveBeside()
  local n = 0
  for id, m in pairs(s.who) do if id ~= q.id and m.ends > now then n = n + 1 end end
  return n
end
if s and s.terms ~= terms and liveBeside() > 0 then return cjson.encode({kind = 'differs', now = now}) end
if not s or s.run ~= run or s.terms ~= terms or now < s.at or now - s.at > q.lastingMs then
  s = {run = run, terms = terms, born = now, who = {}}
end
s.at = now
local me = s.who[q.id]
if me and q.sequence <= me.sequence then return cjson.encode({kind = 'late', now = now}) end
local live = liveBeside()
if live >= q.members then return cjson.encode({kind = 'full', now = now}) end
for id, m in pairs(s.who) do if now > m.ends + lock then s.who[id] = nil end end
me = {sequence = q.sequence, ends = q.isLeaving and now or now + q.lastingMs, held = {}, need = {}}
s.who[q.id] = me
if not q.isLeaving then live = live + 1 end
local order = {}
for id, m in pairs(s.who) do if m.ends > now then table.insert(order, id) end end
table.sort(order)
-- What cannot be divided goes from one to the next.
for _ = 1, math.floor(now / 5000) % math.max(1, #order) do table.insert(order, table.remove(order, 1)) end
local answer = {}
for j, l in ipairs(q.limits) do
  local isSettled = now >= s.born + q.lastingMs + q.slackMs + l.lockMs
  if q.isNew and isSettled then l.held = 0 end
  me.held[j] = l.held
  me.need[j] = l.need
  local even = math.floor(l.calls / q.members)
  local locked, ghosts, others = 0, 0, 0
  for id, m in pairs(s.who) do
    if m.ends <= now then
      if now <= m.ends + l.lockMs then
        ghosts = ghosts + 1
        locked = locked + math.max(even, m.held[j])
      end
    elseif id ~= q.id then others = others + m.held[j] end
  end
  locked = locked + math.max(0, q.members - live - ghosts) * even
  local left = l.calls - locked
  local target = {}
  for _, id in ipairs(order) do
    target[id] = math.ceil(even * ${KEPT_SHARE})
    left = left - target[id]
  end
  local unit = math.max(1, math.floor(l.calls / 100))
  -- First what is needed, evenly; then what is one's own; then the rest, for who needs it next.
  local function fill(bound)
    while left > 0 do
      local least
      for _, id in ipairs(order) do
        if target[id] < bound(id) and (not least or target[id] < target[least]) then least = id end
      end
      if not least then return end
      local step = math.min(unit, left, bound(least) - target[least])
      target[least] = target[least] + step
      left = left - step
    end
  end
  fill(function(id) return math.min(l.calls, s.who[id].need[j]) end)
  fill(function() return even end)
  fill(function() return l.calls end)
  local grant = 0
  if not q.isLeaving and isSettled then
    grant = math.max(0, math.min(target[q.id] - l.held, l.calls - locked - others - l.held))
  end
  me.held[j] = l.held + grant
  answer[j] = {held = me.held[j], target = target[q.id] or 0}
end
redis.call('SET', KEYS[1], cjson.encode(s))
return cjson.encode({kind = 'granted', now = now, live = live, limits = answer})
`
