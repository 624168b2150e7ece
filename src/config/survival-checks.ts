import { isInverse } from '../domain/instrument.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/checked-file.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

interface SurvivalFile {
  readonly source: YamlSource
  readonly settings: PartialSettings<DaemonFile>
}

const PATH = ['risk', 'survives']

/**
 * `risk.survives` needs an equity, crossed margin, and a move and maintenance rules for every
 * instrument.
 */
export function checkSurvival({ source, settings }: SurvivalFile): Problem[] {
  const { risk, account, simulator, instruments } = settings
  const { move } = risk?.survives ?? {}
  if (risk?.survives === undefined || !source.has(PATH)) return []
  const hasCapital =
    account?.capital !== undefined ||
    simulator?.startingBalance !== undefined ||
    source.has(['account', 'capital'])
  const known = instruments && Object.keys(instruments)
  const moved = typeof move === 'object' ? Object.keys(move) : known
  return [
    ...(account !== undefined && !hasCapital
      ? [
          source.problemOfKey(
            PATH,
            `is a share of the equity, which nobody knows: set account.capital to what the account holds${account.marginCoin === undefined ? '' : ` in ${account.marginCoin}`}`,
          ),
        ]
      : []),
    ...(account?.marginMode === 'isolated'
      ? [
          source.problemOfKey(
            PATH,
            'needs account.marginMode: crossed, since an isolated position is closed by its own margin whatever the account holds: remove survives, and lower account.leverage so far that 1 / leverage is above the move',
          ),
        ]
      : []),
    ...Object.entries(simulator === undefined ? (instruments ?? {}) : {}).flatMap(
      ([symbol, instrument]) =>
        instrument === undefined ||
        instrument.maintenance !== undefined ||
        source.has(['instruments', symbol, 'maintenance'])
          ? []
          : [
              source.problemOfKey(
                ['instruments', symbol],
                'risk.survives needs its maintenance: list the tiers of its contract page, such as maintenance: [{ upTo: "1000000", rate: 0.004 }, { rate: 0.01 }]',
              ),
            ],
    ),
    ...(known ?? [])
      .filter((symbol) => moved !== undefined && !moved.includes(symbol))
      .map((symbol) =>
        source.problemOfKey(
          [...PATH, 'move'],
          `${symbol} has no move: write one for every instrument, such as ${symbol}: 0.12`,
        ),
      ),
    ...(known === undefined ? [] : (moved ?? []))
      .filter((symbol) => known?.includes(symbol) === false)
      .map((symbol) =>
        source.problemOfKey([...PATH, 'move', symbol], `${symbol} is not listed under instruments`),
      ),
  ]
}

/** In the quote coin, if nothing else is held and no order rests. */
export interface LargestHolding {
  readonly symbol: string
  readonly long: number
  readonly short: number
  /** The figures of inverse contracts are in the base coin. */
  readonly isInverse: boolean
}

interface LargestInput {
  readonly productType: DaemonFile['account']['productType']
  readonly capital: number
  readonly move: (symbol: string) => number
  readonly rules: ReadonlyMap<
    string,
    {
      readonly tiers: readonly { readonly notionalMax: number; readonly rate: number }[]
      readonly takerFeeRate: number
    }
  >
}

/**
 * Capital = value × (move + fee + (1 ∓ move) × (rate + fee)), before funding, by the tier of the
 * largest value on the way. Inverse contracts use the coin and the first tier, since the price is
 * unknown.
 */
export function listLargest({
  productType,
  capital,
  move,
  rules,
}: LargestInput): readonly LargestHolding[] {
  const inBase = isInverse({ productType })
  return [...rules].map(([symbol, { tiers, takerFeeRate: fee }]) => {
    const share = move(symbol)
    const largest = (there: number): number => {
      const loss = inBase ? Math.abs(1 - 1 / there) : share
      const spanOf = inBase ? 1 : there
      let best = 0
      for (const { notionalMax, rate } of inBase ? tiers.slice(0, 1) : tiers) {
        const value = capital / (loss + fee + spanOf * (rate + fee))
        const most = inBase ? value : notionalMax / Math.max(1, there)
        best = Math.max(best, Math.min(value, most))
        if (value <= most) break
      }
      return best
    }
    return { symbol, long: largest(1 - share), short: largest(1 + share), isInverse: inBase }
  })
}
