import { expect, test } from 'vitest'
import { type Instrument } from '../../../src/domain/instrument.ts'
import { type Snapshot } from '../../../src/domain/snapshot.ts'
import { ShownMoment } from '../../../src/strategy/isolation/shown-moment.ts'
import {
  HEADER_LENGTH,
  type Question,
  ROW_LENGTH,
  type StrategyThreadData,
  toCrossingInstrument,
} from '../../../src/strategy/isolation/thread-messages.ts'
import { MomentWriter } from '../../../src/strategy/isolation/write-moment.ts'
import { holdingOf, madeInstrument, madeSnapshot } from '../../support/market-moment.ts'

const FIXED = madeInstrument()
const MEMBERS_MAX = 2
const MARKET = { at: 60_000, count: 600, advance: 200, decline: 390, medianChange: -0.02 }

/** Both ends over one shared memory, with the copy that a message makes. */
class Pair {
  readonly numbers = new SharedArrayBuffer(8 * (HEADER_LENGTH + (1 + MEMBERS_MAX) * ROW_LENGTH))
  readonly writer = new MomentWriter(this.numbers, [FIXED.symbol], [])
  shown = this.#open()
  last: Question | undefined

  #open(): ShownMoment {
    const instruments = [toCrossingInstrument(FIXED)]
    return new ShownMoment({
      numbers: this.numbers,
      instruments,
      membersMax: MEMBERS_MAX,
    } as unknown as StrategyThreadData)
  }

  restart(): void {
    this.writer.forget()
    this.shown = this.#open()
  }

  cross(snapshot: Snapshot): Snapshot {
    this.last = this.writer.write(snapshot)
    this.shown.take(structuredClone(this.last) ?? {})
    return this.shown.snapshot()
  }
}

const member = (symbol: string): Instrument => madeInstrument({ symbol, tick: '0.01' })
const rowsOf = (...instruments: readonly Instrument[]) =>
  instruments.map((instrument, index) => ({
    instrument,
    bid: 100 + index,
    holding: holdingOf(index),
  }))

function describe({ instruments, tickers }: Snapshot): readonly string[] {
  return instruments.map(
    ({ instrument: { symbol }, holding }) =>
      `${symbol} ${tickers.read(symbol, 'bidPr')} ${holding.longLots}`,
  )
}

test('members that come, go and come again are shown in their order, with their own prices', () => {
  const pair = new Pair()
  const [ada, bnb, sol] = ['ADAUSDT', 'BNBUSDT', 'SOLUSDT'].map(member) as [
    Instrument,
    Instrument,
    Instrument,
  ]
  for (const shown of [
    [FIXED],
    [FIXED, ada],
    [FIXED, ada, bnb],
    // Its place is taken by the next one.
    [FIXED, bnb, sol],
    [FIXED, sol, bnb],
    [FIXED],
    [FIXED, ada],
  ]) {
    const snapshot = madeSnapshot(rowsOf(...shown))
    expect(describe(pair.cross(snapshot))).toEqual(describe(snapshot))
  }
})

test('a member that returns under other rules is another instrument, also to a new thread', () => {
  const pair = new Pair()
  pair.cross(madeSnapshot(rowsOf(FIXED, member('ADAUSDT'))))
  const finer = madeInstrument({ symbol: 'ADAUSDT', tick: '0.001' })

  const again = pair.cross(madeSnapshot(rowsOf(FIXED, finer)))
  expect(again.instruments[1]?.instrument.tick.step).toBe('0.001')
  expect(pair.cross(madeSnapshot(rowsOf(FIXED, finer))).instruments).toHaveLength(2)

  pair.restart()
  expect(describe(pair.cross(madeSnapshot(rowsOf(FIXED, finer))))).toEqual([
    'BTCUSDT 100 0',
    'ADAUSDT 101 1',
  ])
})

test('more than there is room for are refused by a sentence', () => {
  const pair = new Pair()
  const four = rowsOf(FIXED, ...['A', 'B', 'C'].map((name) => member(`${name}USDT`)))
  expect(() => pair.cross(madeSnapshot(four))).toThrow(/shown more than 3 instruments/)
})

test('aggregates of the market cross when they are counted anew, and end', () => {
  const pair = new Pair()
  const snapshot = madeSnapshot(rowsOf(FIXED))

  expect(pair.cross({ ...snapshot, market: MARKET }).market).toEqual(MARKET)
  expect(pair.cross({ ...snapshot, market: MARKET }).market).toEqual(MARKET)
  expect(pair.last).toBeUndefined()
  expect(pair.cross(snapshot).market).toBeUndefined()
})
