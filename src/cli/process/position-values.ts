/** Shows `positionMax` in money, because a size in base coin is easily taken for an amount. */
import type { DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import { listLargest } from '../../config/survival-checks.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import {
  toInstruments,
  toLiquidationSettings,
  toSurvivalSettings,
} from '../../assembly/settings/engine-settings.ts'
import type { BookedFill } from '../../journal/booking.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { systemClock } from '../../lib/clock.ts'
import { floatOnGrid, type Grid } from '../../lib/grid.ts'
import { filesOf } from '../../assembly/simulator/simulated-exchange.ts'
import { loadRecording } from '../../prices/load-recording.ts'
import { findNewestJournal } from './newest-journal.ts'

const FILLS_SINCE_MS = 30 * 86_400_000

/**
 * Takes the last price of a file, else of our last fill, else the first of the simulator.
 * @throws Failure RECORDING_… for unreadable files
 */
export async function findKnownPrices(
  loaded: LoadedConfig,
  played: PlayedPrices,
): Promise<ReadonlyMap<string, number>> {
  const prices = new Map(findPricesOfBefore(loaded))
  const { simulator } = loaded.config
  if (simulator === undefined) return prices
  for (const file of filesOf(simulator, { files: played.files, speed: undefined })) {
    const { symbol, rows } = await loadRecording(file)
    const price = (rows.kind === 'candles' ? rows.close : rows.last).at(-1)
    if (price !== undefined) prices.set(symbol, price)
  }
  return prices
}

function findPricesOfBefore({ config }: LoadedConfig): ReadonlyMap<string, number> {
  const prices = new Map(
    Object.entries(config.simulator?.market.startPrices ?? {}).map(([symbol, price]) => [
      symbol,
      Number(price),
    ]),
  )
  const file = findNewestJournal(config.state.directory)
  if (file === undefined) return prices
  try {
    const reader = new JournalReader(file)
    try {
      const fills = reader.bookings('fill', { since: systemClock.now() - FILLS_SINCE_MS })
      for (const { symbol, price } of fills as Iterable<BookedFill>)
        prices.set(symbol, Number(price))
    } finally {
      reader.close()
    }
  } catch {}
  return prices
}

interface PositionValue {
  readonly strategy: string
  readonly words: string
  readonly notional: number
}

export function listPositionValues(
  { config }: LoadedConfig,
  prices: ReadonlyMap<string, number>,
): readonly PositionValue[] {
  const coin = config.account.marginCoin
  return config.strategies.flatMap(({ id, enabled, instruments, risk }) =>
    (enabled ? instruments : []).flatMap((symbol) => {
      const price = prices.get(symbol)
      if (price === undefined || risk.positionMax === undefined) return []
      const base = symbol.endsWith(coin) ? symbol.slice(0, -coin.length) : `of ${symbol}`
      const quote = symbol.endsWith(coin) ? coin : 'of the quote coin'
      const notional = Number(risk.positionMax) * price
      const words = `${id} ${risk.positionMax} ${base}, about ${show(notional)} ${quote} at ${show(price)}`
      return [{ strategy: id, words, notional }]
    }),
  )
}

export async function listPositionWarnings(
  loaded: LoadedConfig,
  played: PlayedPrices,
): Promise<readonly Problem[]> {
  const prices = await findKnownPrices(loaded, played)
  const values = Map.groupBy(listPositionValues(loaded, prices), ({ strategy }) => strategy)
  return loaded.config.strategies.flatMap(({ id, risk }) => {
    const own = values.get(id) ?? []
    const limit = Number(risk.positionNotionalMax ?? Number.POSITIVE_INFINITY)
    if (own.length === 0 || own.some(({ notional }) => notional <= limit)) return []
    const message = `${own.map(({ words }) => words).join('; ')}: positionNotionalMax ${risk.positionNotionalMax} is reached first; positionMax is a size in the base coin`
    return loaded.documents.strategies.get(id)?.problem(['risk', 'positionMax'], message) ?? []
  })
}

export async function findNarrowStops(
  loaded: LoadedConfig,
  played: PlayedPrices,
): Promise<readonly Problem[]> {
  const { config, documents } = loaded
  if (config.strategies.every(({ exits }) => exits === undefined)) return []
  const prices = await findKnownPrices(loaded, played)
  const steps = toInstruments(config)
  return config.strategies.flatMap(({ id, instruments, exits }) =>
    (['stop', 'trailing'] as const).flatMap((part) => {
      const distance = exits?.[part]?.distance
      const source = documents.strategies.get(id)
      if (distance === undefined || source === undefined) return []
      return instruments.flatMap((symbol) => {
        const [price, tick] = [prices.get(symbol), steps.get(symbol)?.tick]
        if (price === undefined || tick === undefined) return []
        const objection = objectToDistance({ distance, price, tick })
        const place = ['exits', part, 'distance']
        return objection === undefined ? [] : [source.problem(place, `${symbol}: ${objection}`)]
      })
    }),
  )
}

interface StopWidth {
  readonly distance: number
  readonly price: number
  readonly tick: Grid
}

/** Any move passes a level nearer than a tick, and none a level below the lowest price. */
function objectToDistance({ distance, price, tick }: StopWidth): string | undefined {
  const step = floatOnGrid(tick, 1)
  const of = `${distance} of about ${show(price)}`
  if (distance * price < step * (1 - ROUNDING))
    return `${of} is ${show(distance * price)}, less than one tick (${tick.step}), so the first move against the position passes it; write ${upToShare(step / price)} or more`
  if (price * (1 - distance) >= step * (1 - ROUNDING)) return undefined
  return `${of} leaves less than one tick (${tick.step}), so no price of a long position reaches it; write ${downToShare(1 - step / price)} or less`
}

const ROUNDING = 1e-9
/** Shares are whole millionths. */
const SHARES = 1_000_000

const upToShare = (share: number): number => Math.ceil(share * SHARES) / SHARES
const downToShare = (share: number): number => Math.floor(share * SHARES) / SHARES

/**
 * @returns lines such as `BTCUSDT 80,610 USDT long or 71,003 short, about 0.806 or 0.71 at 100,000`
 */
export function listBudget(
  config: DaemonConfig,
  prices: ReadonlyMap<string, number>,
): readonly string[] {
  const { account, simulator, strategies } = config
  const survives = toSurvivalSettings(config)
  const capital = Number(account.capital ?? simulator?.startingBalance)
  if (survives === undefined || Number.isNaN(capital)) return []
  const { rules } = toLiquidationSettings(config)
  const traded = new Set(
    strategies.flatMap(({ enabled, instruments }) => (enabled ? instruments : [])),
  )
  const move = (symbol: string): number =>
    Math.max(
      survives.moves.get(symbol) ?? Number.NaN,
      survives.jointMoves.get(symbol) ?? Number.NaN,
    )
  return listLargest({ productType: account.productType, capital, move, rules }).flatMap(
    ({ symbol, long, short, isInverse }) => {
      if (!traded.has(symbol)) return []
      const price = prices.get(symbol)
      const coin = isInverse ? 'of the base coin' : account.marginCoin
      const sizes =
        price === undefined || isInverse
          ? ''
          : `, about ${show(long / price)} or ${show(short / price)} at ${show(price)}`
      return [`${symbol} ${show(long)} ${coin} long or ${show(short)} short${sizes}`]
    },
  )
}

export function listIdleLimits({ risk, account, strategies }: DaemonConfig): readonly string[] {
  const limits: (readonly [what: string, max: number])[] = [
    [`risk.grossNotionalMax ${risk.grossNotionalMax}`, Number(risk.grossNotionalMax)],
  ]
  if (risk.leverageMax !== undefined && account.capital !== undefined)
    limits.push([
      `risk.leverageMax ${risk.leverageMax} of the capital ${account.capital}`,
      risk.leverageMax * Number(account.capital),
    ])
  return strategies.flatMap(({ id, enabled, risk: { positionNotionalMax } }) => {
    const lower = limits.find(([, max]) => Number(positionNotionalMax ?? 0) > max)
    if (!enabled || lower === undefined) return []
    return [`${id} positionNotionalMax ${positionNotionalMax} (${lower[0]})`]
  })
}

/** @returns how many orders it takes to turn from long to short, such as `trend-btc 2` */
export function listFlips({ strategies }: DaemonConfig): readonly string[] {
  return strategies
    .filter(({ enabled, risk }) => enabled && risk.positionMax !== undefined)
    .map(({ id, risk: { positionMax, orderSizeMax } }) => {
      // Rounds to ten decimals, which no size has: 0.3 / 0.1 is slightly below 3.
      const orders = Number(((2 * Number(positionMax)) / Number(orderSizeMax)).toFixed(10))
      return `${id} ${Math.ceil(orders)}`
    })
}

const show = (amount: number): string =>
  amount.toLocaleString('en-US', { maximumSignificantDigits: 6 })
