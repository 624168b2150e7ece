import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildEventDocs, listLoggingSources } from './event-docs.ts'
import { readLogCalls } from './log-calls.ts'
import { LOG_EVENTS } from '../../src/domain/log-events.ts'

const EVENT_DOCS = buildEventDocs()
const FILE = join(import.meta.dirname, '../../docs/log-events.md')

describe('docs/log-events.md', () => {
  it('is what the table and the sources say today: `npm run docs` writes it anew', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(EVENT_DOCS)
  })

  it('has a level for every event, and no field without a name', () => {
    const rows = EVENT_DOCS.split('\n').filter((line) => line.startsWith('| `'))
    expect(rows).toHaveLength(Object.keys(LOG_EVENTS).length)
    for (const row of rows) {
      expect(row).toMatch(
        /^\| `[a-zA-Z]+\.[a-zA-Z]+` \| (?:debug|info|warn|error|fatal)[a-z, ]* \| [^|]+\. \| [^|]* \|$/,
      )
      expect(row).not.toContain('``')
    }
  })
})

describe('the table of log events', () => {
  it('holds every event that is logged, and none that is not', () => {
    const used = readLogCalls(listLoggingSources()).flatMap(({ uses }) =>
      uses.map(({ event }) => event),
    )
    expect(
      [...new Set(used)].toSorted(),
      'a line that is missing is logged by nobody: log it, or take it out of LOG_EVENTS',
    ).toEqual(Object.keys(LOG_EVENTS).toSorted())
  })

  it('is read from a call with everything that such a call may have', () => {
    const source = `
      const LEVELS = { accepted: 'info', rejected: 'warn' }
      const named = key === undefined ? {} : { key }
      announce(core, LEVELS[outcome], \`order.\${outcome}\`, { symbol, ...(isOdd ? {} : { code, text: f(a, b) }) })
      announce(core, foreign ? 'error' : 'info', foreign ? 'fill.foreign' : 'order.fill', { ticks: 1, ...named })
    `
    const [first, second] = readLogCalls(new Map([['engine/made.ts', source]]))

    expect(first?.uses.find(({ event }) => event === 'order.accepted')?.levels).toEqual(['info'])
    expect(first?.uses.find(({ event }) => event === 'order.rejected')?.levels).toEqual(['warn'])
    expect(first?.fields).toEqual(['symbol', 'code', 'text'])
    expect(second?.uses).toEqual([
      { event: 'fill.foreign', levels: ['error'] },
      { event: 'order.fill', levels: ['info'] },
    ])
    expect(second?.fields).toEqual(['ticks', 'key'])
  })
})
