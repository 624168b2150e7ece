import { readFileSync } from 'node:fs'
import { type Project } from '../daemon/project.ts'
import {
  type Ladder,
  type Mode,
  type Policies,
  type Reading,
  type ScenarioName,
  SCENARIOS,
} from './scenario.ts'
import { makeOwnRisk, makeRisk } from '../support/made-limits.ts'

export const INSTRUMENTS = {
  BTCUSDT: { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' },
  ETHUSDT: { tickSize: '0.01', lotSize: '0.01', minSize: '0.01', minNotional: '5' },
}

export const ACCOUNT = {
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
} as const
export const BALANCE = '100000000'

/** Market time goes fast: quotes move through a ladder within a second. */
export const MARKET = {
  prices: { BTCUSDT: '60000', ETHUSDT: '3000' },
  yearlyVolatility: 0.6,
  stepMs: 100,
  speed: 1200,
}

/** How late the exchange shows a fill, and how late the daemon thinks it may, ms. */
export const FILL_LAG_MS = 100
const FILL_VISIBILITY_MS = 200

/** How long a signed request is good for, ms: as short as the configuration lets it be. */
export const TOLERANCE_MS = 1000

/** Beyond the tolerance, by as much as a busy machine may be wrong about the exchange's clock. */
const ACCEPTANCE_WINDOW_MS = 1300

const STRATEGY = new URL('./busy-strategy.ts', import.meta.url)

/** A campaign shares its machine: nothing is late before this, ms. */
export const WAIT_MS_MAX = 240_000

/** Relative to the project. */
export const CONFIG_FILE = 'config/crash.yaml'
export const EXCHANGE_FILE = 'config/exchange.yaml'
export const STATE = 'state'

export interface CrashConfig {
  readonly mode: Mode
  readonly url: string
  /** BTC an order of the busy strategy; ETH are ten times as many. */
  readonly size: string
  readonly policies: Policies
  readonly ladder?: Ladder | undefined
}

const LADDER: Ladder = { spacingBps: 3, levels: 3, recentreAfterLevels: 2 }

export interface ExchangeFile {
  readonly mode: Mode
  readonly reading: Reading
  readonly seed: number
  readonly scenario: ScenarioName
  /** Where it listens; by default on loopback, wherever there is room. */
  readonly at?: { readonly host: string; readonly port: number }
}

/** A daemon that trades a lot, and in which nothing waits longer than it must. */
export function writeCrashConfig(project: Project, given: CrashConfig): void {
  const { mode, url, size, policies, ladder = LADDER } = given
  project.write('elsewhere/busy.ts', readFileSync(STRATEGY, 'utf8'))
  const sizes = { BTCUSDT: Number(size), ETHUSDT: Number(size) * 10 }
  const strategies = Object.entries(sizes).flatMap(([symbol, each]) => {
    const name = symbol.toLowerCase().slice(0, 3)
    writeStrategy(project, {
      id: `grid-${name}`,
      module: '../../strategies/grid.ts',
      symbol,
      size: each,
      ladder,
    })
    writeStrategy(project, {
      id: `busy-${name}`,
      module: '../../elsewhere/busy.ts',
      symbol,
      size: each,
    })
    return [`grid-${name}`, `busy-${name}`]
  })
  const main = {
    name: 'crash',
    environment: 'simulator',
    exchange: { baseUrl: url, requestTimeoutMs: 300 },
    account: { ...ACCOUNT, positionMode: mode },
    instruments: INSTRUMENTS,
    polling: { tickersMs: 100, positionsMs: 300, fillsMs: 150 },
    risk: makeRisk({
      priceCollarRatio: 0.1,
      orderNotionalMax: '100000000',
      grossNotionalMax: '1000000000',
    }),
    execution: { fillVisibilityMs: FILL_VISIBILITY_MS, acceptanceWindowMs: ACCEPTANCE_WINDOW_MS },
    state: { directory: `../${STATE}` },
    ...policies,
    strategies: strategies.map((id) => `crash/${id}.yaml`),
  }
  project.write(CONFIG_FILE, JSON.stringify(main, undefined, 2))
}

/** What `intentd simulate` is told. One that is hostile drops requests, loses answers, and gives others late. */
export function writeExchange(project: Project, given: ExchangeFile): void {
  const { mode, reading, seed, scenario, at = { host: '127.0.0.1', port: 0 } } = given
  const file = {
    ...at,
    seed,
    speed: MARKET.speed,
    market: { startPrices: MARKET.prices, yearlyVolatility: MARKET.yearlyVolatility },
    instruments: INSTRUMENTS,
    accounts: [
      { name: 'crash', ...ACCOUNT, positionMode: mode, startingBalance: BALANCE, leverage: 10 },
    ],
    idempotency: reading,
    fillVisibilityLagMs: FILL_LAG_MS,
    timestampToleranceMs: TOLERANCE_MS,
    faults: SCENARIOS[scenario].faults.probability,
  }
  project.write(EXCHANGE_FILE, JSON.stringify(file, undefined, 2))
}

interface StrategyFile {
  readonly id: string
  readonly module: string
  readonly symbol: string
  readonly size: number
  readonly ladder?: Ladder
}

function writeStrategy(project: Project, { id, module, symbol, size, ladder }: StrategyFile): void {
  const params = { ...ladder, size: String(size) }
  const file = {
    id,
    module,
    instruments: [symbol],
    params,
    risk: makeOwnRisk({
      positionMax: String(size * 20),
      orderSizeMax: String(size * 2),
      openOrdersMax: 100,
    }),
  }
  project.write(`config/crash/${id}.yaml`, JSON.stringify(file))
}
