/** Durations in params should span a few looks at the prices. */
import type { Problem } from '../../config/yaml/problem.ts'
import type { CheckedAccount } from './pace-warnings.ts'
import type { LoadedStrategy } from './strategies.ts'

export interface ShortWindow {
  readonly id: string
  readonly param: string
  readonly value: number
}

const UNITS_MS = { Seconds: 1000, Minutes: 60_000, Ms: 1 } as const
/** An average over fewer looks is hardly more than the last price. */
export const LOOKS_MIN = 4

/** @param lookMs interval of looks at the prices */
export function findShortWindows(
  strategies: readonly Pick<LoadedStrategy, 'id' | 'params'>[],
  lookMs: number,
): readonly ShortWindow[] {
  return strategies.flatMap(({ id, params }) =>
    Object.entries(params ?? {}).flatMap(([param, value]: [string, unknown]) => {
      const unit = Object.entries(UNITS_MS).find(([name]) => param.endsWith(name))
      const isShort =
        unit !== undefined && typeof value === 'number' && value * unit[1] < LOOKS_MIN * lookMs
      // 0 usually disables something.
      return isShort && value > 0 ? [{ id, param, value }] : []
    }),
  )
}

export function listShortWindows(accounts: readonly CheckedAccount[]): readonly Problem[] {
  return accounts.flatMap(({ loaded: { config, documents }, strategies }) => {
    const { tickersMs } = config.polling
    const { pollMs = tickersMs } = config.backtest
    const [lookMs, setting] =
      pollMs > tickersMs ? [pollMs, 'backtest.pollMs'] : [tickersMs, 'polling.tickersMs']
    return findShortWindows(strategies, lookMs).flatMap(
      ({ id, param, value }) =>
        documents.strategies
          .get(id)
          ?.problem(
            ['params', param],
            `${value} is shorter than ${LOOKS_MIN} looks at the prices, one each ${lookMs} ms (${setting}): it means little there; make it longer, or look more often`,
          ) ?? [],
    )
  })
}
