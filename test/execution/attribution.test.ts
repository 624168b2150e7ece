import { describe, expect, test } from 'vitest'
import { type OrderIntent } from '../../src/domain/intent.ts'
import type { Order, OrderTerms } from '../../src/domain/order.ts'
import { type Approved } from '../../src/domain/proofs.ts'
import { type ApprovedItem, couldHaveMadeFill, packBatch } from '../../src/execution/batch.ts'
import { markAccepted } from '../../src/execution/order-machine.ts'
import { madeFill, madeSent, madeTerms, SENT_AT } from './made-terms.ts'

const MODE = 'one_way_mode'

function item(terms: Partial<OrderTerms> & { readonly id?: string }): ApprovedItem {
  const { clientOid: _, generation: __, ...rest } = madeTerms(terms)
  const intent: OrderIntent = {
    ...rest,
    ticks: rest.ticks,
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
  }
  return { intent: intent as Approved<OrderIntent> }
}

const pack = (
  items: readonly ApprovedItem[],
  nameless: readonly Order[] = [],
): readonly ApprovedItem[] => packBatch(items, { max: 50, mode: MODE, nameless })

describe('[ORD6] a batch', () => {
  test('takes a ladder of 50 post-only orders, and the rest waits', () => {
    const ladder = Array.from({ length: 60 }, (_, index) =>
      item({ id: `l${index}`, ticks: 1000 - index }),
    )

    expect(pack(ladder)).toEqual(ladder.slice(0, 50))
  })

  test('takes one order of a side that may take, because fills could not tell two apart', () => {
    const first = item({ id: 'a', force: 'ioc', ticks: 1000 })

    expect(pack([first, item({ id: 'b', force: 'gtc', ticks: 990 })])).toEqual([first])
    expect(pack([first, item({ id: 'c', force: 'ioc', action: 'openShort' })])).toHaveLength(2)
  })

  test('takes no two orders that would rest at one price', () => {
    expect(pack([item({ id: 'a', force: 'gtc' }), item({ id: 'b' })])).toHaveLength(1)
    expect(pack([item({ id: 'a', force: 'gtc', ticks: 999 }), item({ id: 'b' })])).toHaveLength(2)
  })

  test('takes nothing that an order without an orderId could be taken for, but that order again', () => {
    const nameless = markAccepted(madeSent({ id: 'old' }), undefined, SENT_AT)
    const again = { ...item({ id: 'old' }), resendOf: nameless.terms.clientOid }

    expect(pack([item({ id: 'new' })], [nameless])).toEqual([])
    expect(pack([item({ id: 'new' }), again], [nameless])).toEqual([again])
  })
})

describe('a fill of an unknown orderId', () => {
  test('belongs to a post-only order at its own price alone', () => {
    expect(couldHaveMadeFill(MODE, madeSent(), madeFill())).toBe(true)
    expect(couldHaveMadeFill(MODE, madeSent(), madeFill({ ticks: 999 }))).toBe(false)
    expect(couldHaveMadeFill(MODE, madeSent(), madeFill({ scope: 'taker' }))).toBe(false)
  })

  test('belongs to a taker within its limit', () => {
    const taker = madeSent({ force: 'ioc' })

    expect(couldHaveMadeFill(MODE, taker, madeFill({ scope: 'taker', ticks: 998 }))).toBe(true)
    expect(couldHaveMadeFill(MODE, taker, madeFill({ scope: 'taker', ticks: 1001 }))).toBe(false)
    expect(couldHaveMadeFill(MODE, taker, madeFill({ scope: 'maker' }))).toBe(false)
  })

  test('belongs to no order that was sent after it, of another side, too small, or with an id', () => {
    expect(couldHaveMadeFill(MODE, madeSent(), madeFill({ filledAt: SENT_AT - 60_000 }))).toBe(
      false,
    )
    expect(couldHaveMadeFill(MODE, madeSent(), madeFill({ side: 'sell' }))).toBe(false)
    expect(couldHaveMadeFill(MODE, madeSent({ lots: 3 }), madeFill())).toBe(false)
    expect(
      couldHaveMadeFill(MODE, markAccepted(madeSent(), madeFill().orderId, 0), madeFill()),
    ).toBe(false)
  })

  test('in hedge mode belongs to the leg that it moves', () => {
    const close = madeSent({ action: 'closeLong', force: 'ioc' })

    expect(
      couldHaveMadeFill('hedge_mode', close, madeFill({ tradeSide: 'close', scope: 'taker' })),
    ).toBe(true)
    expect(
      couldHaveMadeFill('hedge_mode', close, madeFill({ tradeSide: 'open', scope: 'taker' })),
    ).toBe(false)
  })
})
