import type { UniverseRecord } from '../domain/record.ts'
import type { UniverseReason, UniverseVerdict } from '../domain/universe.ts'
import { showTime } from '../report/text/figures.ts'
import { showDuration } from '../lib/text/show-duration.ts'

export function wordsOfVerdict(verdict: UniverseVerdict): string {
  return REASONS[verdict.reason](verdict)
}

type Words = (verdict: UniverseVerdict) => string

const REASONS: Readonly<Record<UniverseReason, Words>> = {
  ranked: ({ value, limit }) => `rank ${value}, and the first ${limit} are chosen`,
  included: () => 'always, by include',
  sticky: ({ limit }) => `stays until ${showTime(limit ?? 0)} UTC, by sticky`,
  unconfirmed: ({ objection = 'noRule', ...verdict }) =>
    `${REASONS[objection](verdict)}; stays unless the next answer says so too`,
  changesUsed: ({ limit }) => `stays, since ${limit} have left within 24 h, by changesPerDay`,
  fixed: () => 'in instruments of the strategy, whatever the rule says',
  excluded: () => 'excluded',
  otherQuote: () => 'another quote coin',
  delivery: () => 'a contract with a delivery date',
  notListed: () => 'listed no more',
  noContract: () => 'the exchange states no rules of its contract',
  notTradable: ({ text }) => `the exchange says ${text}`,
  restricted: () => 'restricted by itself: release it first',
  gridConflict: () => 'the journal counts it in another tick or lot size',
  orderTooLarge: compared('its smallest order is worth', 'above the limit'),
  marginTooLarge: compared(
    'the margin of its smallest order is',
    'above the capital of the strategy,',
  ),
  noRule: () => 'the strategy has no universe any more',
  noTicker: () => 'no ticker',
  noPrice: () => 'no price stated',
  priceLow: compared('price', 'below'),
  priceHigh: compared('price', 'above'),
  noVolume: () => 'no volume stated',
  volumeLow: compared('volume', 'below'),
  noSpread: () => 'no bid and ask stated',
  spreadWide: compared('spread', 'above', showPercent),
  young: wordsOfYoung,
  noRange: () => 'no range of 24 h stated',
  volatilityLow: compared('volatility', 'below', showPercent),
  volatilityHigh: compared('volatility', 'above', showPercent),
  noMeasure: () => 'no value to rank it by',
  outranked: ({ value, limit }) => `rank ${value}, and only the first ${limit} are chosen`,
  waitsForPlace: () => 'waits until others have left',
  noRoom: ({ value, limit }) =>
    `no room in the poll budget: ${value} of ${limit} instruments are read`,
}

function wordsOfYoung(verdict: UniverseVerdict): string {
  const { value = Number.NaN, limit = Number.NaN, isSeenOnly } = verdict
  if (value < 0) return `to be listed in ${showDuration(-value)}`
  if (value === 0) return `first seen now, younger than ${showDuration(limit)}`
  const counted = isSeenOnly ? ', counted since it was first seen' : ''
  return `${compared('age', 'below', showDuration)(verdict)}${counted}`
}

function compared(
  what: string,
  relation: string,
  show: (value: number) => string = showAmount,
): Words {
  return ({ value = Number.NaN, limit = Number.NaN }) =>
    `${what} ${show(value)} ${relation} ${show(limit)}`
}

function showAmount(value: number): string {
  return Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(4)))
}

function showPercent(value: number): string {
  return `${Number((value * 100).toPrecision(3))} %`
}

export function wordsOfUniverse(record: UniverseRecord, symbol: string): readonly string[] {
  const { strategyId, joined, left, verdicts } = record
  const verdict = verdicts[symbol]
  const why = verdict ? `: ${wordsOfVerdict(verdict)}` : ''
  if (joined.some((one) => one.symbol === symbol)) return [`${strategyId} takes it in${why}`]
  const leaving = left.find((one) => one.symbol === symbol)
  if (leaving) return [`it leaves ${strategyId} (${leaving.policy})${why}`]
  return verdict ? [`${verdict.isIn ? 'in' : 'out of'} the universe of ${strategyId}${why}`] : []
}
