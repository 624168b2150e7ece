import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AlertRule } from '../../src/alerts/rules/alert-rule.ts'
import { ALERT_TABLE } from '../../src/alerts/rules/alert-table.ts'
import { LOG_EVENTS, type LogEvent } from '../../src/domain/log-events.ts'
import { listLoggingSources } from '../docs/event-docs.ts'
import { readLogCalls } from '../docs/log-calls.ts'

const rules = Object.entries(ALERT_TABLE).flatMap(([event, rule]) =>
  rule === 'silent' ? [] : [[event as LogEvent, rule] as const],
)
const uses = readLogCalls(listLoggingSources())

/** Every field that the log has for an event. */
function fieldsOf(event: LogEvent): readonly string[] {
  const own = uses.filter((call) => call.uses.some((use) => use.event === event))
  return [...new Set(own.flatMap(({ fields }) => fields))]
}

test('the table has a line for every log event, and for nothing else', () => {
  expect(Object.keys(ALERT_TABLE).toSorted()).toEqual(Object.keys(LOG_EVENTS).toSorted())
})

test('keys that are refused are looked at by the command that shows them to the exchange', () => {
  const rule = ALERT_TABLE['account.refused']

  expect(rule !== 'silent' && rule.command?.({})).toBe('doctor')
})

test('what is logged as an error or fatal is an alert; only a defect of the alerts themselves is not', () => {
  const errors = uses
    .flatMap((call) => call.uses)
    .filter(({ levels }) => levels.includes('error') || levels.includes('fatal'))
    .map(({ event }) => event)

  expect(errors.length).toBeGreaterThan(10)
  expect([...new Set(errors)].filter((event) => ALERT_TABLE[event] === 'silent')).toEqual([
    'alert.broken',
  ])
})

test.each(rules)('%s: what its alert speaks of are fields of its line', (event, rule) => {
  const known = fieldsOf(event)
  const asked = new Set<string>(rule.by)
  const facts = new Proxy<Record<string, unknown>>(
    {},
    { get: (_target, name) => (asked.add(String(name)), 'x') },
  )

  const texts = [
    rule.title(facts),
    rule.command?.(facts),
    urgencyOf(rule, facts),
    rule.when?.(facts),
  ]

  expect(String(texts[0])).toMatch(/^[^.]{10,}[^.]$/)
  expect([...asked].filter((name) => !known.includes(name))).toEqual([])
})

test.each(rules.filter(([, { endedBy }]) => endedBy))(
  '%s ends by the same fields',
  (_event, { endedBy, by }) => {
    expect(by.filter((name) => endedBy && !fieldsOf(endedBy).includes(name))).toEqual([])
  },
)

const PARAGRAPHS = readFileSync(join(import.meta.dirname, '../../docs/alerts.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\*\*(?:urgent|warning|info)\*\*/.test(line))

test.each(rules)('%s stands in docs/alerts.md under its urgency', (event, { urgency }) => {
  const named = PARAGRAPHS.filter((line) => line.includes(`\`${event}\``))
  const under = named.map((line) => /\w+/.exec(line)?.[0])

  if (typeof urgency === 'function')
    expect(under, `name ${event} under each of its urgencies`).not.toEqual([])
  else expect(under, `name ${event} under **${urgency}** in docs/alerts.md`).toEqual([urgency])
})

test('each row of what the operator sees names a test that is there, and events that are', () => {
  const root = join(import.meta.dirname, '../..')
  const text = readFileSync(join(root, 'docs/alerts.md'), 'utf8')
  const rows = [...text.matchAll(/^\|(.*)\| `(test\/[\w./-]+\.test\.ts)`: (.+) \|$/gm)]

  expect(rows).toHaveLength(11)
  for (const [, words = '', file = '', title = ''] of rows) {
    expect(readFileSync(join(root, file), 'utf8')).toContain(title)
    const events = [...words.matchAll(/`([a-z]+\.[a-zA-Z]+)`/g)].map(([, name = '']) => name)
    const settings = [
      'supervision.hungAfterMs',
      'alerts.lastingMs',
      'risk.dataAgeMaxMs',
      'exchange.requestTimeoutMs',
      'polling.positionsMs',
    ]
    const unknown = events.filter((name) => !(name in LOG_EVENTS) && !settings.includes(name))
    expect(unknown).toEqual([])
  }
})

function urgencyOf({ urgency }: AlertRule, facts: Readonly<Record<string, unknown>>): string {
  return typeof urgency === 'function' ? urgency(facts) : urgency
}
