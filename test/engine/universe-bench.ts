import { type ContractRules } from '../../src/domain/contract-rules.ts'
import { type ExitRules } from '../../src/domain/exits.ts'
import { type Fill } from '../../src/domain/fill.ts'
import { FLAT, type Holding } from '../../src/domain/position.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { TickerTable, type TickerColumn } from '../../src/domain/ticker-table.ts'
import { type UniverseRule } from '../../src/domain/universe.ts'
import { rebuildBook, toBookRows } from '../../src/engine/book/book-rows.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { makeOwnLimits } from '../support/made-limits.ts'
import { EngineBench, STRATEGY } from './engine-bench.ts'

export const MINUTE = 60_000
export const HOUR = 3_600_000

const RULES: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  quoteCoin: 'USDT',
}

const RULE: UniverseRule = {
  everyMs: HOUR,
  include: [],
  exclude: [],
  top: { count: 2, by: 'volume', order: 'highest' },
  stickyMs: 0,
  leaving: 'close',
}

/** A core whose strategy trades what a rule chooses among made-up contracts: by symbol, the volume of each. */
export class UniverseBench extends EngineBench {
  readonly volumes = new Map<string, number>()
  readonly holdings = new Map<string, Holding>()
  /** What rows state otherwise, by symbol; undefined: there is no row. */
  readonly stated = new Map<string, Partial<Record<TickerColumn, number>> | undefined>()
  readonly #rules: Partial<UniverseRule>
  readonly #change: Partial<EngineSettings>

  constructor(
    rules: Partial<UniverseRule> = {},
    change: Partial<EngineSettings> = {},
    mode: PositionMode = 'one_way_mode',
  ) {
    super({ ...universeSettings(rules), ...change }, mode)
    this.#rules = rules
    this.#change = change
    for (const [index, symbol] of ['AUSDT', 'BUSDT', 'CUSDT'].entries())
      this.volumes.set(symbol, 3000 - index * 1000)
  }

  get members(): readonly string[] {
    return Object.keys(this.book.universes.get(STRATEGY)?.members ?? {})
  }

  get symbols(): readonly string[] {
    return this.engine.settings.strategies.get(STRATEGY)?.symbols ?? []
  }

  /** The contracts of the exchange as it lists them now; undefined: not at all. */
  readContracts(change: Readonly<Record<string, Partial<ContractRules> | undefined>> = {}): void {
    const listed = [...this.volumes.keys()].filter((one) => !(one in change) || change[one])
    const contracts = new Map(listed.map((one) => [one, { ...RULES, ...change[one] }]))
    this.step({ kind: 'contractsRead', contracts })
  }

  override start(): this {
    this.step({ kind: 'clockSynchronised', offsetMs: 0 })
    this.step({ kind: 'started' })
    this.readContracts()
    this.price()
    this.pass(3000)
    return this
  }

  override price(bid = 10_000, requestTime = this.now): EngineEvent {
    this.step({ kind: 'clockSynchronised', offsetMs: 0 })
    const tickers = new TickerTable(64)
    tickers.readAt = this.now
    tickers.requestTime = requestTime
    for (const [symbol, usdtVolume] of this.volumes) {
      const stated = this.stated.get(symbol)
      if (stated === undefined && this.stated.has(symbol)) continue
      const row = tickers.claimRow(symbol)
      const usual = { bidPr: bid, askPr: bid + 0.1, lastPr: bid, ts: this.now, usdtVolume }
      const values = { ...usual, ...stated }
      for (const [column, value] of Object.entries(values))
        tickers.columns[column as TickerColumn][row] = value
    }
    const heard = { kind: 'snapshotTaken', tickers } as const
    this.step(heard)
    return heard
  }

  /** Fills and positions are polled twice a second. */
  override pass(ms: number): void {
    for (const endAt = this.now + ms; this.now < endAt;) {
      super.pass(Math.min(500, endAt - this.now))
      this.step({ kind: 'pollDue', what: 'fills' })
      this.step({ kind: 'pollDue', what: 'positions' })
      this.read()
    }
  }

  /** Answers readings with what the account holds of each instrument. */
  override read({ fills = [] }: { readonly fills?: readonly Fill[] } = {}): void {
    for (const effect of this.take('readFills')) {
      const times = { requestedAt: this.now, exchangeTime: this.now }
      this.step({ kind: 'fillsRead', reading: { fills, sinceAt: effect.sinceAt, ...times } })
    }
    for (const { symbol } of this.take('readPosition')) this.answerPosition(symbol)
  }

  answerPosition(symbol: string): void {
    const holding = this.holdings.get(symbol) ?? FLAT
    const rows = (['long', 'short'] as const)
      .map((holdSide) => ({
        holdSide,
        lots: holding[`${holdSide}Lots`],
        openPriceAvg: 10_000,
        unrealisedProfit: '0',
        fundingFee: '',
        markPrice: 10_000,
        liquidationPrice: 0,
        positionMode: this.settings.positionMode,
      }))
      .filter(({ lots }) => lots > 0)
    const times = { requestedAt: this.now, exchangeTime: this.now }
    this.step({ kind: 'positionRead', reading: { symbol, rows, isSilent: false, ...times } })
  }

  /** The next hour begins: the rule is evaluated, and a minute later what is unconfirmed. */
  nextHour(): void {
    this.goOn(HOUR)
    this.goOn(MINUTE)
  }

  /** To the next multiple of a duration. */
  goOn(ms: number): void {
    this.now = (Math.floor(this.now / ms) + 1) * ms
    this.step({ kind: 'timePassed' })
    this.read()
    this.price()
    this.pass(1000)
  }

  /** Carries out the batch that was asked for: everything is filled at once. */
  fillBatch(): void {
    const batch = this.grantBatch()
    this.accept(batch)
    const fills = batch.clientOids.map((clientOid, index) => {
      const { symbol, lots, action } = this.book.orders.get(clientOid)?.terms ?? {
        symbol: '',
        lots: 0,
        action: 'openLong',
      }
      const isBuy = action === 'openLong' || action === 'closeShort'
      const { longLots } = this.holdings.get(symbol) ?? FLAT
      this.holdings.set(symbol, { longLots: longLots + (isBuy ? lots : -lots), shortLots: 0 })
      return this.fill({
        orderId: `${batch.batchId}00${index + 1}` as Fill['orderId'],
        symbol,
        lots,
        // In hedge mode a long position is closed by a buy with `close`.
        side: isBuy || this.settings.positionMode === 'hedge_mode' ? 'buy' : 'sell',
        tradeSide: isBuy ? 'open' : 'close',
        ticks: 100_000,
        scope: 'taker',
      })
    })
    this.step({ kind: 'pollDue', what: 'fills' })
    this.step({ kind: 'pollDue', what: 'positions' })
    this.read({ fills })
    this.pass(4000)
  }

  /** The process dies and begins again with settings that are read anew. */
  reborn(rules: Partial<UniverseRule> | undefined = this.#rules): UniverseBench {
    const next = new UniverseBench(rules, this.#change, this.settings.positionMode)
    if (rules === undefined) throw new Error('unreachable')
    return this.#handOver(next)
  }

  /** The same with a strategy that has no universe any more. */
  withoutUniverse(): UniverseBench {
    const [strategy] = universeSettings({}).strategies.values()
    const { id = STRATEGY, symbols = [], limits = new Map(), feeds = new Map() } = strategy ?? {}
    const strategies = new Map([[id, { id, symbols, limits, feeds }]])
    return this.#handOver(new UniverseBench({}, { ...this.#change, strategies }))
  }

  /** The same, after the exchange has stated other rules of members. */
  restated(change: Readonly<Record<string, Partial<ContractRules>>>): UniverseBench {
    const { roster } = this.settings
    if (roster === undefined) throw new Error('no universe')
    const stated = new Map(
      Object.entries(change).map(([symbol, rules]) => [symbol, { ...RULES, ...rules }]),
    )
    const settings = { ...this.#change, roster: { ...roster, stated } }
    return this.#handOver(new UniverseBench(this.#rules, settings, this.settings.positionMode))
  }

  #handOver(next: UniverseBench): UniverseBench {
    next.records.push(...this.records)
    next.now = this.now + 1000
    for (const [symbol, volume] of this.volumes) next.volumes.set(symbol, volume)
    for (const [symbol, holding] of this.holdings) next.holdings.set(symbol, holding)
    next.engine = createEngine(next.settings, this.rebuilt())
    return next
  }

  rebuilt() {
    return rebuildBook({ checkpoint: undefined, records: this.records }, this.settings.positionMode)
  }

  /** Whether the book is what its records add up to, also through a checkpoint (DET2). */
  get isBookWhole(): boolean {
    const rows = toBookRows(this.book)
    const again = rebuildBook({ checkpoint: rows, records: [] }, this.settings.positionMode)
    const texts = [rows, toBookRows(this.rebuilt()), toBookRows(again)].map((one) =>
      JSON.stringify(one),
    )
    return texts.every((text) => text === texts[0])
  }
}

/** The settings of a bench whose strategy has exits. */
export function withExits(exits: ExitRules, rules: Partial<UniverseRule> = {}) {
  const { strategies } = universeSettings(rules)
  return { strategies: new Map([...strategies].map(([id, one]) => [id, { ...one, exits }])) }
}

function universeSettings(rules: Partial<UniverseRule>) {
  const { positionMax: _most, orderSizeMax: _size, ...limits } = makeOwnLimits()
  const universe = {
    rule: { ...RULE, ...rules },
    fixed: new Set<string>(),
    limits: { ...limits, positionNotionalMax: 100_000 },
  }
  return {
    instruments: new Map(),
    strategies: new Map([
      [STRATEGY, { id: STRATEGY, symbols: [], limits: new Map(), feeds: new Map(), universe }],
    ]),
    roster: {
      frame: { productType: 'USDT-FUTURES', marginCoin: 'USDT' },
      fixed: new Set<string>(),
      readMax: 10,
    },
  } satisfies Partial<EngineSettings>
}
