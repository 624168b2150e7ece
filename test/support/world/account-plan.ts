import { z } from 'zod'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { toOrderId, toTradeId } from '../../../src/domain/ids.ts'
import { type Random } from '../../../src/lib/random.ts'
import { type FaultRates } from '../faults/virtual-faults.ts'

/** An instrument that an earlier run traded by hand, and that is no longer configured. */
export const FORMER_SYMBOL = 'ADAUSDT'

/** Parts of a plan about permissions and results of strategies. Absent: as in older worlds. */
export const accountPlanFields = {
  /** Time zone of the days of losses. */
  timeZone: z.string().optional(),
  /** Orders of each strategy within a minute; the account has twice as many. */
  ordersPerMinute: z.int().positive().optional(),
  /** Orders that would trade with ours are denied. */
  deniesSelfTrades: z.boolean().optional(),
  /** Loss on {@link FORMER_SYMBOL} before the world, margin coin. */
  formerLoss: z.int().positive().optional(),
}

export interface AccountPlan {
  readonly timeZone?: string | undefined
  readonly ordersPerMinute?: number | undefined
  readonly deniesSelfTrades?: boolean | undefined
  readonly formerLoss?: number | undefined
}

const FORMER_FEE = '0.25'
const ZONES = ['Asia/Kolkata', 'America/New_York', 'Pacific/Auckland', 'Europe/Berlin'] as const

export function drawAccountPlan(part: (name: string) => Random): AccountPlan {
  const one = <Value>(name: string, values: readonly Value[]): Value | undefined =>
    values[part(name).integer(values.length)]
  const timeZone = one('timeZone', [undefined, ...ZONES])
  const ordersPerMinute = one('ordersPerMinute', [
    undefined,
    undefined,
    undefined,
    undefined,
    6,
    25,
  ])
  const deniesSelfTrades = one('deniesSelfTrades', [undefined, undefined, undefined, true])
  const formerLoss = one('formerLoss', [undefined, undefined, undefined, 7])
  return {
    ...(timeZone !== undefined && { timeZone }),
    ...(ordersPerMinute !== undefined && { ordersPerMinute }),
    ...(deniesSelfTrades !== undefined && { deniesSelfTrades }),
    ...(formerLoss !== undefined && { formerLoss }),
  }
}

export const MANY_SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT'] as const

interface CancelPlan {
  readonly symbols: string[]
  readonly strategies: readonly { readonly symbols: string[] }[]
  readonly faults: FaultRates
  readonly isExclusive: boolean
}

/** In one of 21 worlds one call cancels the orders of many instruments, and often fails. */
export function drawProductCancels<Plan extends CancelPlan>(
  part: (name: string) => Random,
  plan: Plan,
): Plan {
  if (part('productCancels').integer(20) > 0) return plan
  return {
    ...plan,
    symbols: [...MANY_SYMBOLS],
    strategies: plan.strategies.map((strategy) => ({ ...strategy, symbols: [...MANY_SYMBOLS] })),
    faults: { ...plan.faults, cancelFailed: 0.4 },
    isExclusive: true,
  }
}

/** Further limits of the account and of each strategy. */
export function paceLimitsOf({ ordersPerMinute, deniesSelfTrades }: AccountPlan) {
  return {
    account: {
      ...(ordersPerMinute !== undefined && { ordersPerMinute: 2 * ordersPerMinute }),
      ...(deniesSelfTrades === true && { selfTrade: 'deny' as const }),
    },
    strategy: ordersPerMinute === undefined ? {} : { ordersPerMinute },
  }
}

/** Result of the earlier run: profit minus fees, margin coin. */
export function formerNetOf({ formerLoss }: AccountPlan): number {
  return formerLoss === undefined ? 0 : -formerLoss - 2 * Number(FORMER_FEE)
}

/** The journal of an earlier run, which bought and sold {@link FORMER_SYMBOL} by hand. */
export function recordsOfFormer(
  { formerLoss }: AccountPlan,
  {
    at,
    positionMode,
  }: { readonly at: number; readonly positionMode: 'one_way_mode' | 'hedge_mode' },
): readonly JournalRecord[] {
  if (formerLoss === undefined) return []
  const fill = {
    symbol: FORMER_SYMBOL,
    ticks: 100,
    lots: 5,
    fee: FORMER_FEE,
    scope: 'taker',
    source: 'WEB',
    filledAt: at,
  } as const
  const close = positionMode === 'one_way_mode' ? 'sell' : 'buy'
  const grids = { [FORMER_SYMBOL]: { tick: '0.001', lot: '1' } }
  const ids = (name: string) => ({ tradeId: toTradeId(name), orderId: toOrderId(name) })
  return [
    {
      kind: 'boot',
      at,
      exchangeAt: at,
      epoch: 1,
      version: '0',
      environment: 'simulator',
      positionMode,
      configHash: '0',
      strategies: [],
      grids,
    },
    {
      kind: 'fills',
      at,
      fills: [
        { ...fill, ...ids('1'), side: 'buy', tradeSide: 'open', profit: '0' },
        { ...fill, ...ids('2'), side: close, tradeSide: 'close', profit: String(-formerLoss) },
      ],
    },
  ]
}
