import type { Fill } from '../../domain/fill.ts'
import { toOrderId, toTradeId } from '../../domain/ids.ts'
import { type Instrument, lotsMax, type PositionMode, ticksMax } from '../../domain/instrument.ts'
import { decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'
import { parseOnGrid } from '../../lib/grid.ts'
import type { WireFill } from '../../protocol/futures/order-fills.ts'

/** Money in a string, with a sign; an exponent is how some runtimes print small values. */
export const MONEY = /^-?\d{1,40}(\.\d{1,40})?([eE]-?\d{1,2})?$/

/**
 * A fill of the wire in our own terms, or what is wrong with it. Document: Futures fill.
 *
 * Fees are negative on the wire when paid, and positive here. Fees in another coin than the margin coin
 * (a deduction in the platform's own coin) are left out: they do not come off the margin.
 */
export function toFill(instrument: Instrument, positionMode: PositionMode, row: WireFill): Fill | string {
  const ticks = parseOnGrid(instrument.tick, row.price)
  if (ticks === undefined || ticks < 0 || ticks > ticksMax(instrument))
    return `price "${row.price}" is off the grid of ${instrument.tick.step}`
  const lots = parseOnGrid(instrument.lot, row.baseVolume)
  if (lots === undefined || lots <= 0 || lots > lotsMax(instrument)) {
    return `baseVolume "${row.baseVolume}" is off the grid of ${instrument.lot.step}`
  }
  const filledAt = Number(row.cTime)
  if (!Number.isSafeInteger(filledAt) || filledAt <= 0) return `cTime "${row.cTime}" is not Unix milliseconds`
  const fee = feeOf(instrument, row)
  if (fee === undefined) return 'a fee is not a decimal'
  const profit = row.profit || '0'
  if (!MONEY.test(profit)) return `profit "${profit}" is not a decimal`
  const direction = toDirection(positionMode, row)
  if (direction === undefined) return `tradeSide "${row.tradeSide}" is not known in hedge position mode`
  return {
    tradeId: toTradeId(row.tradeId),
    orderId: toOrderId(row.orderId),
    symbol: instrument.symbol,
    ...direction,
    ticks,
    lots,
    fee,
    profit: decimal(profit).toString(),
    scope: row.tradeScope?.toLowerCase() === 'maker' ? 'maker' : 'taker',
    source: (row.enterPointSource ?? '').toUpperCase(),
    filledAt,
  }
}

function feeOf(instrument: Instrument, row: WireFill): string | undefined {
  const paid = []
  for (const { feeCoin, totalFee } of row.feeDetail ?? []) {
    if (feeCoin && feeCoin.toUpperCase() !== instrument.marginCoin) continue
    const text = totalFee || '0'
    if (!MONEY.test(text)) return undefined
    paid.push(decimal(text))
  }
  return ZERO.minus(sumDecimals(paid)).toString()
}

/** What the system does to a position: `burst_close_long`, `reduce_close_short`, `delivery_close_long`, … */
const SYSTEM_CLOSE = /^[a-z_]+_close_(long|short)$/

/**
 * Which way, and whether it opens or closes. In hedge mode `side` is the direction of the position; where the
 * system closed it, the direction stands in the trade side itself. In one-way mode `side` says all there is.
 */
function toDirection(
  positionMode: PositionMode,
  { side, tradeSide }: WireFill,
): Pick<Fill, 'side' | 'tradeSide'> | undefined {
  const name = tradeSide?.toLowerCase() ?? ''
  const systemClose = SYSTEM_CLOSE.exec(name)
  if (positionMode === 'hedge_mode') {
    if (name === 'open' || name === 'close') return { side, tradeSide: name }
    if (systemClose === null) return undefined
    return { side: systemClose[1] === 'long' ? 'buy' : 'sell', tradeSide: 'close' }
  }
  // `buy_single`, `reduce_sell_single`, `dte_sys_adl_…`: lists vary, and nothing depends on them.
  const isClose =
    name === 'close' || systemClose !== null || /^(reduce|burst|offset|delivery|dte)_/.test(name)
  return { side, tradeSide: isClose ? 'close' : 'open' }
}
