import type { DenialCode } from '../../domain/denial.ts'
import type { Cause, PriceLooks } from '../run-report.ts'

/** Other codes are clear by themselves. */
const HINTS: Readonly<Partial<Record<DenialCode, string>>> = {
  PRICE_PRECISION: 'market.ticksBelow(price) and ticksAbove give whole ticks',
  SIZE_PRECISION: 'market.lots(size) gives whole lots',
  SIZE_BELOW_MINIMUM: 'choose a larger size in params',
  NOTIONAL_BELOW_MINIMUM: 'choose a larger size in params',
  INTENT_MALFORMED:
    'a field is wrong, misspelt or no number, as of an indicator before it is warm or a missing price (market.hasPrices): the log of `intentd run` has each with its value (intent.denied)',
  POSITION_LIMIT: 'raise risk.positionMax in the strategy file, or want less',
  POSITION_NOTIONAL_LIMIT: 'raise risk.positionNotionalMax in the strategy file, or want less',
  CAPITAL_LIMIT: 'give the strategy more capital, raise account.leverage, or want less',
  OPEN_ORDERS_LIMIT: 'raise risk.openOrdersMax, or quote fewer levels',
  DATA_STALE: 'prices have gaps, or are read (backtest.pollMs) more seldom than risk.dataAgeMaxMs',
}

const CODES_SHOWN = 3

/** Caused by a strategy's code, so even few must be corrected. */
const FAULTS: ReadonlySet<string> = new Set<DenialCode>([
  ...(['INTENT_MALFORMED', 'INTENTS_TOO_MANY', 'INSTRUMENT_NOT_BOUND', 'KEY_MISSING'] as const),
  ...(['PRICE_PRECISION', 'SIZE_PRECISION', 'PLACES_TOO_MANY'] as const),
])

/** The most frequent codes and all faults, a sentence each. */
export function describeDenials(
  strategy: string,
  denials: readonly Cause[],
  looks?: PriceLooks,
): readonly string[] {
  const most = mostOf(denials)
  const faults = denials.filter((cause) => FAULTS.has(cause.code) && !most.includes(cause))
  return [...most, ...faults].map(({ code, meaning, count }) => {
    const hint = (code === 'DATA_STALE' && describeLooks(looks)) || HINTS[code as DenialCode]
    return `${strategy}: ${count} denied, ${code} (${meaning})${hint === undefined ? '' : `: ${hint}`}`
  })
}

/** For runs in which every price is too old before the next is read (docs/backtest.md). */
function describeLooks(looks: PriceLooks | undefined): string | undefined {
  if (looks === undefined || looks.everyMs <= looks.dataAgeMaxMs) return undefined
  const { everyMs, dataAgeMaxMs } = looks
  return `normal in this run: prices are read every ${everyMs} ms (backtest.pollMs) and are too old after ${dataAgeMaxMs} ms (risk.dataAgeMaxMs), so what is wanted in between is denied until the next look`
}

/** Causes of rejections, where the exchange's own words do not say them. */
const REJECTION_HINTS: Readonly<Record<string, string>> = {
  '43009':
    'the price of the order is too far above the market: a fast move since it was decided, or a wide risk.priceCollarRatio',
  '43039':
    'the price of the order is above what the exchange allows at that moment: mostly the market fell between the decision and the order; a narrower risk.priceCollarRatio or execution.takerCollarRatio denies it before',
  '43008':
    'the price of the order is too far below the market: a fast move since it was decided, or a wide risk.priceCollarRatio',
  '43040':
    'the price of the order is below what the exchange allows at that moment: mostly the market rose between the decision and the order; a narrower risk.priceCollarRatio or execution.takerCollarRatio denies it before',
}

export function describeRejections(rejections: readonly Cause[]): readonly string[] {
  return mostOf(rejections).map(({ code, meaning, count }) => {
    const hint = REJECTION_HINTS[code]
    return `${count} rejected by the exchange, ${code} (${meaning})${hint === undefined ? '' : `: ${hint}`}`
  })
}

function mostOf(causes: readonly Cause[]): readonly Cause[] {
  return causes.toSorted((one, other) => other.count - one.count).slice(0, CODES_SHOWN)
}
