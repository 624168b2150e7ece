import { expect, test } from 'vitest'
import { type Intent } from '../../src/domain/intent.ts'
import { type StrategyKey } from '../../src/domain/record.ts'
import { applyRecord } from '../../src/engine/book/apply-record.ts'
import { createBook } from '../../src/engine/book/book.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { withUsedKeys } from '../../src/interpreter/interpreter.ts'
import { STRATEGY } from './interpreter-bench.ts'

const SYMBOL = 'BTCUSDT'
const place = (key: string): Intent => ({
  kind: 'place',
  symbol: SYMBOL,
  key,
  action: 'openLong',
  lots: 1,
})
const call = (key: string): Intent => ({ kind: 'cancelMargin', symbol: SYMBOL, key })

/** A journal that knows these keys, and what it was asked for. */
function journalOf(...known: readonly string[]) {
  const asked: string[] = []
  const usedKeys = (keys: readonly StrategyKey[]) => {
    asked.push(...keys.map(({ purpose, key }) => `${purpose} ${key}`))
    return keys.filter(({ key }) => known.includes(key)).map((key) => ({ ...key, at: 1 }))
  }
  return { asked, journal: { usedKeys } }
}

function decided(...intents: readonly Intent[]): EngineEvent {
  return { kind: 'decided', strategyId: STRATEGY, sequence: 1, intents, state: {}, denials: [] }
}

test('[ORD2] a decision carries what the journal knows of keys that the book does not hold', () => {
  const book = createBook('one_way_mode')
  const order = {
    purpose: 'place',
    strategyId: STRATEGY,
    symbol: SYMBOL,
    key: 'held',
    clientOid: 'one',
  }
  applyRecord(book, { kind: 'send', at: 1, orders: [order], again: [] } as never)
  const { asked, journal } = journalOf('old', 'done')
  const intents = [place('held'), place('old'), place('new'), call('done'), call('held')]

  const event = withUsedKeys(decided(...intents), book, journal)

  expect(asked).toEqual(['place old', 'place new', 'call done', 'call held'])
  expect(event).toMatchObject({
    intents,
    usedKeys: [
      { purpose: 'place', strategyId: STRATEGY, key: 'old' },
      { purpose: 'call', strategyId: STRATEGY, key: 'done' },
    ],
  })
  expect(withUsedKeys(event, book, journal)).toBe(event)
})

test('an event of which nothing is known stays the one that it is', () => {
  const book = createBook('one_way_mode')
  const { journal } = journalOf()

  for (const event of [decided(), decided(place('new')), { kind: 'timePassed' } as const]) {
    expect(withUsedKeys(event, book, journal)).toBe(event)
  }
})
