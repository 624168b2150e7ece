import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer } from '../../src/domain/answer.ts'
import { AccountReader } from '../../src/interpreter/account-reader.ts'
import { ManualTime } from '../support/manual-time.ts'

const REFUSED: Answer<never> = {
  kind: 'refused',
  class: 'definite',
  topic: 'auth',
  code: '40018',
  message: 'Invalid IP',
  status: 400,
  receivedAt: 0,
}
const PAGE: Answer<never> = {
  kind: 'unknown',
  cause: 'unreadable',
  code: 'HTTP_403',
  message: '',
  status: 403,
  receivedAt: 0,
}
const REMOVED: Answer<never> = { ...REFUSED, topic: 'symbol', code: '40309' }
const ACCEPTED = { kind: 'accepted', data: {}, receivedAt: 0 } as Answer<never>

let time: ManualTime
let reader: AccountReader
/** What the exchange was asked for, with the second. */
let asked: string[]
/** By read; absent: accepted. */
let answers: Map<string, Answer<never>>
let latencyMs: number

beforeEach(() => {
  time = new ManualTime(0)
  ;[asked, answers, latencyMs] = [[], new Map(), 0]
  const ask = (read: string, onAnswer: (answer: Answer<never>) => void): void => {
    asked.push(`${read} ${time.monotonic() / 1000}`)
    const answer = answers.get(read) ?? ACCEPTED
    if (latencyMs === 0) onAnswer(answer)
    else time.after(latencyMs, () => onAnswer(answer))
  }
  reader = new AccountReader({
    exchange: {
      readFills: (_, onAnswer) => ask('fills', onAnswer),
      readPosition: (symbol, onAnswer) => ask(symbol, onAnswer),
    },
    dispatch: () => undefined,
    isTraded: () => true,
    now: () => time.monotonic(),
  })
})

/** Fills are due twice a second, positions once, and time passes as the daemon tells it. */
async function poll(seconds: number, symbols: readonly string[]): Promise<void> {
  for (let tenth = 0; tenth < seconds * 10; tenth++) {
    if (tenth % 5 === 0) reader.readFills(0)
    if (tenth % 10 === 0) for (const symbol of symbols) reader.readPosition(symbol, false)
    reader.resume()
    await time.pass(100)
  }
}

const askedFor = (read: string): readonly number[] =>
  asked.flatMap((one) => (one.startsWith(`${read} `) ? [Number(one.split(' ')[1])] : []))

describe('a read that is refused for good', () => {
  test.each([
    ['by its address', REFUSED],
    ['by a page', PAGE],
  ])('%s is asked for again after 1, 2, 4 … s, 16 at most', async (_, refusal) => {
    answers.set('fills', refusal)

    await poll(70, [])

    expect(askedFor('fills')).toEqual([0, 1, 3, 7, 15, 31, 47, 63])
  })

  test('once is read again after a second, as often as before', async () => {
    answers.set('fills', REFUSED)
    reader.readFills(0)
    answers.clear()

    await poll(3, [])

    expect(askedFor('fills')).toEqual([0, 1, 1.5, 2, 2.5])
  })

  test('stops no other, and others that are accepted let it ask each second', async () => {
    answers.set('fills', REFUSED)

    await poll(6, ['BTCUSDT'])

    expect(askedFor('BTCUSDT')).toEqual([0, 1, 2, 3, 4, 5])
    const pauses = askedFor('fills')
      .slice(1)
      .map((at, index) => at - (askedFor('fills')[index] ?? 0))
    expect(askedFor('fills').length).toBeGreaterThan(5)
    expect(Math.min(...pauses.slice(1))).toBeGreaterThanOrEqual(1)
  })

  test('because its symbol was removed waits ever longer, whatever is accepted, and slows nothing', async () => {
    const symbols = Array.from({ length: 20 }, (_, index) => `S${index}`)
    answers.set('S3', REMOVED)

    await poll(20, symbols)

    expect(askedFor('S3')).toEqual([0, 1, 3, 7, 15])
    for (const symbol of symbols) if (symbol !== 'S3') expect(askedFor(symbol)).toHaveLength(20)
    expect(askedFor('fills')).toHaveLength(40)
  })
})

describe('an accepted private call', () => {
  test('ends the pause at once', async () => {
    for (const read of ['fills', 'BTCUSDT']) answers.set(read, REFUSED)
    await poll(17, ['BTCUSDT'])
    const before = asked.length

    answers.clear()
    reader.noteAccepted()

    expect(asked.slice(before)).toEqual(['fills 17', 'BTCUSDT 17'])
  })

  test('lets a read that had left before begin no long pause', async () => {
    answers.set('fills', REFUSED)
    await poll(14.9, [])
    latencyMs = 500
    await poll(0.3, [])
    expect(askedFor('fills').at(-1)).toBe(15)

    reader.noteAccepted()
    await poll(2, [])

    expect(askedFor('fills').at(-1)).toBe(16.5)
  })
})

describe('keys that are refused with many instruments', () => {
  const symbols = Array.from({ length: 40 }, (_, index) => `S${index}`)

  test('are shown to the exchange by one read at a time, in turn', async () => {
    for (const read of ['fills', ...symbols]) answers.set(read, REFUSED)
    latencyMs = 50

    await poll(120, symbols)

    const later = asked.filter((one) => Number(one.split(' ')[1]) >= 1)
    expect(later.length).toBeLessThan(14)
    expect(new Set(later.map((one) => one.split(' ')[0])).size).toBe(later.length)
  })

  test('are all read again as soon as one read is accepted', async () => {
    for (const read of ['fills', ...symbols]) answers.set(read, REFUSED)
    latencyMs = 50
    await poll(30, symbols)
    answers.clear()
    const before = asked.length

    await poll(20, symbols)

    const first = asked.slice(before)
    const firstAt = Number(first[0]?.split(' ')[1])
    const within = new Set(
      first.flatMap((one) => {
        const [read = '', at = ''] = one.split(' ')
        return Number(at) <= firstAt + 1 ? [read] : []
      }),
    )
    expect(within.size).toBe(41)
  })
})
