import type { Ratio } from '../metrics.ts'
import type { RunReport } from '../run-report.ts'
import type { PriceCoverage } from '../run-facts.ts'

export function showShare(value: number, decimals = 2): string {
  return Number.isFinite(value) ? `${withSign(value * 100, decimals)} %` : 'n/a'
}

export function showNumber(value: number, decimals = 2): string {
  if (!Number.isFinite(value)) return 'n/a'
  const [whole = '', fraction] = Math.abs(value).toFixed(decimals).split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  const isZero = Number(value.toFixed(decimals)) === 0
  return `${value < 0 && !isZero ? '-' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

export function withSign(value: number, decimals = 2): string {
  const text = showNumber(value, decimals)
  return value > 0 && Number(value.toFixed(decimals)) !== 0 ? `+${text}` : text
}

/** A coin that is worth thousands needs more decimals. */
export function moneyDecimals({ opening }: { readonly opening: string }): number {
  return Number(opening) < 100 ? 6 : 2
}

/** @param decimals for money */
export function showRatio({ value, unit }: Ratio, decimals = 2): string {
  if (value === null) return 'n/a'
  switch (unit) {
    case 'share':
      return `${showNumber(value * 100)} %`
    case 'days':
      return `${showNumber(value, 1)} days`
    case 'money':
      return showNumber(value, Number.isInteger(value) ? 0 : decimals)
    case 'number':
      return showNumber(value, Number.isInteger(value) ? 0 : 2)
  }
}

export function isPerDay({ note }: Ratio): boolean {
  return note?.startsWith('per day') === true
}

export function showBeside(ratios: readonly (Ratio | undefined)[]): readonly string[] {
  const daily = ratios.map((ratio) => ratio !== undefined && isPerDay(ratio))
  const isMixed = daily.includes(true) && daily.includes(false)
  return ratios.map((ratio, index) => {
    if (ratio === undefined) return 'n/a'
    const span = daily[index] === true ? ' a day' : ' a year'
    return isMixed && ratio.value !== null ? showRatio(ratio) + span : showRatio(ratio)
  })
}

export function describeSteps({ liquidation }: Pick<RunReport, 'liquidation'>): readonly string[] {
  return (liquidation?.steps ?? []).map(
    ({ at, symbol, step, reason }) => `${symbol} ${showTime(at)} UTC, step ${step}: ${reason}`,
  )
}

const NAMED_MAX = 4

export function describeHold({
  instruments,
}: {
  readonly instruments: Readonly<Record<string, number>>
}): string {
  const symbols = Object.keys(instruments)
  if (symbols.length === 0) return 'nothing is traded'
  const names =
    symbols.length > NAMED_MAX
      ? `the ${symbols.length} instruments that strategies may trade`
      : symbols.join(', ')
  return `${symbols.length === 1 ? '' : 'equal parts of '}${names} from the first price to the last, without fees`
}

export const MADE_UP = 'made-up prices'

type PriceOrigin = Pick<PriceCoverage, 'symbol' | 'kind' | 'madeUp'>

/** A file may have been downloaded from a simulator. */
export function listMadeUpSymbols(coverage: readonly PriceOrigin[]): string[] {
  return coverage
    .filter(({ kind, madeUp }) => kind === 'seeded' || madeUp)
    .map(({ symbol }) => symbol)
}

/** Must be read before any figure; empty for real prices. */
export function describeMadeUp(coverage: readonly PriceOrigin[]): readonly string[] {
  const origin = nameMadeUp(coverage)
  if (origin === undefined) return []
  return [
    `${origin[0]?.toUpperCase()}${origin.slice(1)}: the figures say how a strategy works, and nothing of what it would have earned.`,
  ]
}

/** @returns `made-up prices of BTCUSDT (downloaded from a simulator)`; undefined for real ones */
export function nameMadeUp(coverage: readonly PriceOrigin[]): string | undefined {
  const madeUp = listMadeUpSymbols(coverage)
  if (madeUp.length === 0) return undefined
  const some = madeUp.length === coverage.length ? '' : ` of ${madeUp.join(', ')}`
  const sources = [
    ...(hasSeeded(coverage) ? ['seeded market'] : []),
    ...(coverage.some(({ madeUp: isFile }) => isFile) ? ['downloaded from a simulator'] : []),
  ]
  return `${MADE_UP}${some} (${sources.join(', or ')})`
}

export const hasSeeded = (coverage: readonly PriceOrigin[]): boolean =>
  coverage.some(({ kind }) => kind === 'seeded')

export function showTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}
