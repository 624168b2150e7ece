import { join } from 'node:path'
import { UID } from '../../src/backtest/direct-exchange.ts'
import type { VirtualStrategy } from '../../src/backtest/backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { toEngineSettings, toInstruments } from '../../src/assembly/settings/engine-settings.ts'
import { loadStrategies, requireCode } from '../../src/assembly/strategies/strategies.ts'
import type { StrategyId } from '../../src/domain/ids.ts'
import type { Book } from '../../src/engine/book/book.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { createExchangeCore, type ExchangeCore } from '../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  toMarketInstrument,
} from '../../src/simulator/futures/instruments/instruments.ts'
import type { LedgerStatement } from '../../src/simulator/futures/accounts/ledger-view.ts'
import { SeededMarket } from '../../src/simulator/market/seeded/seeded-market.ts'
import { compareMoney } from '../support/invariants/book-comparison.ts'

export const START_AT = Date.UTC(2025, 5, 2, 6)
export const POLLING = { tickersMs: 500, fillsMs: 1000, positionsMs: 5000, timeMs: 100 }
const SYMBOLS = ['BTCUSDT', 'ETHUSDT']

export interface PaperAccount {
  readonly core: ExchangeCore
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, VirtualStrategy>
}

interface MarketPace {
  readonly speed?: number
  /** Between two prices; default: as the market has it. */
  readonly stepMs?: number
}

/** The shipped strategies, grid and trend on both instruments, and an exchange whose market has this seed. */
export async function openPaperAccount(
  seed: string,
  { speed = 1, stepMs }: MarketPace = {},
): Promise<PaperAccount> {
  const cwd = join(import.meta.dirname, '../..')
  const { config, documents } = loadConfig({ file: 'config/paper.yaml', cwd })
  const loaded = await loadStrategies(config, documents, toInstruments(config))
  const listed = buildInstruments(START_AT + 90 * 86_400_000)
  const instruments = listed.filter(({ symbol }) => SYMBOLS.includes(symbol))
  const { positionMode } = config.account
  const market = {
    seed,
    speed,
    ...(stepMs !== undefined && { stepMs }),
    startAt: START_AT,
    instruments: instruments.map(toMarketInstrument),
  }
  const core = createExchangeCore({
    instruments,
    accounts: [
      {
        uid: UID,
        label: 'backtest',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        positionMode,
        role: 'ordinary',
        balances: { USDT: '100000' },
        leverage: 10,
      },
    ],
    market: () => new SeededMarket(market),
    settings: { marketStateEveryMs: Number.POSITIVE_INFINITY, fillVisibilityLagMs: 200 },
    seed,
  })
  return {
    core,
    settings: toEngineSettings(config, {
      salt: 'salt',
      version: '0',
      embedded: true,
      shown: new Map(),
    }),
    strategies: new Map(
      loaded.map((one) => [one.id, { strategy: requireCode(one), params: one.params }]),
    ),
  }
}

/** What the exchange's ledger and a book that is flat say differently. */
export function differencesOf(book: Book, ledger: LedgerStatement): readonly string[] {
  const [coin] = ledger.coins
  const fills = [...book.money.values()].reduce((sum, money) => sum + money.fills, 0)
  return [
    ...(coin ? compareMoney(book, coin) : ['no coin']),
    ...(ledger.counts.fills === fills ? [] : [`${fills} fills of ${ledger.counts.fills}`]),
    ...(ledger.openOrders.length === 0 ? [] : ['orders rest']),
    ...(ledger.positions.length === 0 ? [] : ['positions are held']),
  ]
}
