import { LOG_EVENTS, type LogEvent } from '../../domain/log-events.ts'
import type { Alert } from '../alert.ts'
import type { AlertRule } from './alert-rule.ts'
import { ALERT_TABLE } from './alert-table.ts'
import { BoundedMap } from './bounded-map.ts'
import { type LogFacts, showFact } from './facts.ts'
import { Repeats } from './repeats.ts'

export interface RuleSettings {
  /** Within this time equal alerts are counted. */
  readonly repeatMs: number
  /** Trouble that may end by itself is an alert after this time. */
  readonly lastingMs: number
  /** A counted event is an alert from this many within `repeatMs`. */
  readonly repeatsMin: number
}

const FOLLOWED_MAX = 500

const LINES_MAX = 12

interface LastingTrouble {
  readonly alert: Alert
  readonly dueAt: number
  readonly isSent: boolean
}

interface CountedEvents {
  readonly times: number
  readonly untilAt: number
}

const ENDS: ReadonlyMap<LogEvent | undefined, readonly (readonly [LogEvent, AlertRule])[]> =
  Map.groupBy(
    Object.entries(ALERT_TABLE).flatMap(([event, rule]) =>
      rule === 'silent' || rule.endedBy === undefined ? [] : [[event as LogEvent, rule] as const],
    ),
    ([, { endedBy }]) => endedBy,
  )

/**
 * At once, when trouble lasts, or when it repeats; equal ones once within a time. Memory is
 * bounded.
 */
export class AlertRules {
  readonly #settings: RuleSettings
  readonly #repeats: Repeats
  readonly #turns = new MatterSides()
  readonly #lasting = new BoundedMap<LastingTrouble>(FOLLOWED_MAX)
  readonly #counted = new BoundedMap<CountedEvents>(FOLLOWED_MAX)

  constructor(settings: RuleSettings) {
    this.#settings = settings
    this.#repeats = new Repeats(settings.repeatMs)
  }

  hear(event: LogEvent, facts: LogFacts, now: number): readonly Alert[] {
    const ended = ENDS.get(event)
    if (ended !== undefined)
      return ended.flatMap(([one, rule]) => this.#end(keyOf(one, rule, facts), now))
    const rule = ALERT_TABLE[event]
    if (rule === 'silent' || rule.when?.(facts) === false) return []
    this.#turn(event, facts, now)
    if (rule.counted && !this.#isOften(keyOf(event, rule, facts), now)) return []
    const alert = buildAlert({ event, rule, facts, at: now })
    return rule.endedBy === undefined ? this.#pass([alert], now) : this.#follow(alert, rule, now)
  }

  due(now: number): readonly Alert[] {
    const overdue = this.#lasting.list(({ dueAt, isSent }) => !isSent && dueAt <= now)
    for (const [key, lasting] of overdue) this.#lasting.set(key, { ...lasting, isSent: true })
    const alerts = overdue.map(([, { alert }]) => alert)
    return [...this.#repeats.due(now), ...this.#pass(alerts, now)]
  }

  flush(): readonly Alert[] {
    return this.#repeats.due(Number.POSITIVE_INFINITY)
  }

  #pass(alerts: readonly Alert[], now: number): readonly Alert[] {
    return alerts.flatMap((alert) => this.#repeats.pass(alert, now) ?? [])
  }

  /** An alert is news again if its opposite happened in between. */
  #turn(event: LogEvent, facts: LogFacts, now: number): void {
    for (const { own, other, isVolatile } of this.#turns.take(event, facts)) {
      if (!isVolatile) {
        this.#repeats.forget(own)
        continue
      }
      this.#repeats.drop(other)
      this.#repeats.hasten(own, now + this.#settings.lastingMs)
    }
  }

  #follow(alert: Alert, { atOnce }: AlertRule, now: number): readonly Alert[] {
    const known = this.#lasting.get(alert.key)
    const isSent = known?.isSent ?? atOnce === true
    if (!known)
      this.#lasting.set(alert.key, { alert, dueAt: now + this.#settings.lastingMs, isSent })
    return isSent ? this.#pass([alert], now) : []
  }

  #end(key: string, now: number): readonly Alert[] {
    const known = this.#lasting.get(key)
    this.#lasting.delete(key)
    if (known?.isSent !== true) return []
    this.#repeats.forget([key])
    const seconds = Math.round((now - known.alert.at) / 1000)
    const over = {
      ...known.alert,
      key: `${key} over`,
      urgency: 'info',
      lines: [],
      command: undefined,
      at: now,
    } as const
    return this.#pass([{ ...over, title: `over after ${seconds} s: ${known.alert.title}` }], now)
  }

  #isOften(key: string, now: number): boolean {
    const { repeatMs, repeatsMin } = this.#settings
    const known = this.#counted.get(key)
    const isCurrent = known !== undefined && known.untilAt > now
    const counted = isCurrent
      ? { ...known, times: known.times + 1 }
      : { times: 1, untilAt: now + repeatMs }
    this.#counted.set(key, counted)
    return counted.times >= repeatsMin
  }
}

function keyOf(event: LogEvent, { by }: AlertRule, facts: LogFacts): string {
  const names = facts['account'] === undefined ? by : [...by, 'account']
  return [event, ...names.map((name) => showFact(facts[name]))].join(' ')
}

interface RuleEvent {
  readonly event: LogEvent
  readonly rule: AlertRule
  readonly facts: LogFacts
  readonly at: number
}

function buildAlert({ event, rule, facts, at }: RuleEvent): Alert {
  const lines = Object.entries(facts)
    .map(([name, fact]) => [name, showFact(fact)] as const)
    .filter(([name, text]) => text !== '' && name !== 'stack')
    .slice(0, LINES_MAX)
    .map(([name, text]) => `${name}: ${text}`)
  return {
    event,
    key: keyOf(event, rule, facts),
    urgency: typeof rule.urgency === 'function' ? rule.urgency(facts) : rule.urgency,
    title: rule.title(facts),
    lines: [...lines, LOG_EVENTS[event]],
    command: rule.command?.(facts),
    account: facts['account'] === undefined ? undefined : showFact(facts['account']),
    at,
    repeats: 0,
  }
}

/** They reverse each other: hearing only the first of a day would mislead. */
interface Matter {
  readonly begins: readonly LogEvent[]
  readonly ends: readonly LogEvent[]
  /** It comes first in `by` of each rule. */
  readonly by: readonly string[]
  /** Only lasting trouble is news within a repeat's time. */
  readonly isVolatile?: true
}

interface MatterChange {
  readonly own: readonly string[]
  readonly other: readonly string[]
  readonly isVolatile: boolean
}

const MATTERS: readonly Matter[] = [
  {
    begins: ['trading.halted', 'trading.reducing', 'limits.reached', 'flatten.done'],
    ends: ['trading.released', 'flatten.dropped'],
    by: ['scope'],
  },
  { begins: ['limits.warned', 'limits.reached'], ends: ['limits.ended'], by: ['scope'] },
  {
    begins: ['flatten.slow', 'flatten.left'],
    ends: ['flatten.done', 'trading.released'],
    by: ['scope'],
  },
  { begins: ['trading.killed', 'kill.clean', 'kill.unproved'], ends: ['kill.released'], by: [] },
  { begins: ['daemon.stopped'], ends: ['daemon.running', 'daemon.killed'], by: [] },
  { begins: ['data.stale'], ends: ['data.fresh'], by: ['symbol'], isVolatile: true },
  { begins: ['exchange.silent'], ends: ['exchange.answers'], by: [], isVolatile: true },
  { begins: ['disk.low'], ends: ['disk.enough'], by: [], isVolatile: true },
]

/** Alerts are news again after the opposite. */
class MatterSides {
  readonly #sides = new BoundedMap<'begins' | 'ends'>(FOLLOWED_MAX)

  take(event: LogEvent, facts: LogFacts): readonly MatterChange[] {
    return MATTERS.flatMap((matter, index) => {
      const side = (['begins', 'ends'] as const).find((one) => matter[one].includes(event))
      if (side === undefined) return []
      const about = matter.by.map((name) => ` ${showFact(facts[name])}`).join('')
      const key = `${index}${about} ${showFact(facts['account'])}`
      const before = this.#sides.get(key)
      this.#sides.set(key, side)
      if (before === undefined || before === side) return []
      const keysOf = (one: 'begins' | 'ends') => matter[one].map((name) => `${name}${about}`)
      const { isVolatile = false } = matter
      return { own: keysOf(side), other: keysOf(side === 'begins' ? 'ends' : 'begins'), isVolatile }
    })
  }
}
