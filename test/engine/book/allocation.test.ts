import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { NOBODY } from '../../../src/domain/allocation.ts'
import { type Book, createBook } from '../../../src/engine/book/book.ts'
import { bookFromJson, bookToJson } from '../../../src/engine/book/book-json.ts'
import { applyMove, settleOwner, waiterOf } from '../../../src/engine/book/allocation.ts'
import { own } from '../../../src/lib/own.ts'
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
  applyMove(own(book), SYMBOL, { kind: 'fill', owner, change: { side, tradeSide, lots } })
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
      settleOwner(own(book), [fill], owner as Parameters<typeof settleOwner>[2])
    }
    book = bookFromJson(JSON.parse(JSON.stringify(bookToJson(book))))
  }
  return book
}

/** What the account and each owner holds, without those who hold nothing. */
function shares({ account, holdings }: Book): unknown {
  const held = [...holdings].filter(([, { longLots, shortLots }]) => longLots !== 0 || shortLots !== 0)
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
      const close = { side: mode === 'hedge_mode' ? 'buy' : 'sell', tradeSide: 'close', lots: 1 } as const
      const open = { side: 'buy', tradeSide: 'open', lots: 5 } as const
      applyMove(own(book), SYMBOL, { kind: 'fill', owner: NOBODY, change: open })
      applyMove(own(book), SYMBOL, { kind: 'fill', owner: waiterOf(toOrderId('1')), change: close })
      applyMove(own(book), SYMBOL, { kind: 'fill', owner: 'b', change: open })

      settleOwner(own(book), [{ orderId: toOrderId('1'), symbol: SYMBOL } as Fill], 'a' as never)

      expect(book.holdings.get(`b|${SYMBOL}`)?.longLots).toBe(5)
    })
  },
)
