import { describe, expect, test } from 'vitest'
import { NOBODY } from '../../../src/domain/allocation.ts'
import type { Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toStrategyId, toTradeId } from '../../../src/domain/ids.ts'
import type { PositionMode } from '../../../src/domain/instrument.ts'
import type { OrderTerms } from '../../../src/domain/order.ts'
import { HOLD_SIDES } from '../../../src/domain/position.ts'
import type { JournalRecord } from '../../../src/domain/record.ts'
import { applyRecord } from '../../../src/engine/book/apply-record.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { type Book, createBook } from '../../../src/engine/book/book.ts'
import { applyGrids } from '../../../src/engine/book/convert-grids.ts'
import { deriveClientOid } from '../../../src/execution/batch.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { SeededDraws } from '../../support/faults/seeded-draws.ts'

const SYMBOL = 'BTCUSDT'
const AT = Date.UTC(2025, 5, 2, 6)
const OWNERS = ['a', 'b', NOBODY]
const ACTIONS = ['openLong', 'closeLong', 'openShort', 'closeShort'] as const

/** One fill, of an order that is answered before it or so many steps after it. */
interface Step {
  readonly order: OrderTerms | undefined
  readonly fill: Fill
  readonly wait: number
  /** Stops that the exchange lists afterwards. */
  readonly listed: JournalRecord | undefined
  readonly adopted: JournalRecord | undefined
}

function drawSteps(mode: PositionMode, seed: number): readonly Step[] {
  const draws = new SeededDraws(`exits-${seed}`)
  const count = draws.integer('count', 0, [3, 16])
  return Array.from({ length: count }, (_, index) => drawStep(mode, draws, index))
}

function drawStep(mode: PositionMode, draws: SeededDraws, index: number): Step {
  const owner = OWNERS[draws.integer('owner', index, [0, OWNERS.length])] ?? NOBODY
  const action = ACTIONS[draws.integer('action', index, [0, ACTIONS.length])] ?? 'openLong'
  const isBuy = action === 'openLong' || action === 'closeShort'
  const isLong = action === 'openLong' || action === 'closeLong'
  const lots = draws.integer('lots', index, [1, 5])
  const level = (name: string, ticks: number) => ticks + draws.integer(name, index, [0, 50])
  const hasStop = draws.unit('hasStop', index) < 0.6
  const hasProfit = draws.unit('hasProfit', index) < 0.3
  const holdSide = HOLD_SIDES[draws.integer('holdSide', index, [0, 2])] ?? 'long'
  const strategyId = toStrategyId(owner === NOBODY ? 'a' : owner)
  const key = String(index)
  const order: OrderTerms = {
    clientOid: deriveClientOid({ salt: 'salt', strategyId, key, generation: 0 }),
    strategyId,
    symbol: SYMBOL,
    purpose: 'place',
    key,
    generation: 0,
    action,
    lots,
    ticks: 1000,
    force: 'gtc',
    deadlineAt: AT,
    ...(hasStop && { stopLossTicks: level('stop', 900) }),
    ...(hasProfit && { takeProfitTicks: level('profit', 1100) }),
  }
  const isOneWay = mode === 'one_way_mode'
  const fill: Fill = {
    tradeId: toTradeId(`t${index}`),
    orderId: toOrderId(`o${index}`),
    symbol: SYMBOL,
    side: (isOneWay ? isBuy : isLong) ? 'buy' : 'sell',
    tradeSide: action.startsWith('open') ? 'open' : 'close',
    ticks: 1000,
    lots,
    fee: '0',
    profit: '0',
    scope: 'taker',
    source: owner === NOBODY ? 'WEB' : 'API',
    filledAt: AT + index,
  }
  const listed = [
    { kind: 'stopLoss', orderId: `s${index}`, ticks: level('listedTicks', 850) } as const,
  ]
  const at = AT + index
  const holding = { longLots: 0, shortLots: 0 }
  return {
    order: owner === NOBODY ? undefined : order,
    fill,
    wait: draws.integer('wait', index, [0, 6]),
    listed:
      draws.unit('isListed', index) < 0.25
        ? { kind: 'exitsListed', at, symbol: SYMBOL, holdSide, listed }
        : undefined,
    adopted:
      draws.unit('isAdopted', index) < 0.1
        ? { kind: 'adopt', at, symbol: SYMBOL, holding, was: holding }
        : undefined,
  }
}

function send(book: Book, { order }: Step): void {
  if (order === undefined) return
  applyRecord(book, {
    kind: 'send',
    at: AT,
    batchId: 1,
    symbol: SYMBOL,
    orders: [order],
    again: [],
    requestAt: AT,
    body: '',
    seen: {},
  } as never)
}

function answer(book: Book, { order, fill: { orderId } }: Step): void {
  if (order === undefined) return
  const { clientOid } = order
  const items = [{ clientOid, outcome: 'accepted' as const, orderId }]
  applyRecord(book, { kind: 'outcome', at: AT, batchId: 1, items })
}

/** Orders that ended are forgotten after minutes, and an operator may look after hours. */
function forgetEnded(book: Book): void {
  applyRecord(book, {
    kind: 'prune',
    at: AT,
    ordersBefore: AT + 1_000_000,
    tradesBefore: 0,
    fillsThroughAt: 0,
    keysBefore: 0,
  })
}

function read(book: Book, { fill, listed, adopted }: Step): void {
  applyRecord(book, { kind: 'fills', at: AT, fills: [fill] })
  if (listed !== undefined) applyRecord(book, listed)
  if (adopted?.kind !== 'adopt') return
  const was = book.account.get(SYMBOL) ?? adopted.was
  applyRecord(book, { ...adopted, was })
}

function answeredFirst(mode: PositionMode, steps: readonly Step[]): Book {
  const book = createBook(mode)
  for (const step of steps) send(book, step)
  for (const step of steps) answer(book, step)
  for (const step of steps) read(book, step)
  return book
}

/** The daemon begins again from its rows after every step. */
function answeredLate(mode: PositionMode, steps: readonly Step[], forgets: boolean): Book {
  let book = createBook(mode)
  for (const step of steps) send(book, step)
  for (let now = 0; now < steps.length + 6; now++) {
    const step = steps[now]
    if (step?.wait === 0) answer(book, step)
    if (step !== undefined) read(book, step)
    for (const [index, late] of steps.entries())
      if (late.wait > 0 && index + late.wait === now) answer(book, late)
    if (forgets) forgetEnded(book)
    book = fromBookRows(JSON.parse(JSON.stringify(toBookRows(book))))
  }
  return book
}

const exitsOf = ({ exits, orderedExits }: Book) => ({ exits, orderedExits })

function halveTick(book: Book): void {
  mutable(book).grids.set(SYMBOL, { tick: '1', lot: '1' })
  applyGrids(mutable(book), SYMBOL, { tick: '0.5', lot: '1' })
}

/** A long of strategy `a`. */
function placed(mode: PositionMode, index: number, hasStop: boolean): Step {
  for (let seed = 0; seed < 1000; seed++) {
    const step = drawStep(mode, new SeededDraws(`placed-${seed}`), index)
    const { order } = step
    if (order?.action !== 'openLong' || order.strategyId !== 'a') continue
    if ((order.stopLossTicks !== undefined) !== hasStop) continue
    if (order.takeProfitTicks !== undefined) continue
    return { ...step, listed: undefined, adopted: undefined }
  }
  throw new RangeError('no seed draws such an order')
}

describe.each(['one_way_mode', 'hedge_mode'] as const)('[ORD5] in %s, exits', (mode) => {
  test('are the same whether orders are answered before or after their fills', () => {
    let kept = 0
    let ordered = 0
    for (let seed = 0; seed < 150; seed++) {
      const steps = drawSteps(mode, seed)
      const late = answeredLate(mode, steps, seed % 2 === 1)
      expect(exitsOf(late), `seed ${seed}`).toEqual(exitsOf(answeredFirst(mode, steps)))
      expect([late.unsettled.size, late.orphans.size], `seed ${seed}`).toEqual([0, 0])
      kept += late.exits.size
      ordered += late.orderedExits.size
    }
    expect(Math.min(kept, ordered)).toBeGreaterThan(50)
  })

  test('are converted to another tick while fills wait for their orders', () => {
    let kept = 0
    for (let seed = 0; seed < 50; seed++) {
      const steps = drawSteps(mode, seed).map((step) => ({ ...step, listed: undefined }))
      const early = answeredFirst(mode, steps)
      halveTick(early)
      const late = createBook(mode)
      for (const step of steps) send(late, step)
      for (const step of steps) {
        if (step.wait < 3) answer(late, step)
        read(late, step)
      }
      halveTick(late)
      for (const step of steps) if (step.wait >= 3) answer(late, step)

      expect(exitsOf(late), `seed ${seed}`).toEqual(exitsOf(early))
      kept += late.exits.size
    }
    expect(kept).toBeGreaterThan(20)
  })

  test('are not lost where an earlier version kept none with a fill that waits', () => {
    const [first, second] = [placed(mode, 0, true), placed(mode, 1, false)]
    const book = createBook(mode)
    for (const step of [first, second]) send(book, step)
    answer(book, first)
    for (const step of [first, second]) read(book, step)
    const before = exitsOf(book)
    const rows = toBookRows(book).map((row) => {
      if (row.name !== 'unsettled') return row
      const { exits: _, orderedExits: __, ...earlier } = JSON.parse(row.value)
      return { ...row, value: JSON.stringify(earlier) }
    })
    const restored = fromBookRows(rows)
    answer(restored, second)

    expect(restored.unsettled.size).toBe(0)
    expect(before.orderedExits.size).toBe(1)
    expect(exitsOf(restored)).toEqual(before)
  })
})
