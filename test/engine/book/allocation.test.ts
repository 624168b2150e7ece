import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toStrategyId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { NOBODY } from '../../../src/domain/allocation.ts'
import {
  type Book,
  createBook,
  backedHolding,
  closableHolding,
} from '../../../src/engine/book/book.ts'
import { fromBookRows, toBookRows, takeBookChanges } from '../../../src/engine/book/book-rows.ts'
import {
  applyMove,
  settleOwner,
  UNSETTLED_MOVES_MAX,
  waiterOf,
} from '../../../src/engine/book/allocation.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { SeededDraws } from '../../support/faults/seeded-draws.ts'

const SYMBOL = 'BTCUSDT'

const OWNERS = ['a', 'b', 'c', NOBODY]

interface DrawnMove {
  readonly owner: string
  readonly side: 'buy' | 'sell'
  readonly tradeSide: 'open' | 'close'
  readonly lots: number
  /** After so many moves more its owner is known; 0 when at once. */
  readonly wait: number
}

function drawMoves(seed: number): readonly DrawnMove[] {
  const draws = new SeededDraws(String(seed))
  const count = draws.integer('count', 0, [2, 25])
  return Array.from({ length: count }, (_, index) => ({
    owner: OWNERS[draws.integer('owner', index, [0, OWNERS.length])] ?? NOBODY,
    side: draws.unit('side', index) < 0.5 ? 'buy' : 'sell',
    tradeSide: draws.unit('tradeSide', index) < 0.5 ? 'open' : 'close',
    lots: draws.integer('lots', index, [1, 6]),
    wait: draws.integer('wait', index, [0, 7]),
  }))
}

function move(book: Book, owner: string, { side, tradeSide, lots }: DrawnMove): void {
  applyMove(mutable(book), SYMBOL, { kind: 'fill', owner, change: { side, tradeSide, lots } })
}

function knownAtOnce(mode: PositionMode, moves: readonly DrawnMove[]): Book {
  const book = createBook(mode)
  for (const drawn of moves) move(book, drawn.owner, drawn)
  return book
}

function knownLater(mode: PositionMode, moves: readonly DrawnMove[]): Book {
  let book = createBook(mode)
  for (let now = 0; now < moves.length + 7; now++) {
    const drawn = moves[now]
    const orderId = toOrderId(String(now))
    if (drawn) move(book, drawn.wait === 0 ? drawn.owner : waiterOf(orderId), drawn)
    for (const [index, { wait, owner }] of moves.entries()) {
      if (wait === 0 || index + wait !== now) continue
      const fill = { orderId: toOrderId(String(index)), symbol: SYMBOL } as Fill
      settleOwner(mutable(book), [fill], owner as Parameters<typeof settleOwner>[2])
    }
    book = fromBookRows(JSON.parse(JSON.stringify(toBookRows(book))))
  }
  return book
}

/** What the account and each owner holds, without those who hold nothing. */
function shares({ account, holdings }: Book): unknown {
  const held = [...holdings].filter(
    ([, { longLots, shortLots }]) => longLots !== 0 || shortLots !== 0,
  )
  return { account: account.get(SYMBOL), held: Object.fromEntries(held) }
}

describe.each(['one_way_mode', 'hedge_mode'] as const)(
  '[ORD5] in %s, whose the lots are',
  (mode: PositionMode) => {
    test('does not depend on when the owners of the fills become known', () => {
      for (let seed = 0; seed < 200; seed++) {
        const moves = drawMoves(seed)
        const book = knownLater(mode, moves)
        expect(shares(book), `seed ${seed}`).toEqual(shares(knownAtOnce(mode, moves)))
        expect(book.unsettled.size).toBe(0)
      }
    })

    test('a close that waited has closed nothing that was opened after it', () => {
      const book = createBook(mode)
      const close = {
        side: mode === 'hedge_mode' ? 'buy' : 'sell',
        tradeSide: 'close',
        lots: 1,
      } as const
      const open = { side: 'buy', tradeSide: 'open', lots: 5 } as const
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: NOBODY, change: open })
      applyMove(mutable(book), SYMBOL, {
        kind: 'fill',
        owner: waiterOf(toOrderId('1')),
        change: close,
      })
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'b', change: open })

      settleOwner(
        mutable(book),
        [{ orderId: toOrderId('1'), symbol: SYMBOL } as Fill],
        'a' as never,
      )

      expect(book.holdings.get(`b|${SYMBOL}`)?.longLots).toBe(5)
    })
  },
)

test('[ORD5] others take from strategies what they have closed, where lots of nobody stand against them too', () => {
  const book = createBook('one_way_mode')
  const trade = (owner: string, side: 'buy' | 'sell', lots: number): void =>
    applyMove(mutable(book), SYMBOL, {
      kind: 'fill',
      owner,
      change: { side, tradeSide: 'open', lots },
    })
  trade(NOBODY, 'sell', 2)
  trade('a', 'buy', 5)
  trade(NOBODY, 'sell', 1)

  expect(shares(book)).toEqual({
    account: { longLots: 2, shortLots: 0 },
    held: { [`a|${SYMBOL}`]: { longLots: 4, shortLots: 0 } },
  })
})

describe('of a symbol with a fill that waits for its order', () => {
  const buy = { side: 'buy', tradeSide: 'open', lots: 1 } as const
  const close = { side: 'sell', tradeSide: 'close', lots: 1 } as const

  function waiting(
    book: Book,
    id: string,
    change: Parameters<typeof applyMove>[2] & { kind: 'fill' },
  ): void {
    applyMove(mutable(book), SYMBOL, { ...change, owner: waiterOf(toOrderId(id)) })
  }

  test('one more move costs one entry, however many there are', () => {
    const book = createBook('one_way_mode')
    waiting(book, '1', { kind: 'fill', owner: '', change: buy })
    const sizes = [10, 1000].map((moves) => {
      while (book.unsettledMoves.size < moves) {
        applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'a', change: buy })
      }
      takeBookChanges(book)
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'a', change: buy })
      const changes = takeBookChanges(book)
      expect(changes.filter(({ name }) => name === 'unsettledMoves')).toHaveLength(1)
      return changes.map(({ value = '' }) => value.replaceAll(/\d+/g, '0')).join('').length
    })

    expect(sizes[1]).toBe(sizes[0])
  })

  test('what stands before the first fill that still waits is kept no longer', () => {
    const book = createBook('one_way_mode')
    waiting(book, '1', { kind: 'fill', owner: '', change: buy })
    for (let count = 0; count < 5; count++)
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'a', change: buy })
    waiting(book, '2', { kind: 'fill', owner: '', change: buy })

    settleOwner(mutable(book), [{ orderId: toOrderId('1'), symbol: SYMBOL } as Fill], 'b' as never)

    expect([...book.unsettledMoves.keys()]).toEqual([`${SYMBOL}|6`])
    expect(book.unsettled.get(SYMBOL)).toMatchObject({
      account: { longLots: 6 },
      first: 6,
      next: 7,
    })
  })

  test("so many moves are kept, then what waits is nobody's, and nobody claims more than there is", () => {
    const book = createBook('one_way_mode')
    for (let count = 0; count < 10; count++)
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'a', change: buy })
    for (let count = 0; count < 3; count++)
      waiting(book, '1', { kind: 'fill', owner: '', change: close })
    while (book.unsettledMoves.size < UNSETTLED_MOVES_MAX) {
      const change = book.unsettledMoves.size % 2 === 1 ? buy : close
      applyMove(mutable(book), SYMBOL, { kind: 'fill', owner: 'b', change })
    }

    waiting(book, '2', { kind: 'fill', owner: '', change: buy })

    expect([...book.unsettledMoves.keys()]).toEqual([`${SYMBOL}|0`])
    const { longLots } = book.account.get(SYMBOL) ?? { longLots: 0 }
    const claimed = [...book.holdings.values()].reduce((sum, holding) => sum + holding.longLots, 0)
    expect([book.holdings.get(`a|${SYMBOL}`)?.longLots, claimed]).toEqual([7, longLots])

    settleOwner(mutable(book), [{ orderId: toOrderId('1'), symbol: SYMBOL } as Fill], 'a' as never)
    expect(book.holdings.get(`a|${SYMBOL}`)?.longLots).toBe(7)
  })
})

test('[RSK3] what two strategies hold against lots of nobody can be closed as far as the account holds it', () => {
  const book = createBook('one_way_mode')
  const bought = { side: 'buy', tradeSide: 'open', lots: 2, wait: 0 } as const
  move(book, NOBODY, { owner: NOBODY, side: 'sell', tradeSide: 'open', lots: 3, wait: 0 })
  move(book, 'a', { ...bought, owner: 'a' })
  move(book, 'b', { ...bought, owner: 'b' })

  expect(book.account.get(SYMBOL)).toEqual({ longLots: 1, shortLots: 0 })
  for (const strategy of ['a', 'b'].map(toStrategyId)) {
    expect(backedHolding(book, strategy, SYMBOL)).toEqual({ longLots: 0, shortLots: 0 })
    expect(closableHolding(book, strategy, SYMBOL)).toEqual({ longLots: 1, shortLots: 0 })
  }
})
