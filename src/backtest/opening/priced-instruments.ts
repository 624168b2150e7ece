import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import { Failure } from '../../lib/failure.ts'
import type { Recording } from '../../prices/recording.ts'
import type { PriceCoverage } from '../../report/run-facts.ts'
import { describePlace, hasRows, type PlayedRange } from '../played-prices.ts'

export type PriceSource = Pick<PriceCoverage, 'symbol' | 'sha256' | 'source'>

/** Leaves the instruments that are traded or have prices; no others are simulated. */
export function narrow(
  config: DaemonConfig,
  priced: readonly Pick<PriceSource, 'symbol'>[],
): DaemonConfig {
  const traded = new Set(listEnabled(config).flatMap(({ instruments }) => instruments))
  const recorded = new Set(priced.map(({ symbol }) => symbol))
  // Without recordings, all instruments have prices.
  const isOfAll = recorded.size === 0 && choosesInstruments(config)
  const instruments = Object.entries(config.instruments).filter(
    ([symbol]) => isOfAll || traded.has(symbol) || recorded.has(symbol),
  )
  return { ...config, instruments: Object.fromEntries(instruments) }
}

export function choosesInstruments(config: Pick<DaemonConfig, 'strategies'>): boolean {
  return listEnabled(config).some(({ universe }) => universe !== undefined)
}

const listEnabled = ({ strategies }: Pick<DaemonConfig, 'strategies'>) =>
  strategies.filter(({ enabled }) => enabled)

export function listUnfiled(
  config: DaemonConfig,
  files: readonly Pick<PriceSource, 'symbol'>[],
): readonly string[] {
  const filed = new Set(files.map(({ symbol }) => symbol))
  const traded = new Set(listEnabled(config).flatMap(({ instruments }) => instruments))
  return [...traded].filter((symbol) => !filed.has(symbol))
}

function tradedBy({ config, documents }: LoadedConfig): ReadonlyMap<string, readonly string[]> {
  const traders = listEnabled(config).flatMap(({ id, instruments }) =>
    instruments.map((symbol, index) => {
      const place = documents.strategies.get(id)?.locate(['instruments', index])
      return { symbol, trader: place ? `${id} (${place.source}:${place.line})` : id }
    }),
  )
  const groups = Map.groupBy(traders, ({ symbol }) => symbol)
  return new Map([...groups].map(([symbol, group]) => [symbol, group.map(({ trader }) => trader)]))
}

interface Unpriced {
  readonly symbol: string
  readonly traders: readonly string[]
  readonly elsewhere: readonly string[]
}

/** The market is seeded if there are neither files nor kept tickers. */
interface PricedRange extends PlayedRange {
  readonly universe?: object | undefined
}

function findUnpriced(
  loaded: LoadedConfig,
  whole: readonly Recording[],
  range: PricedRange,
): readonly Unpriced[] {
  if (whole.length === 0 && range.universe === undefined) return []
  return [...tradedBy(loaded)].flatMap(([symbol, traders]) => {
    const own = whole.filter((one) => one.symbol === symbol)
    if (own.some((one) => hasRows(one, range))) return []
    return [
      {
        symbol,
        traders,
        elsewhere: own.map((one) => `${one.source}: ${describePlace(one, range)}`),
      },
    ]
  })
}

export function describeUnpriced(
  loaded: LoadedConfig,
  whole: readonly Recording[],
  range: PlayedRange,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    findUnpriced(loaded, whole, range).map(({ symbol, traders, elsewhere }) => [
      symbol,
      [`traded by ${traders.join(', ')}`, ...elsewhere].join('; '),
    ]),
  )
}

/** @throws Failure BACKTEST_PRICES_MISSING, BACKTEST_PRICES_OUTSIDE */
export function assertPriced(
  loaded: LoadedConfig,
  whole: readonly Recording[],
  range: PricedRange,
): void {
  const unpriced = findUnpriced(loaded, whole, range)
  if (unpriced.length === 0) return
  const isOutside = unpriced.every(({ elsewhere }) => elsewhere.length > 0)
  throw new Failure({
    code: isOutside ? 'BACKTEST_PRICES_OUTSIDE' : 'BACKTEST_PRICES_MISSING',
    sentence: isOutside
      ? 'a strategy trades an instrument that has no prices in the range'
      : 'a strategy trades an instrument whose prices are not given',
    facts: describeUnpriced(loaded, whole, range),
    hint: isOutside
      ? 'choose another --from and --to, or leave out every strategy that trades it: enabled: false in its file'
      : 'add a --market for it, or leave out every strategy that trades it: enabled: false in its file',
  })
}
