import type { DaemonConfig } from '../config/load-config.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { Holding } from '../domain/position.ts'
import { type Book, splitPair, unownedOf, unclaimedHolding } from '../engine/book/book.ts'
import type { EngineSettings } from '../engine/settings.ts'
import { formatOnGrid, type Grid } from '../lib/grid.ts'

export interface UnattendedPosition {
  readonly strategy?: string
  readonly symbol: string
  readonly side: 'long' | 'short'
  /** Base coin, or lots if the lot size was never configured. */
  readonly size: string
  readonly why: string
}

export interface UnattendedInput {
  readonly settings: Pick<EngineSettings, 'instruments' | 'strategies'>
  readonly strategies: DaemonConfig['strategies']
  readonly book: Pick<Book, 'positionMode' | 'holdings' | 'account' | 'orphans'>
  readonly grids: ReadonlyMap<string, { readonly lot: Grid }>
}

export function listUnattended(input: UnattendedInput): readonly UnattendedPosition[] {
  const { settings, book } = input
  const ofStrategies = [...book.holdings].flatMap(([key, holding]) => {
    const [strategy, symbol] = splitPair(key)
    const why = isStrategy(strategy) ? reasonOf(input, strategy, symbol) : undefined
    return why === undefined ? [] : describe(input, { strategy, symbol, why }, holding)
  })
  const ofAccount = [...book.account].flatMap(([symbol, holding]) => {
    const isKnown =
      settings.instruments.has(symbol) || ofStrategies.some((one) => one.symbol === symbol)
    return isKnown ? [] : describe(input, { symbol, why: NOT_CONFIGURED }, holding)
  })
  return [...ofStrategies, ...ofAccount, ...listUnclaimed(input)]
}

function listUnclaimed(input: UnattendedInput): readonly UnattendedPosition[] {
  const { settings, book } = input
  return [...book.account.keys()].flatMap((symbol) => {
    const isTraded = settings.instruments.has(symbol) && unownedOf(book, symbol).length === 0
    const why = `no strategy holds it, since somebody else has traded the instrument: ${adviseRest(symbol)}`
    return isTraded ? describe(input, { symbol, why }, unclaimedHolding(book, symbol)) : []
  })
}

export function adviseRest(symbol: string, configOption = ''): string {
  return `\`intentd adopt ${symbol} --to ID${configOption} --reason ...\` hands it to a strategy, \`intentd flatten ${symbol}${configOption} --reason ...\` closes it with everything else there`
}

/** Unattributed and unknown orders appear in the account's position. */
function isStrategy(holder: string): boolean {
  return holder !== '' && !holder.startsWith('~')
}

const NOT_CONFIGURED = 'the instrument is not configured any more'

function reasonOf(
  { settings, strategies }: UnattendedInput,
  strategy: string,
  symbol: string,
): string | undefined {
  if (!settings.instruments.has(symbol)) return NOT_CONFIGURED
  const active = settings.strategies.get(strategy as StrategyId)
  if (active) {
    return active.symbols.includes(symbol)
      ? undefined
      : 'the strategy does not list the instrument any more'
  }
  return strategies.some(({ id }) => id === strategy)
    ? 'the strategy is disabled'
    : 'the strategy was removed'
}

function describe(
  { grids }: UnattendedInput,
  named: Pick<UnattendedPosition, 'strategy' | 'symbol' | 'why'>,
  { longLots, shortLots }: Holding,
): readonly UnattendedPosition[] {
  const lot = grids.get(named.symbol)?.lot
  return (['long', 'short'] as const).flatMap((side) => {
    const lots = side === 'long' ? longLots : shortLots
    if (lots === 0) return []
    return { ...named, side, size: lot ? formatOnGrid(lot, lots) : `${lots} lots` }
  })
}
