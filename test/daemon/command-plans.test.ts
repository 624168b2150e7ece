import { expect, test } from 'vitest'
import type { CommandPlan } from '../../src/control/controlled.ts'
import { planAccountCommand, planHandOrder } from '../../src/daemon/control/command-plans.ts'
import { MANUAL } from '../../src/domain/hand-order.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { describeReloaded } from '../../src/views/worst-loss-text.ts'
import type { ShownAccount } from '../../src/views/shown-account.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'
import { TradedAccount } from '../engine/traded-account.ts'

const LIMITS = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
const RULES = {
  tiers: [{ notionalMax: 1_000_000, rate: 0.004 }],
  takerFeeRate: 0.0006,
}
const BY_ANNA = { reason: 'a chance', by: 'anna' } as const

function movesOf(share: number) {
  const moves = new Map([[SYMBOL, share]])
  return { moves, jointMoves: moves, isGap: true }
}

/** Holds 0.1, on 1000. */
function open(): { readonly account: TradedAccount; readonly shown: ShownAccount } {
  const common = { symbols: [SYMBOL], feeds: new Map(), limits: LIMITS }
  const bench = new EngineBench({
    capital: decimal('1000'),
    liquidation: { rules: new Map([[SYMBOL, RULES]]) },
    survives: movesOf(0.12),
    strategies: new Map([
      [STRATEGY, { id: STRATEGY, ...common }],
      [MANUAL, { id: MANUAL, isByHand: true as const, ...common }],
    ]),
  }).start()
  const account = new TradedAccount(bench)
  account.reach(STRATEGY, 100)
  account.pass(1000)
  const { engine, book, settings } = bench
  return { account, shown: { engine, book, settings } as unknown as ShownAccount }
}

function worstIn({ notes }: Pick<CommandPlan, 'notes'>) {
  const note = notes.find((line) => line.startsWith('worst loss with all that rests, '))
  const [, moment, need, left] =
    /rests, (.*): .* needs ([\d.]+) and leaves (-?[\d.]+);/.exec(note ?? '') ?? []
  return { moment, need: Number(need), left: Number(left) }
}

test('the plan of each order that can add risk shows the worst loss after it where it is known, and says of which moment it is', () => {
  const { account, shown } = open()
  const bought = planHandOrder(shown, {
    kind: 'order',
    symbol: SYMBOL,
    side: 'buy',
    size: '0.02',
    key: 'key-0001',
    ...BY_ANNA,
  })
  const entered = planHandOrder(shown, {
    kind: 'deposit',
    amount: '500',
    key: 'key-0002',
    ...BY_ANNA,
  })
  const reloaded = { notes: describeReloaded(shown, movesOf(0.24)) }
  account.bench.step({ kind: 'commanded', command: { kind: 'kill', ...BY_ANNA } })
  const released = planAccountCommand(shown, { kind: 'releaseKill' }, '')
  const now = worstIn(released)

  expect(now.moment).toBe('as it is now, before anything is ordered again')
  expect(now.need).toBeGreaterThan(100)
  expect(worstIn(bought).moment).toBe('this order too')
  expect(worstIn(bought).need / now.need).toBeCloseTo(1.2, 1)
  expect(worstIn(entered)).toEqual({
    moment: 'with this entry',
    need: now.need,
    left: expect.closeTo(now.left + 500, 2),
  })
  expect(worstIn(reloaded).moment).toBe('by the new moves, with what is held now')
  expect(worstIn(reloaded).need / now.need).toBeCloseTo(2, 0)
  expect(describeReloaded(shown, undefined)).toEqual([
    'the worst loss is not counted: risk.survives is not set',
  ])
})
