import type { Answer } from '../../domain/answer.ts'
import { type Instrument, lotsMax, ticksMax } from '../../domain/instrument.ts'
import type { PositionReading, PositionRow } from '../../domain/position.ts'
import { floatOnGrid, parseOnGrid } from '../../lib/grid.ts'
import { isUnreadable } from '../../protocol/answer-values.ts'
import { SUCCESS_CODE } from '../../protocol/envelope.ts'
import type { WirePosition } from '../../protocol/futures/single-position.ts'
import type { ReadingCall } from '../client/request-writer.ts'
import { MONEY } from './fills-reader.ts'

export interface PositionReadingCall extends ReadingCall {
  readonly instrument: Instrument
}

/**
 * A row that cannot be read makes the whole answer unknown, because the position must not count as
 * flat. Document: GET /api/v2/mix/position/single-position.
 */
export async function readPosition(call: PositionReadingCall): Promise<Answer<PositionReading>> {
  const { caller, clock, offset, instrument } = call
  const { symbol, productType, marginCoin } = instrument
  const requestedAt = clock.now()
  const answer = await caller.call('singlePosition', { productType, symbol, marginCoin })
  if (answer.kind !== 'accepted') return answer
  const rows = toPositionRows(instrument, answer.data ?? [])
  if (typeof rows !== 'string') {
    // The request's time is never too late.
    const exchangeTime = answer.requestTime ?? offset.exchangeNow(requestedAt)
    const isSilent = answer.data === null
    return { ...answer, data: { symbol, rows, isSilent, requestedAt, exchangeTime } }
  }
  const { data: _, ...times } = answer
  return {
    ...times,
    kind: 'unknown',
    cause: 'unreadableRow',
    code: SUCCESS_CODE,
    message: rows,
    status: 200,
  }
}

export type ReadPosition = Pick<
  WirePosition,
  'symbol' | 'holdSide' | 'marginSize' | 'total' | 'openPriceAvg' | 'posMode' | 'totalFee'
> &
  OrNumbers<Pick<WirePosition, 'unrealizedPL' | 'markPrice'>> &
  Partial<
    Pick<
      WirePosition,
      'liquidationPrice' | 'marginMode' | 'leverage' | 'marginRatio' | 'keepMarginRate'
    >
  >

/** An exchange that is played in this process states numbers in place of texts. */
type OrNumbers<Texts> = { readonly [Name in keyof Texts]: Texts[Name] | number }

/** The last position of each side, and the row from which it was read. */
export type KnownRows = Map<string, { readonly position: ReadPosition; readonly row: PositionRow }>

/**
 * Between two fills only mark price and profit move, so the other fields are kept.
 * @param known rows of this instrument read before, and these afterwards
 */
export function toPositionRows(
  instrument: Instrument,
  positions: readonly ReadPosition[],
  known?: KnownRows,
): readonly PositionRow[] | string {
  const rows: PositionRow[] = []
  for (const position of positions) {
    if (isUnreadable(position)) return position.unreadable
    if (position.symbol.toUpperCase() !== instrument.symbol)
      return `a position of ${position.symbol} instead`
    const row = readAgain(instrument, position, known) ?? toPositionRow(instrument, position)
    if (typeof row === 'string') return row
    if (rows.some((other) => other.holdSide === row.holdSide))
      return `two ${row.holdSide} positions`
    rows.push(row)
    known?.set(position.holdSide, { position, row })
  }
  return rows
}

function readAgain(
  instrument: Instrument,
  position: ReadPosition,
  known: KnownRows | undefined,
): PositionRow | undefined {
  const before = known?.get(position.holdSide)
  if (before === undefined || !isSameStanding(before.position, position)) return undefined
  return {
    ...before.row,
    unrealisedProfit: toProfit(position.unrealizedPL),
    markPrice: toPrice(instrument, position.markPrice),
  }
}

function isSameStanding(before: ReadPosition, position: ReadPosition): boolean {
  return (
    before.total === position.total &&
    before.openPriceAvg === position.openPriceAvg &&
    before.marginSize === position.marginSize &&
    before.totalFee === position.totalFee &&
    before.posMode === position.posMode &&
    before.marginMode === position.marginMode &&
    before.leverage === position.leverage &&
    before.liquidationPrice === position.liquidationPrice &&
    before.marginRatio === position.marginRatio &&
    before.keepMarginRate === position.keepMarginRate
  )
}

function toPositionRow(instrument: Instrument, position: ReadPosition): PositionRow | string {
  const { holdSide, total, posMode, marginMode } = position
  const lots = parseOnGrid(instrument.lot, total)
  if (lots === undefined || lots < 0 || lots > lotsMax(instrument)) {
    return `${instrument.symbol} total "${total}" is not a whole number of lots of ${instrument.lot.step}`
  }
  return {
    holdSide,
    lots,
    openPriceAvg: toPrice(instrument, position.openPriceAvg),
    unrealisedProfit: toProfit(position.unrealizedPL),
    fundingFee: toMoney(position.totalFee),
    markPrice: toPrice(instrument, position.markPrice),
    liquidationPrice: toPrice(instrument, position.liquidationPrice),
    margin: toNumber(position.marginSize),
    marginRatio: toNumber(position.marginRatio),
    maintenanceRate: toNumber(position.keepMarginRate),
    positionMode: posMode === 'one_way_mode' || posMode === 'hedge_mode' ? posMode : undefined,
    marginMode: marginMode === 'isolated' || marginMode === 'crossed' ? marginMode : undefined,
    leverage: toLeverage(position.leverage),
  }
}

function toLeverage(text: string | null | undefined): number | undefined {
  const leverage = toNumber(text)
  return leverage > 0 ? leverage : undefined
}

function toProfit(stated: string | number | null | undefined): string | number {
  return typeof stated === 'number' ? stated : toMoney(stated)
}

function toMoney(text: string | null | undefined): string {
  return text === null || text === undefined || !MONEY.test(text) ? '' : text
}

function toPrice(instrument: Instrument, text: string | number | null | undefined): number {
  const price = toNumber(text)
  return price > floatOnGrid(instrument.tick, ticksMax(instrument)) ? Number.NaN : price
}

function toNumber(text: string | number | null | undefined): number {
  if (typeof text === 'number') return text
  return text === null || text === undefined || !MONEY.test(text) ? Number.NaN : Number(text)
}
