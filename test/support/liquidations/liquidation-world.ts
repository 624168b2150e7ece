import { Backtest } from '../../../src/backtest/backtest.ts'
import { PassingJournal } from '../../../src/backtest/memory-journal.ts'
import { UID } from '../../../src/backtest/direct-exchange.ts'
import { type DaemonConfig, loadConfig } from '../../../src/config/load-config.ts'
import { toEngineSettings } from '../../../src/daemon/account/engine-settings.ts'
import { contractsOf, listInstruments } from '../../../src/daemon/embedded/listed-instruments.ts'
import { toStrategyId } from '../../../src/domain/ids.ts'
import { type HoldSide } from '../../../src/domain/position.ts'
import { decimal, sumDecimals } from '../../../src/lib/decimal.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { createExchangeCore, type ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import { createGreedyStrategy } from './greedy-strategies.ts'
import { LeapingMarket } from './leaping-market.ts'
import { type LiquidationPlan, type TradedSymbol } from './liquidation-plan.ts'

/** Two minutes to eight: funding is paid in the course of a world. */
const START_AT = Date.UTC(2025, 5, 2, 7, 58)
const OPENING = 10_000
const PRICES: Readonly<Record<TradedSymbol, number>> = { BTCUSDT: 60_000, ETHUSDT: 3000, SOLUSDT: 150 }
const POLLING = { tickersMs: 1000, fillsMs: 1000, positionsMs: 2000, timeMs: 500 }
const LATENCY_MS = 40
/** Before a leg prices have stood for a time, so every reading is of these prices. */
const LOOK_MS = 1

export interface LiquidationOutcome {
  readonly liquidations: number
  /** Of the balance at the start, at the end: what the ledger has and the positions are worth. */
  readonly left: number
  readonly fills: number
  /** How many prices of our own core were compared with those of the simulator, and where they differ. */
  readonly compared: number
  readonly differences: readonly string[]
  /** How many liquidations were compared with our price before them. */
  readonly foretold: number
}

const base = (): DaemonConfig => {
  known ??= loadConfig({ file: 'world.yaml', cwd: import.meta.dirname }).config
  return known
}
let known: DaemonConfig | undefined

/**
 * Plays a world.
 * @param survived The move of `risk.survives`; undefined: without any protection.
 */
export function runLiquidationWorld(plan: LiquidationPlan, survived: number | undefined): LiquidationOutcome {
  const scene = openScene(plan, survived)
  const { backtest, core } = scene
  const watch = new PriceWatch(scene)
  for (const { overMs, restMs } of plan.legs) {
    // Without protection the first one says all.
    if (survived === undefined && watch.liquidations > 0) break
    let passed = 0
    while (passed < overMs + restMs - LOOK_MS) {
      const step = Math.min(1000, overMs + restMs - LOOK_MS - passed)
      backtest.run(step)
      passed += step
      watch.look()
    }
    watch.compare()
    backtest.run(LOOK_MS)
  }
  core.advance(backtest.now)
  const { coins, positions, counts } = core.ledger(UID)
  const unrealised = positions.reduce((sum, position) => sum + Number(position.unrealised), 0)
  return {
    liquidations: counts.liquidations,
    left: (Number(coins[0]?.balance) + unrealised) / OPENING,
    fills: counts.fills,
    ...watch.found,
  }
}

interface Scene {
  readonly backtest: Backtest
  readonly core: ExchangeCore
  readonly market: LeapingMarket
  readonly plan: LiquidationPlan
  readonly tickOf: ReadonlyMap<string, number>
}

function openScene(plan: LiquidationPlan, survived: number | undefined): Scene {
  const config = configOf(plan, survived)
  const settings = settingsOf(plan, config)
  const instruments = listInstruments(contractsOf(config), START_AT).filter(({ symbol }) =>
    settings.instruments.has(symbol),
  )
  const lotsOf = (symbol: TradedSymbol): number => {
    const lotSize = Number(config.instruments[symbol]?.lotSize)
    return (OPENING * plan.leverage) / PRICES[symbol] / lotSize
  }
  const market = new LeapingMarket({
    startAt: START_AT,
    legs: plan.legs,
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
        ...{ uid: UID, label: 'world', key: 'key', secret: 'secret', passphrase: 'passphrase' },
        ...{ role: 'ordinary', balances: { USDT: String(OPENING) } },
        ...{ positionMode: plan.positionMode, leverage: plan.leverage },
      },
    ],
    market: () => market,
    settings: { marketStateEveryMs: Number.POSITIVE_INFINITY, fillModel: plan.fillModel },
    seed: plan.seed,
  })
  const backtest = new Backtest({
    ...{ startAt: START_AT, core, settings, polling: POLLING, latencyMs: LATENCY_MS },
    createJournal: () => new PassingJournal(),
    strategies: new Map(
      plan.symbols.map((symbol) => {
        const { kind, share } = plan.greed[symbol] ?? { kind: 'ladder', share: 0 }
        const lotsMax = Math.max(2, Math.floor(lotsOf(symbol) * share))
        const strategy = createGreedyStrategy({ kind, positionMode: plan.positionMode, lotsMax })
        return [toStrategyId(`greedy-${symbol.toLowerCase()}`), { strategy, params: {} }]
      }),
    ),
  })
  const tickOf = new Map(plan.symbols.map((symbol) => [symbol, Number(config.instruments[symbol]?.tickSize)]))
  return { backtest, core, market, plan, tickOf }
}

function configOf(plan: LiquidationPlan, survived: number | undefined): DaemonConfig {
  const { account, risk, simulator, instruments, ...rest } = base()
  const traded = Object.entries(instruments).filter(([symbol]) =>
    plan.symbols.includes(symbol as TradedSymbol),
  )
  if (simulator === undefined) throw new Error('the worlds are simulated')
  return {
    ...rest,
    account: { ...account, positionMode: plan.positionMode },
    instruments: Object.fromEntries(traded),
    simulator: { ...simulator, leverage: plan.leverage },
    risk:
      survived === undefined
        ? { ...risk, liquidation: 'none' }
        : { ...risk, survives: { move: survived, gap: true } },
  }
}

function settingsOf(plan: LiquidationPlan, config: DaemonConfig): EngineSettings {
  const settings = toEngineSettings(config, { salt: 'salt', version: '0', embedded: true, shown: new Map() })
  const limits = { positionMax: 1e9, orderSizeMax: 1e9, openOrdersMax: 50 }
  const strategies = plan.symbols.map((symbol) => {
    const id = toStrategyId(`greedy-${symbol.toLowerCase()}`)
    return [id, { id, symbols: [symbol], feeds: new Map(), limits: new Map([[symbol, limits]]) }] as const
  })
  return { ...settings, strategies: new Map(strategies) }
}

interface SeenPosition {
  readonly holdSide: HoldSide
  /** At which it would be liquidated by our own count; NaN: not known, or at none. */
  readonly ourPrice: number
  readonly mark: number
}

/** For so many looks nothing but the price has moved where a liquidation is compared with what was foretold. */
const STILL_LOOKS = 8

/** Compares the prices at which positions would be, and are, liquidated with those of our own core. */
class PriceWatch {
  readonly #scene: Scene
  readonly #differences: string[] = []
  #compared = 0
  #foretold = 0
  #counts = { liquidations: 0, fills: 0 }
  #stillFor = 0
  #before: SeenPosition | undefined

  constructor(scene: Scene) {
    this.#scene = scene
  }

  get liquidations(): number {
    return this.#counts.liquidations
  }

  get found(): Pick<LiquidationOutcome, 'compared' | 'foretold' | 'differences'> {
    return { compared: this.#compared, foretold: this.#foretold, differences: this.#differences }
  }

  /** While prices stand, what the exchange states and what our core has counted are the same to a tick. */
  compare(): void {
    // What was filled or paid just now our core has not read yet.
    if (this.#stillFor < STILL_LOOKS || !this.#isFundingKnown()) return
    for (const symbol of this.#scene.plan.symbols) {
      const tick = this.#scene.tickOf.get(symbol) ?? 0
      for (const { holdSide, liquidationPrice } of this.#positionsOf(symbol)) {
        const ours = this.#ourPrice(symbol, holdSide)
        const stated = Number(liquidationPrice)
        const isSame = stated > 0 ? Math.abs(ours - stated) <= tick : Number.isNaN(ours)
        this.#compared += 1
        if (!isSame) this.#differ(`${symbol} ${holdSide}: ours ${ours}, the exchange states ${stated}`)
      }
    }
  }

  /** Where one position alone is held, nothing but its price liquidates it: the mark has just passed ours. */
  look(): void {
    const { core, plan, backtest, market, tickOf } = this.#scene
    const { liquidations, fills, resting } = core.carryOut(backtest.now, ({ accounts }) => {
      const account = accounts.get(UID)
      if (account === undefined) throw new Error('the account is gone')
      return { ...account.counts, resting: account.openOrders.size }
    })
    const [symbol = '', ...others] = plan.symbols
    const tick = tickOf.get(symbol) ?? 0
    const mark = market.markAt(symbol, backtest.now) * tick
    if (liquidations > this.#counts.liquidations && this.#stillFor >= STILL_LOOKS)
      this.#judge(symbol, { mark, tick })
    this.#stillFor = fills === this.#counts.fills ? this.#stillFor + 1 : 0
    this.#counts = { liquidations, fills }
    const ours = backtest.distances.get(symbol) ?? []
    const [one] = ours
    // What rests may be filled on the way, and then the price is another.
    const isAlone = others.length === 0 && ours.length === 1 && resting === 0
    this.#before = one && isAlone ? { ...one, mark } : undefined
  }

  #judge(symbol: string, { mark, tick }: { readonly mark: number; readonly tick: number }): void {
    const before = this.#before
    if (before === undefined) return
    const [low, high] = [Math.min(mark, before.mark) - tick, Math.max(mark, before.mark) + tick]
    this.#foretold += 1
    if (!(before.ourPrice >= low && before.ourPrice <= high))
      this.#differ(
        `${symbol} ${before.holdSide}: liquidated between ${low} and ${high}, ours ${before.ourPrice}`,
      )
  }

  /** What was paid on a position that was closed right after it nobody can read: its counter went with it. */
  #isFundingKnown(): boolean {
    const { core, backtest } = this.#scene
    const [coin] = core.ledger(UID).coins
    const known = sumDecimals(backtest.book.funding.values())
    return known.eq(decimal(coin?.funding ?? '0'))
  }

  #differ(text: string): void {
    const { backtest, plan } = this.#scene
    this.#differences.push(`${plan.seed} after ${(backtest.now - START_AT) / 1000} s, ${text}`)
  }

  #ourPrice(symbol: string, holdSide: HoldSide): number {
    const ours = this.#scene.backtest.distances.get(symbol) ?? []
    return ours.find((one) => one.holdSide === holdSide)?.ourPrice ?? Number.NaN
  }

  #positionsOf(symbol: string) {
    const { core, backtest } = this.#scene
    const request = { symbol, productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const
    const reply = core.answer('singlePosition', { uid: UID }, request, backtest.now)
    if (!reply.ok) throw new Error(`no position of ${symbol}`)
    return reply.data
  }
}
