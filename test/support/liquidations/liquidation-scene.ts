import { UID } from '../../../src/backtest/direct-exchange.ts'
import { MemoryJournal } from '../../../src/backtest/backtest.ts'
import { type DaemonConfig, loadConfig } from '../../../src/config/load-config.ts'
import { toEngineSettings } from '../../../src/assembly/settings/engine-settings.ts'
import {
  contractsOf,
  listInstruments,
} from '../../../src/assembly/instruments/listed-instruments.ts'
import { type StrategyId, toStrategyId } from '../../../src/domain/ids.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import { AccountRun, type AccountRunOptions } from './account-run.ts'
import { createGreedyStrategy } from './greedy-strategies.ts'
import { LeapingMarket } from './leaping-market.ts'
import { COIN_MARGINED, type LiquidationPlan, type TradedSymbol } from './liquidation-plan.ts'

/** Two minutes to eight: funding is paid during a world. Unix ms. */
export const START_AT = Date.UTC(2025, 5, 2, 7, 58)
/** Orders that were filled in part are sent again once a second. */
const CLOSING_MS = 3000
const PRICES: Readonly<Record<TradedSymbol, number>> = {
  BTCUSDT: 60_000,
  ETHUSDT: 3000,
  SOLUSDT: 150,
  [COIN_MARGINED]: 60_000,
}

const base = (): DaemonConfig => {
  known ??= loadConfig({ file: 'world.yaml', cwd: import.meta.dirname }).config
  return known
}
let known: DaemonConfig | undefined

interface SceneParts extends Pick<AccountRunOptions, 'core' | 'settings' | 'strategies'> {
  readonly plan: LiquidationPlan
  readonly market: LeapingMarket
}

export class LiquidationScene {
  readonly plan: LiquidationPlan
  readonly core: ExchangeCore
  readonly market: LeapingMarket
  readonly #parts: SceneParts
  readonly #journal: MemoryJournal
  #run: AccountRun
  #now = START_AT
  #isKilled = false

  constructor(parts: SceneParts) {
    this.plan = parts.plan
    this.core = parts.core
    this.market = parts.market
    this.#parts = parts
    this.#journal = new MemoryJournal(parts.settings.salt)
    this.#run = this.#begin(false)
  }

  /** Unix ms. */
  get now(): number {
    return this.#now
  }

  get engine(): Engine {
    return this.#run.engine
  }

  /** Whether something was closed just now: what is left to close may be waiting for the book to fill again. */
  get isClosing(): boolean {
    return this.core.carryOut(this.#now, ({ accounts }) => {
      const { fills = [], positions } = accounts.get(UID) ?? {}
      const last = fills.at(-1)
      const isHeld = [...(positions?.values() ?? [])].some(({ lots }) => lots > 0)
      return (
        isHeld &&
        last !== undefined &&
        last.tradeSide.includes('close') &&
        this.#now - last.at < CLOSING_MS
      )
    })
  }

  tickOf(symbol: string): number {
    return Number(contractsOfPlan(this.plan)[symbol]?.tickSize)
  }

  /** At most a second. */
  pass(forMs: number): void {
    const isAway = this.#isSilent('kill', this.#now)
    if (this.#isKilled && !isAway) this.#run = this.#begin(true)
    this.#isKilled = isAway
    this.#now += forMs
    if (isAway) while (!this.core.advance(this.#now));
    else this.#run.run(forMs)
  }

  #begin(hasPreviousRun: boolean): AccountRun {
    const { core, settings, strategies } = this.#parts
    return new AccountRun({
      core,
      settings,
      strategies,
      hasPreviousRun,
      startAt: this.#now,
      productType: moneyOf(this.plan).productType,
      journal: this.#journal,
      isCutOff: (at) => this.#isSilent('outage', at),
    })
  }

  #isSilent(kind: 'outage' | 'kill', at: number): boolean {
    const { silence } = this.plan
    const from = START_AT + (silence?.fromMs ?? 0)
    return silence?.kind === kind && at >= from && at < from + silence.forMs
  }
}

export function moneyOf({ symbols, balance }: LiquidationPlan): {
  readonly productType: 'USDT-FUTURES' | 'COIN-FUTURES'
  readonly coin: 'USDT' | 'BTC'
  readonly balance: string
} {
  if (!symbols.includes(COIN_MARGINED))
    return { productType: 'USDT-FUTURES', coin: 'USDT', balance: String(balance) }
  const coins = (balance / PRICES[COIN_MARGINED]).toFixed(8)
  return { productType: 'COIN-FUTURES', coin: 'BTC', balance: coins }
}

function contractsOfPlan({ symbols }: LiquidationPlan): DaemonConfig['instruments'] {
  const { BTCUSDT, ...others } = base().instruments
  if (BTCUSDT === undefined) throw new Error('the worlds trade BTCUSDT')
  const all = { BTCUSDT, [COIN_MARGINED]: BTCUSDT, ...others }
  return Object.fromEntries(
    Object.entries(all).filter(([symbol]) => symbols.includes(symbol as TradedSymbol)),
  )
}

/** @param survived move of `risk.survives`; undefined: no protection */
export function openScene(plan: LiquidationPlan, survived: number | undefined): LiquidationScene {
  const config = configOf(plan, survived)
  const settings = settingsOf(plan, config)
  const instruments = listInstruments(contractsOf(config), START_AT).filter(({ symbol }) =>
    settings.instruments.has(symbol),
  )
  const lotsOf = (symbol: TradedSymbol): number => {
    const lotSize = Number(config.instruments[symbol]?.lotSize)
    return (plan.balance * plan.leverage) / PRICES[symbol] / lotSize
  }
  const money = moneyOf(plan)
  const market = new LeapingMarket({
    startAt: START_AT,
    fundingRate: plan.fundingRate,
    instruments: plan.symbols.map((symbol) => ({
      symbol,
      startTicks: Math.round(PRICES[symbol] / Number(config.instruments[symbol]?.tickSize)),
      lots: Math.max(1, Math.round(lotsOf(symbol) * plan.depth)),
    })),
  })
  const core = createExchangeCore({
    instruments,
    accounts: [
      {
        uid: UID,
        label: 'world',
        key: 'key',
        secret: 'secret',
        passphrase: 'passphrase',
        role: 'ordinary',
        balances: { [money.coin]: money.balance },
        positionMode: plan.positionMode,
        leverage: plan.leverage,
      },
    ],
    market: () => market,
    settings: { marketStateEveryMs: Number.POSITIVE_INFINITY, fillModel: plan.fillModel },
    seed: plan.seed,
  })
  const strategies = new Map(
    plan.symbols.map((symbol) => {
      const greed = plan.greed[symbol] ?? { kind: 'ladder', share: 0, larger: 'long' }
      const lotsMax = Math.max(2, Math.floor(lotsOf(symbol) * greed.share))
      const { positionMode, isFine } = plan
      const strategy = createGreedyStrategy({ ...greed, positionMode, lotsMax, isFine })
      return [strategyOf(symbol), { strategy, params: {} }]
    }),
  )
  return new LiquidationScene({ plan, core, market, settings, strategies })
}

function strategyOf(symbol: string): StrategyId {
  return toStrategyId(`greedy-${symbol.toLowerCase()}`)
}

function configOf(plan: LiquidationPlan, survived: number | undefined): DaemonConfig {
  const { account, risk, simulator, ...rest } = base()
  const { productType, coin, balance } = moneyOf(plan)
  if (simulator === undefined) throw new Error('the worlds are simulated')
  return {
    ...rest,
    account: { ...account, productType, marginCoin: coin, positionMode: plan.positionMode },
    instruments: contractsOfPlan(plan),
    simulator: { ...simulator, leverage: plan.leverage, startingBalance: balance },
    risk:
      survived === undefined
        ? { ...risk, liquidation: 'none' }
        : { ...risk, survives: { move: survived, gap: plan.gap } },
  }
}

function settingsOf(plan: LiquidationPlan, config: DaemonConfig): EngineSettings {
  const settings = toEngineSettings(config, {
    salt: 'salt',
    version: '0',
    embedded: true,
    shown: new Map(),
  })
  const limits = { positionMax: 1e9, orderSizeMax: 1e9, openOrdersMax: 50 }
  const strategies = plan.symbols.map((symbol) => {
    const id = strategyOf(symbol)
    return [
      id,
      { id, symbols: [symbol], feeds: new Map(), limits: new Map([[symbol, limits]]) },
    ] as const
  })
  return { ...settings, strategies: new Map(strategies) }
}
