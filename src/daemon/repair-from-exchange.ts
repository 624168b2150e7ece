import { createCore } from '../engine/state/create-core.ts'
import { takeOverPositions } from '../engine/lifecycle/take-over-positions.ts'
import type { Holding } from '../domain/position.ts'
import { showOnGrid } from '../lib/grid.ts'
import { untilDurable } from '../journal/journal.ts'
import { noteOwnState } from '../assembly/account/account-keys.ts'
import {
  cancelResting,
  type OfflineAccount,
  type OfflineOptions,
  readHoldings,
  withOfflineAccount,
} from './offline-account.ts'

export interface ExchangeRepairOptions extends OfflineOptions {
  readonly onWait: (forMs: number) => void
}

export interface RepairResult {
  /** In the base coin, before and after. */
  readonly positions: readonly {
    readonly symbol: string
    readonly held: string
    readonly was: string
  }[]
  readonly cancelled: number
}

/**
 * An older state takes over the exchange's positions. Everything that rests is cancelled, and
 * cancelled again once no request of a run that was just killed can be accepted (A1). This state
 * would not know of such a run, so the wait is unconditional.
 * @throws Failure STATE_OF_OTHER_KEYS, and those of `withOfflineAccount`
 */
export function repairFromExchange(options: ExchangeRepairOptions): Promise<RepairResult> {
  const { config, timers, onWait } = options
  const { keys } = config.account
  return withOfflineAccount(options, async (account) => {
    const { book, settings, journal, own, directory } = account
    const symbols = [...settings.instruments.keys()]
    await readHoldings(account, keys)
    await noteOwnState(journal, own, { directory, isAccepted: true })
    const early = await cancelAll(account, symbols, keys)
    const { acceptanceWindowMs } = settings.execution
    onWait(acceptanceWindowMs)
    await new Promise<void>((resolve) => timers.after(acceptanceWindowMs, resolve))
    const late = await cancelAll(account, symbols, keys)
    const there = await readHoldings(account, keys)
    const before = new Map(symbols.map((symbol) => [symbol, book.account.get(symbol)]))
    const core = createCore(settings, book)
    takeOverPositions(core, there, {
      kind: 'repaired',
      at: account.clock.now(),
      strategies: config.strategies.map(({ id }) => id),
      symbols,
      reason: 'the state was older than the exchange, whose positions were taken over',
    })
    for (const effect of core.effects)
      if (effect.kind === 'record') journal.append(effect.record, effect.bookings)
    await untilDurable(journal)
    const show = (symbol: string, holding: Holding | undefined): string => {
      const lot = settings.instruments.get(symbol)?.lot
      const { longLots = 0, shortLots = 0 } = holding ?? {}
      if (lot === undefined || longLots + shortLots === 0) return 'flat'
      const sides = [longLots > 0 && `long ${showOnGrid(lot, longLots)}`]
      return [...sides, shortLots > 0 && `short ${showOnGrid(lot, shortLots)}`]
        .filter(Boolean)
        .join(', ')
    }
    return {
      cancelled: early + late,
      positions: symbols.map((symbol) => ({
        symbol,
        held: show(symbol, there.holdings.get(symbol)),
        was: show(symbol, before.get(symbol)),
      })),
    }
  })
}

async function cancelAll(
  account: OfflineAccount,
  symbols: readonly string[],
  keys: string | undefined,
): Promise<number> {
  let cancelled = 0
  for (const symbol of symbols) cancelled += (await cancelResting(account, symbol, keys)).length
  return cancelled
}
