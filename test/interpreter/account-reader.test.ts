import { beforeEach, expect, test } from 'vitest'
import { type Answer, type RefusedAnswer } from '../../src/domain/answer.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { AccountReader } from '../../src/interpreter/account-reader.ts'

/** What was asked of the exchange, the oldest first, and how each is answered. */
let asked: string[]
let answers: Map<string, () => void>
let heard: string[]
let departed: Set<string>
let reader: AccountReader

const REFUSED: RefusedAnswer = {
  kind: 'refused',
  class: 'definite',
  code: 'X',
  message: 'no',
  status: 400,
  topic: 'other',
  receivedAt: 0,
}
const FAILED: Answer<never> = { ...REFUSED, class: 'retry' }
const SYMBOLS = Array.from({ length: 13 }, (_, index) => `S${index}`)

beforeEach(() => {
  ;[asked, answers, heard, departed] = [[], new Map(), [], new Set()]
  const ask = (what: string, end: () => void): void => {
    asked.push(what)
    answers.set(what, end)
  }
  reader = new AccountReader({
    exchange: {
      readFills: (sinceAt, onAnswer) => ask(`fills ${sinceAt}`, () => onAnswer(FAILED)),
      readPosition: (symbol, onAnswer) => ask(symbol, () => onAnswer(FAILED)),
    },
    dispatch: (event: EngineEvent) =>
      heard.push(event.kind === 'readFailed' ? event.what : event.kind),
    isTraded: (symbol) => !departed.has(symbol),
    now: () => 0,
  })
})

function answer(what: string): void {
  answers.get(what)?.()
}

test('ten positions are on the wire at most; the others stand in line, each once, what is urgent first', () => {
  for (const symbol of SYMBOLS) reader.readPosition(symbol, false)
  for (const symbol of SYMBOLS) reader.readPosition(symbol, false)
  expect(asked).toEqual(SYMBOLS.slice(0, 10))

  reader.readPosition('S12', true)
  answer('S3')
  answer('S4')

  expect(asked.slice(10)).toEqual(['S12', 'S10'])
  expect(heard).toEqual(['position S3', 'position S4'])
})

test('what is urgent and on the wire is read once more; what is asked for in its turn is being read', () => {
  for (const symbol of SYMBOLS.slice(0, 11)) reader.readPosition(symbol, false)
  reader.readPosition('S0', true)
  reader.readPosition('S0', false)
  reader.readPosition('S1', false)

  answer('S0')
  answer('S1')
  answer('S2')

  expect(asked.slice(10)).toEqual(['S0', 'S10'])
})

test('a position that waits is not read once its instrument has left, and the next one is', () => {
  for (const symbol of SYMBOLS) reader.readPosition(symbol, symbol === 'S11')
  departed = new Set(['S10', 'S11'])
  answer('S0')
  answer('S1')

  expect(asked.slice(10)).toEqual(['S12'])
})

test('fills are read once at a time, and once more from the earlier of the starts', () => {
  reader.readFills(500)
  reader.readFills(400)
  reader.readFills(300)
  reader.readFills(450)
  answer('fills 500')
  answer('fills 300')

  expect(asked).toEqual(['fills 500', 'fills 300'])
})

const FORBIDDEN = { kind: 'unknown', cause: 'unreadable', status: 403 } as const

test.each([
  ['refused for good', REFUSED, true],
  ['refused for now', { ...REFUSED, class: 'retry' }, undefined],
  ['answered 403 in front of the exchange: that says nothing of the account', FORBIDDEN, undefined],
  ['lost', { kind: 'unknown', cause: 'timeout', status: undefined }, undefined],
] as const)('a read that is %s says so to the core', (_, answered, isRefused) => {
  const events: EngineEvent[] = []
  const reading = new AccountReader({
    exchange: {
      readFills: (_sinceAt, onAnswer) => onAnswer(answered as Answer<never>),
      readPosition: () => undefined,
    },
    dispatch: (event) => events.push(event),
    isTraded: () => true,
    now: () => 0,
  })

  reading.readFills(0)

  expect(events.map((event) => event.kind === 'readFailed' && event.isRefused)).toEqual([isRefused])
})

test('what stands in line when a run has stopped is not read any more', () => {
  for (const symbol of SYMBOLS) reader.readPosition(symbol, false)
  reader.readFills(500)
  reader.readFills(400)
  reader.stop()
  for (const what of Array.from(asked)) answer(what)

  expect(asked).toEqual([...SYMBOLS.slice(0, 10), 'fills 500'])
})
