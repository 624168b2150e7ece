import { type Answer } from '../../src/domain/answer.ts'
import { type Fill } from '../../src/domain/fill.ts'
import { type StrategyId, toOrderId, toStrategyId } from '../../src/domain/ids.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type Intent, type QuoteLevel } from '../../src/domain/intent.ts'
import { type Holding, type PositionRow } from '../../src/domain/position.ts'
import { type JournalRecord, type StrategyKey, type UsedKey } from '../../src/domain/record.ts'
import { type TickerColumn, TickerTable } from '../../src/domain/ticker-table.ts'
import { type Book } from '../../src/engine/book/book.ts'
import { type Effect } from '../../src/engine/effect.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import { withUsedKeys } from '../../src/interpreter/interpreter.ts'
import { MemoryKeys } from '../../src/journal/tables/key-table.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { type BatchResult } from '../../src/protocol/values.ts'
import { madeInstrument, MOMENT_AT } from '../support/market-moment.ts'
import { makeLimits, makeOwnLimits } from '../support/made-limits.ts'

export const SYMBOL = 'BTCUSDT'
export const STRATEGY = toStrategyId('s')

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>
type RecordOf<Kind extends JournalRecord['kind']> = Extract<JournalRecord, { kind: Kind }>

/** A core in the hands of a test: it is told each event, and everything that it wants done is kept. */
export class EngineBench {
  readonly settings: EngineSettings
  readonly records: JournalRecord[] = []
  readonly #keys = new MemoryKeys()
  effects: Effect[] = []
  now = MOMENT_AT
  engine: Engine
  #trades = 0
  #sequence = 0
  /** When the exchange made the last prices: no two answers are made at one moment. */
  #pricedAt = 0

  constructor(change: Partial<EngineSettings> = {}, mode: PositionMode = 'one_way_mode') {
    this.settings = { ...madeSettings(mode), ...change }
    this.engine = createEngine(
      this.settings,
      rebuildBook({ checkpoint: undefined, records: [] }, mode),
    )
  }

  get book(): Book {
    return this.engine.book
  }

  /** What is restricted, and why, but for a kill: by scope. */
  get halts(): ReadonlyMap<string, string> {
    const held = [...this.book.restrictions.values()].filter(({ code }) => code !== 'kill')
    return new Map(held.map(({ scope, reason }) => [scope, reason]))
  }

  step(event: EngineEvent): readonly Effect[] {
    const effects = this.engine.step(withUsedKeys(event, this.book, this), this.now)
    for (const effect of effects) if (effect.kind === 'record') this.#append(effect.record)
    for (const effect of effects)
      if (effect.kind === 'decide') this.#sequence = effect.snapshot.sequence
    this.effects.push(...effects)
    return effects
  }

  /** What a journal knows of keys that the book has forgotten. */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  #append(record: JournalRecord): void {
    this.records.push(record)
    this.#keys.add(record)
  }

  /** Time passes in steps of 50 ms; everything that is read meanwhile is answered as told. */
  pass(ms: number, account: Parameters<EngineBench['read']>[0] = {}): void {
    for (const endAt = this.now + ms; this.now < endAt;) {
      this.now += 50
      this.price()
      this.step({ kind: 'timePassed' })
      this.read(account)
    }
  }

  /** Answers every read that was asked for. */
  read({
    holding = { longLots: 0, shortLots: 0 },
    fills = [],
    fundingFee = '',
    says = {},
  }: {
    readonly holding?: Holding
    readonly fills?: readonly Fill[]
    /** As the exchange counts it up for each position. */
    readonly fundingFee?: string
    /** What each row says besides. */
    readonly says?: Partial<PositionRow>
  } = {}): void {
    for (const effect of this.take('readFills')) {
      const reading = {
        fills,
        sinceAt: effect.sinceAt,
        requestedAt: this.now,
        exchangeTime: this.now,
      }
      this.step({ kind: 'fillsRead', reading })
    }
    for (const { symbol } of this.take('readPosition')) {
      const rows = (['long', 'short'] as const).map((holdSide) => ({
        holdSide,
        lots: holding[`${holdSide}Lots`],
        openPriceAvg: 10_000,
        unrealisedProfit: '0',
        fundingFee,
        markPrice: 10_000,
        liquidationPrice: 0,
        positionMode: this.settings.positionMode,
        ...says,
      }))
      const held = rows.filter(({ lots }) => lots > 0)
      this.step({
        kind: 'positionRead',
        reading: {
          symbol,
          rows: held,
          isSilent: false,
          requestedAt: this.now,
          exchangeTime: this.now,
        },
      })
    }
  }

  /** A run begins and trades; the account is flat unless told otherwise. */
  start(account: Parameters<EngineBench['read']>[0] = {}): this {
    this.step({ kind: 'clockSynchronised', offsetMs: 0 })
    this.step({ kind: 'started' })
    this.price()
    for (let tries = 0; tries < 60 && this.engine.phase === 'starting'; tries++)
      this.pass(100, account)
    this.price()
    return this
  }

  /** The process dies and begins again on what was recorded. */
  restart(): this {
    this.engine = createEngine(
      this.settings,
      rebuildBook({ checkpoint: undefined, records: this.records }, this.settings.positionMode),
    )
    this.effects = []
    return this
  }

  /** 10,000.0 to 10,000.1, now, on every instrument; `requestTime`: what the answer says of the exchange's clock. */
  price(
    bid = 10_000,
    requestTime = Math.max(this.now, this.#pricedAt + 0.001),
    columns: Partial<Record<TickerColumn, number>> = {},
  ): EngineEvent {
    this.#pricedAt = requestTime
    this.step({ kind: 'clockSynchronised', offsetMs: 0 })
    const tickers = new TickerTable(this.settings.instruments.size)
    tickers.readAt = this.now
    tickers.requestTime = requestTime
    const values = { bidPr: bid, askPr: bid + 0.1, lastPr: bid, ts: this.now, ...columns }
    for (const symbol of this.settings.instruments.keys()) {
      const row = tickers.claimRow(symbol)
      for (const [column, value] of Object.entries(values)) {
        tickers.columns[column as 'bidPr'][row] = value
      }
    }
    const heard = { kind: 'snapshotTaken', tickers } as const
    this.step(heard)
    return heard
  }

  decide(...intents: Intent[]): void {
    this.decideAs(STRATEGY, ...intents)
  }

  decideAs(strategyId: StrategyId, ...intents: Intent[]): void {
    this.#hear(strategyId, intents, {})
  }

  /** Wants so many lots, buys them at the market, and lets time pass until nothing is in the way of a ladder. */
  buy(lots: number): void {
    this.decide({ kind: 'target', symbol: SYMBOL, lots })
    const batch = this.grantBatch()
    this.accept(batch)
    const orderId = toOrderId(`${batch.batchId}001`)
    const fill = this.fill({ orderId, lots, ticks: 100_000, scope: 'taker' })
    const holding = { longLots: lots, shortLots: 0 }
    this.step({ kind: 'pollDue', what: 'fills' })
    this.read({ fills: [fill], holding })
    this.pass(6000, { holding })
  }

  /** Decides, and remembers that from now on. */
  remember(state: unknown, ...intents: Intent[]): void {
    this.#hear(STRATEGY, intents, state)
  }

  #hear(strategyId: StrategyId, intents: readonly Intent[], state: unknown): void {
    this.step({
      kind: 'decided',
      strategyId,
      sequence: this.#sequence,
      intents,
      state,
      denials: [],
    })
  }

  quote(...levels: QuoteLevel[]): void {
    this.decide({ kind: 'quote', symbol: SYMBOL, levels })
  }

  /** Grants the batch call that was asked for, and returns what left. */
  grantBatch(): EffectOf<'sendBatch'>['batch'] {
    this.take('askGrant')
    this.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    const [sent] = this.take('sendBatch')
    if (!sent) throw new Error('nothing was sent')
    return sent.batch
  }

  /** Everything of a batch is accepted, under the order ids 1, 2, 3 … of its batch. */
  accept(batch: EffectOf<'sendBatch'>['batch']): void {
    const successList = batch.clientOids.map((clientOid, index) => ({
      clientOid,
      orderId: `${batch.batchId}00${index + 1}`,
    }))
    this.answer(batch.batchId, accepted({ successList, failureList: [] }))
  }

  /** The exchange refuses everything of a batch. */
  refuse(batch: EffectOf<'sendBatch'>['batch'], errorCode: string): void {
    const failureList = batch.clientOids.map((clientOid) => ({
      orderId: '',
      clientOid,
      errorCode,
      errorMsg: 'refused',
    }))
    this.answer(batch.batchId, accepted({ successList: [], failureList }))
  }

  answer(batchId: number, answer: Answer<BatchResult>): void {
    this.step({ kind: 'batchAnswered', batchId, answer })
  }

  /** Grants the cancel-all that was asked for. */
  grantCancel(): EffectOf<'sendCancelAll'> {
    this.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
    const [sent] = this.take('sendCancelAll')
    if (!sent) throw new Error('no cancel-all was sent')
    return sent
  }

  answerCancel(cancelId: number, answer: Answer<BatchResult>): void {
    this.step({ kind: 'cancelAnswered', cancelId, answer })
  }

  fill(change: Partial<Fill>): Fill {
    this.#trades += 1
    return {
      tradeId: `9${this.#trades}` as Fill['tradeId'],
      orderId: '1001' as Fill['orderId'],
      symbol: SYMBOL,
      side: 'buy',
      tradeSide: 'open',
      ticks: 99_990,
      lots: 4,
      fee: '0.01',
      profit: '0',
      scope: 'maker',
      source: 'API',
      filledAt: this.now,
      ...change,
    }
  }

  /** The effects of one kind since they were taken last. */
  take<Kind extends Effect['kind']>(kind: Kind): EffectOf<Kind>[] {
    const isOfKind = (effect: Effect): effect is EffectOf<Kind> => effect.kind === kind
    const found = this.effects.filter(isOfKind)
    this.effects = this.effects.filter((effect) => effect.kind !== kind)
    return found
  }

  recordsOf<Kind extends JournalRecord['kind']>(kind: Kind): RecordOf<Kind>[] {
    return this.records.filter((record): record is RecordOf<Kind> => record.kind === kind)
  }

  /** The states of all orders, in the order in which they were made. */
  states(): string[] {
    return [...this.book.orders.values()].map(({ state }) => state)
  }
}

export const TIMED_OUT: Answer<never> = {
  kind: 'unknown',
  cause: 'timeout',
  code: '',
  message: '',
  status: undefined,
  receivedAt: 0,
}

export function accepted(data: BatchResult): Answer<BatchResult> {
  return { kind: 'accepted', data, receivedAt: 0 }
}

export function refused(
  code: string,
  refusal: 'definite' | 'retry' | 'notSent',
  topic = '',
): Answer<never> {
  return {
    kind: 'refused',
    class: refusal,
    code,
    topic,
    message: '',
    status: 400,
    receivedAt: 0,
  }
}

function madeSettings(positionMode: PositionMode): EngineSettings {
  const limits = makeOwnLimits({ positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 })
  return {
    salt: 'salt',
    version: '1',
    environment: 'simulator',
    configHash: '0',
    productType: 'USDT-FUTURES',
    positionMode,
    marginMode: 'crossed',
    instruments: new Map([[SYMBOL, madeInstrument()]]),
    strategies: new Map([
      [
        STRATEGY,
        { id: STRATEGY, symbols: [SYMBOL], limits: new Map([[SYMBOL, limits]]), feeds: new Map() },
      ],
    ]),
    limits: makeLimits({
      dataAgeMaxMs: 1000,
      // Its tests let time pass without polls; those of the limit itself set one.
      accountAgeMaxMs: 1e12,
      openOrdersMax: 200,
    }),
    isExclusive: false,
    execution: {
      batchOrdersMax: 50,
      fillVisibilityMs: 1000,
      matchingLagMs: 500,
      acceptanceWindowMs: 10_000,
      unwantedMsMax: 5000,
      displacedWithinMs: 5000,
      takerCollarRatio: 0.001,
      crossedToleranceMs: 2000,
      stopTimeoutMs: 40_000,
    },
    foreignFills: 'halt',
    onRestart: 'adopt',
  }
}
