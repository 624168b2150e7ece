import type { CoinFee, Fill, FillKind } from '../../domain/fill.ts'
import { toOrderId, toTradeId } from '../../domain/ids.ts'
import { type Instrument, lotsMax, type PositionMode, ticksMax } from '../../domain/instrument.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { parseOnGrid } from '../../lib/grid.ts'
import type { WireFill } from '../../protocol/futures/order-fills.ts'

/** Some runtimes print small values with an exponent. */
export const MONEY = /^-?\d{1,40}(\.\d{1,40})?([eE]-?\d{1,2})?$/

/**
 * Paid fees are negative on the wire, positive here. A missing fee or profit is unknown (MON2).
 * Document: Futures fill.
 */
export function toFill(
  instrument: Instrument,
  positionMode: PositionMode,
  row: WireFill,
): Fill | string {
  const ticks = parseOnGrid(instrument.tick, row.price)
  if (ticks === undefined || ticks < 0 || ticks > ticksMax(instrument))
    return `price "${row.price}" is off the grid of ${instrument.tick.step}`
  const lots = parseOnGrid(instrument.lot, row.baseVolume)
  if (lots === undefined || lots <= 0 || lots > lotsMax(instrument)) {
    return `baseVolume "${row.baseVolume}" is off the grid of ${instrument.lot.step}`
  }
  const filledAt = Number(row.cTime)
  if (!Number.isSafeInteger(filledAt) || filledAt <= 0)
    return `cTime "${row.cTime}" is not Unix milliseconds`
  const fees = feesOf(instrument, row)
  if (fees === undefined) return 'a fee is not a decimal'
  const { profit } = row
  if (profit && !MONEY.test(profit)) return `profit "${profit}" is not a decimal`
  const direction = toDirection(positionMode, row)
  if (direction === undefined)
    return `tradeSide "${row.tradeSide}" is not known in hedge position mode`
  return {
    tradeId: toTradeId(row.tradeId),
    orderId: toOrderId(row.orderId),
    symbol: instrument.symbol,
    ...direction,
    ticks,
    lots,
    ...kindOf(row),
    ...fees,
    ...(profit && { profit: decimal(profit).toString() }),
    scope: row.tradeScope?.toLowerCase() === 'maker' ? 'maker' : 'taker',
    source: (row.enterPointSource ?? '').toUpperCase(),
    filledAt,
  }
}

/** Without `fee` if an amount or its coin is missing. Undefined if an amount is no decimal. */
function feesOf(
  { marginCoin }: Instrument,
  { feeDetail }: WireFill,
): Pick<Fill, 'fee' | 'otherFees'> | undefined {
  const paid = new Map<string, Decimal>()
  let isKnown = (feeDetail?.length ?? 0) > 0
  for (const { feeCoin, totalFee } of feeDetail ?? []) {
    if (totalFee && !MONEY.test(totalFee)) return undefined
    const amount = totalFee ? ZERO.minus(decimal(totalFee)) : undefined
    if (amount === undefined || (!feeCoin && !amount.eq(ZERO))) isKnown = false
    else if (feeCoin) {
      const coin = feeCoin.toUpperCase()
      paid.set(coin, (paid.get(coin) ?? ZERO).plus(amount))
    }
  }
  const otherFees = [...paid].flatMap(([coin, amount]): CoinFee[] =>
    coin === marginCoin || amount.eq(ZERO) ? [] : [{ coin, amount: amount.toString() }],
  )
  return {
    ...(isKnown && { fee: (paid.get(marginCoin) ?? ZERO).toString() }),
    ...(otherFees.length > 0 && { otherFees }),
  }
}

/** The system's: `burst_close_long`, `reduce_close_short`, `delivery_close_long`, … */
const SYSTEM_CLOSE = /^[a-z_]+_close_(long|short)$/

const KINDS: readonly (readonly [prefix: string, kind: FillKind])[] = [
  ['burst_', 'liquidation'],
  ['reduce_', 'partialLiquidation'],
  ['offset_', 'netting'],
  ['delivery_', 'delivery'],
  ['dte_sys_adl_', 'autoDeleveraging'],
]
const TRADES: ReadonlySet<string> = new Set(['open', 'close', 'buy_single', 'sell_single'])

/** An undocumented word of the system stays as it is. */
function kindOf({ tradeSide, enterPointSource }: WireFill): Pick<Fill, 'fillKind' | 'systemWord'> {
  const name = tradeSide?.toLowerCase() ?? ''
  const [, known] = KINDS.find(([prefix]) => name.startsWith(prefix)) ?? []
  if (known !== undefined) return { fillKind: known }
  if (TRADES.has(name) || enterPointSource?.toUpperCase() !== 'SYS') return { fillKind: 'trade' }
  return { fillKind: 'system', systemWord: name }
}

/**
 * In hedge mode `side` is the direction of the position; the trade side names it if the system
 * closed.
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
  // The words vary (`buy_single`, `reduce_sell_single`, `dte_sys_adl_…`), and the position does not
  // depend on them.
  const isClose =
    name === 'close' || systemClose !== null || KINDS.some(([prefix]) => name.startsWith(prefix))
  return { side, tradeSide: isClose ? 'close' : 'open' }
}
