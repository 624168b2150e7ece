import type { LiquidationDistance } from '../../src/domain/liquidation.ts'
import { type Instrument } from '../../src/domain/instrument.ts'
import { toClientOid, toStrategyId } from '../../src/domain/ids.ts'
import type { Order } from '../../src/domain/order.ts'
import type { OrderAction } from '../../src/domain/order-action.ts'
import { FLAT, type Holding } from '../../src/domain/position.ts'
import { type OwnTrades } from '../../src/domain/own-trades.ts'
import type { Money } from '../../src/domain/fill-money.ts'
import { type AccountMoment, type Snapshot } from '../../src/domain/snapshot.ts'
import { type TickerColumn, TickerTable } from '../../src/domain/ticker-table.ts'
import { decimal } from '../../src/lib/decimal.ts'
import { createGrid } from '../../src/lib/grid.ts'

/** 2024-01-01 00:00 UTC, Unix ms. */
export const MOMENT_AT = 1_704_067_200_000

/** Default: BTCUSDT, ticks of 0.1, lots of 0.001. */
export function madeInstrument({
  symbol = 'BTCUSDT',
  tick = '0.1',
  lot = '0.001',
  lotsMin = 1,
}: { symbol?: string; tick?: string; lot?: string; lotsMin?: number } = {}): Instrument {
  return {
    symbol,
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    tick: createGrid(tick),
    lot: createGrid(lot),
    lotsMin,
    notionalMin: decimal('5'),
  }
}

/** Columns of one instrument by name, and the strategy's holding. */
export interface MomentRow {
  readonly instrument?: Instrument
  readonly bid?: number
  readonly ask?: number
  readonly columns?: Readonly<Partial<Record<TickerColumn, number>>>
  readonly holding?: Holding
  readonly accountHolding?: Holding
  readonly positionReadAt?: number
  readonly orders?: readonly Order[]
  readonly trades?: OwnTrades
  readonly money?: Money
}

export interface MomentTimes {
  readonly sequence?: number
  readonly takenAt?: number
  readonly exchangeTime?: number
  readonly fillsReadAt?: number
}

export const EMPTY_ACCOUNT: AccountMoment = {
  capital: undefined,
  equity: undefined,
  money: new Map(),
  funding: new Map(),
  marks: new Map(),
  holdings: new Map(),
  distances: new Map(),
  fundingMinutes: [0, 480, 960],
}

/** A long position whose liquidation price both figures know. */
export function madeDistance(change: Partial<LiquidationDistance> = {}): LiquidationDistance {
  return {
    symbol: 'BTCUSDT',
    holdSide: 'long',
    markPrice: 1e4,
    ownPrice: 1e4,
    ourPrice: 9e3,
    statedPrice: 8990,
    ours: 0.1,
    stated: 0.101,
    nearest: 0.1,
    moves: 12.5,
    trust: 'agreed',
    ratio: 0.05,
    statedRatio: 0.049,
    ratioTrust: 'agreed',
    ...change,
  }
}

/** A snapshot over a small table; a ticker's `ts` defaults to the snapshot's exchange time. */
export function madeSnapshot(rows: readonly MomentRow[], times: MomentTimes = {}): Snapshot {
  const { sequence = 1, takenAt = MOMENT_AT, exchangeTime = takenAt, fillsReadAt = takenAt } = times
  const tickers = new TickerTable(Math.max(1, rows.length))
  tickers.readAt = takenAt
  tickers.requestTime = exchangeTime
  const instruments = rows.map(
    ({ instrument = madeInstrument(), holding = FLAT, accountHolding = holding, ...row }) => {
      const index = tickers.claimRow(instrument.symbol)
      const columns = { bidPr: row.bid, askPr: row.ask, ts: exchangeTime, ...row.columns }
      for (const [column, value] of Object.entries(columns)) {
        tickers.columns[column as TickerColumn][index] = value ?? Number.NaN
      }
      const { orders = [], positionReadAt = takenAt, trades, money } = row
      return { instrument, holding, accountHolding, positionReadAt, orders, trades, money }
    },
  )
  return {
    sequence,
    takenAt,
    exchangeTime,
    tickers,
    fillsReadAt,
    instruments,
    feeds: new Map(),
    candles: new Map(),
    account: EMPTY_ACCOUNT,
  }
}

/** Positive lots are long, negative short. */
export function holdingOf(netLots: number): Holding {
  return { longLots: Math.max(0, netLots), shortLots: Math.max(0, -netLots) }
}

export function madeOrder({
  action,
  ticks,
  lots = 10,
  filledLots = 0,
  state = 'live',
}: {
  action: OrderAction
  ticks: number
  lots?: number
  filledLots?: number
  state?: Order['state']
}): Order {
  return {
    terms: {
      clientOid: toClientOid(`order-${action.toLowerCase()}-${ticks}`),
      strategyId: toStrategyId('made-up'),
      symbol: 'BTCUSDT',
      purpose: 'quote',
      key: `quote:${ticks}`,
      generation: 0,
      action,
      lots,
      ticks,
      force: 'post_only',
      deadlineAt: MOMENT_AT + 60_000,
    },
    state,
    orderId: undefined,
    filledLots,
    attempts: 1,
    firstSentAt: MOMENT_AT,
    lastSentAt: MOMENT_AT,
    unansweredAt: 0,
    endedAt: 0,
    acceptedAt: MOMENT_AT,
    reason: '',
  }
}
