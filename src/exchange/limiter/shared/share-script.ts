export interface LimitReport {
  readonly calls: number
  /**
   * A call may still count for so long after its holder's lease: for the window and a late request.
   */
  readonly lockMs: number
  readonly held: number
  readonly need: number
}

export interface ShareReport {
  readonly id: string
  /** Grows with each report: one that arrives after its successor is refused. */
  readonly sequence: number
  /** Server's time at which the member certainly ran. */
  readonly sentAt: number
  /** Server's time: later execution is refused. */
  readonly notAfter: number
  readonly lastingMs: number
  readonly slackMs: number
  readonly members: number
  readonly isLeaving: boolean
  /** No call was made yet. Calls of the previous run are held under its own id. */
  readonly isNew: boolean
  readonly limits: readonly LimitReport[]
}

export interface ShareAnswer {
  /**
   * `late`: nothing was changed. `full`: no room for another member. `differs`: others have other
   * limits.
   */
  readonly kind: 'granted' | 'late' | 'full' | 'differs'
  readonly now: number
  readonly live?: number
  readonly limits?: readonly {
    readonly held: number
    readonly target: number
    /** Calls of gone members may still count. */
    readonly gone: number
  }[]
}

/** A member keeps this part of its even share, available without asking. */
export const KEPT_SHARE = 0.5
/**
 * A daemon that is killed again and again locks what it held each time. These calls, lent in small
 * parts to a member without any, then still let it cancel.
 */
const SPARE_SHARE = 0.01
const SPARE_PART = 10

/**
 * Divides each limit among its members (docs/limits.md, "Shared with other daemons"). One key holds
 * everything, so data is lost only as a whole. A gone member counts as a daemon that is not known
 * here once its lock is over.
 *
 * KEYS[1] the key; ARGV[1] a report; ARGV[2], ARGV[3] in tests, the time in ms and the name of the
 * server.
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
me = {
  sequence = q.sequence, ends = q.isLeaving and now or now + q.lastingMs, held = {}, need = {},
  first = me and me.first or q.sentAt,
  -- One that leaves may run beside the one that takes its place, for a moment.
  last = q.isLeaving and me and me.last or q.sentAt
}
s.who[q.id] = me
if not q.isLeaving then live = live + 1 end
local order, gone = {}, {}
for id, m in pairs(s.who) do
  if m.ends > now then table.insert(order, id) else table.insert(gone, m) end
end
table.sort(order)
-- In the order in which their locks end.
table.sort(gone, function(a, b) return a.ends < b.ends end)
-- How many can run of whom nothing is known, when the locks of all before that place are over: of those that are
-- left, and those that are live, the most that ran at one time are known.
local silent = {}
for place = 1, #gone + 1 do silent[place] = q.members end
local function ranAt(m, at) return m.last and m.first <= at and at <= m.last end
local function look(one, own)
  -- A version before this has said nothing of it.
  if not one.last then return end
  local n = 0
  for _, id in ipairs(order) do if ranAt(s.who[id], one.last) then n = n + 1 end end
  for place = #gone + 1, 1, -1 do
    if gone[place] and ranAt(gone[place], one.last) then n = n + 1 end
    if place <= own then silent[place] = math.max(0, math.min(silent[place], q.members - n)) end
  end
end
for _, id in ipairs(order) do look(s.who[id], #gone + 1) end
for place, one in ipairs(gone) do look(one, place) end
-- What cannot be divided goes from one to the next.
for _ = 1, math.floor(now / 5000) % math.max(1, #order) do table.insert(order, table.remove(order, 1)) end
local answer = {}
for j, l in ipairs(q.limits) do
  local isSettled = now >= s.born + q.lastingMs + q.slackMs + l.lockMs
  if q.isNew and isSettled then l.held = 0 end
  me.held[j] = l.held
  me.need[j] = l.need
  local even = math.floor(l.calls / q.members)
  local others = 0
  for _, id in ipairs(order) do if id ~= q.id then others = others + s.who[id].held[j] end end
  -- The most that it comes to, now and as one lock after the other ends: what is lent is not back at once.
  local locked, held = silent[#gone + 1] * even, 0
  for place = #gone, 1, -1 do
    if now > gone[place].ends + l.lockMs then break end
    held = held + gone[place].held[j]
    locked = math.max(locked, held + silent[place] * even)
  end
  local spare = math.floor(l.calls * ${SPARE_SHARE})
  if spare < ${SPARE_PART} then spare = 0 end
  local left = l.calls - locked - spare
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
    local room = l.calls - locked - others - l.held
    grant = math.max(0, math.min(target[q.id] - l.held, room - spare))
    if spare > 0 then grant = math.max(grant, math.min(${SPARE_PART} - l.held, room)) end
  end
  me.held[j] = l.held + grant
  answer[j] = {held = me.held[j], target = target[q.id] or 0, gone = held}
end
redis.call('SET', KEYS[1], cjson.encode(s))
return cjson.encode({kind = 'granted', now = now, live = live, limits = answer})
`
