import {
  addTicker,
  DirectExchange,
  MARGIN_COIN,
  type PlacedBatch,
  type SimulatedExchange,
  type FillsQuery,
  UID,
} from '../../../src/backtest/direct-exchange.ts'
import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import {
  batchPlaceOrder,
  type BatchPlaceItem,
} from '../../../src/protocol/futures/batch-place-order.ts'
import {
  cancelAllOrders,
  type CancelAllRequest,
} from '../../../src/protocol/futures/cancel-all-orders.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  type ListedContract,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { type Market } from '../../../src/simulator/market/market.ts'
import { cancelInPart } from '../faults/cancel-faults.ts'
import { blurCancel, blurItems, splitItems } from '../faults/item-faults.ts'
import { SettingChanges } from '../faults/changed-settings.ts'
import { cancelAround, Suspensions } from '../faults/suspensions.ts'
import { MoneyFaults } from '../faults/money-faults.ts'
import { spoilTicker } from '../faults/ticker-faults.ts'
import { type WorldPlan } from '../world/world-plan.ts'
import { type ContractRules } from '../../../src/domain/contract-rules.ts'
import { ChangingList } from '../universe/changing-list.ts'
import { ExchangeTruth, isOpenThere } from './exchange-truth.ts'
import { BrokenTickers } from '../months/broken-tickers.ts'
import { BrokenFills } from '../months/broken-fills.ts'
import { pageWithout, showHands } from '../faults/hand-fills.ts'
import { VirtualMarket } from './virtual-market.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'

export interface VirtualExchangeOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  readonly seed: string
  /** Unix ms: when the market begins. */
  readonly startAt: number
  readonly symbols: readonly string[]
  readonly others?: readonly string[]
  readonly positionMode: 'one_way_mode' | 'hedge_mode'
  readonly settings: Partial<CoreSettings>
  /** Maximum distance of a signed timestamp from the exchange's clock; it expires requests (A1). */
  readonly toleranceMs: number
  readonly balance: string
  readonly leverage: number
  /** Largest step of the market, in ticks. */
  readonly moveTicks: number
  /** Duration of the market step that begins at `at` (Unix ms); default: constant. */
  readonly marketStepMs?: (at: number) => number
  readonly crash?: WorldPlan['crash'] | undefined
  readonly lieMsMax?: number | undefined
  readonly hasChangingList?: boolean | undefined
  /** Instead of the random walks. */
  readonly market?: (instruments: readonly ListedContract[]) => Market
}

export const MARKET_STEP_MS = 100

const CHECKED_AHEAD_MS = [-3_600_000, -120_000, 120_000, 3_600_000] as const

/** A mistake repeated without truth between is believed, so it does not recur sooner. */
const EMPTY_AGAIN_MS = 30_000
const EMPTY_AGAIN_READINGS = 8

/** The simulated exchange with faults: it loses, refuses and blurs. */
export class VirtualExchange implements SimulatedExchange {
  readonly core: ExchangeCore
  readonly truth: ExchangeTruth
  readonly suspensions: Suspensions
  readonly settingChanges: SettingChanges
  readonly brokenFills: BrokenFills
  readonly instruments: readonly ListedContract[]
  /** Keyed by tradeId: fills that no read shows. */
  readonly unseen = new Set<string>()
  /** Prices of the random walks in ticks, whatever answers say. */
  readonly priceOf: (symbol: string) => number
  readonly brokenTickers = new BrokenTickers()
  /** Receives the orders that a cancel-all, known by its body, has taken. */
  onCancelled: (body: string, clientOids: readonly string[]) => void = () => undefined
  readonly #options: VirtualExchangeOptions
  readonly #direct: DirectExchange
  #checked = { aheadMs: 0, namesTime: true, until: 0 }
  readonly #money: MoneyFaults
  readonly #list: ChangingList | undefined
  /** Keyed by instrument: last empty reading by mistake (Unix ms), and readings since. */
  readonly #emptyAt = new Map<string, { readonly at: number; readonly readings: number }>()

  constructor(options: VirtualExchangeOptions) {
    this.#options = options
    this.brokenFills = new BrokenFills(options.faults, options.time)
    const { startAt, crash, lieMsMax } = options
    this.#money = new MoneyFaults({
      faults: options.faults,
      now: () => this.now,
      startAt,
      crash,
      lieMsMax,
    })
    this.truth = new ExchangeTruth()
    const nowOfTrouble = (): number =>
      options.faults.isOn ? options.time.now : Number.POSITIVE_INFINITY
    this.suspensions = new Suspensions(nowOfTrouble)
    this.settingChanges = new SettingChanges(nowOfTrouble)
    const listed = buildInstruments(startAt + 90 * 86_400_000)
    const symbols = [...options.symbols, ...(options.others ?? [])]
    const all = symbols.flatMap((symbol) => {
      const alike = listed.find((one) => one.symbol === symbol) ?? listed.find(isModel)
      return alike ? [{ ...alike, symbol }] : []
    })
    this.instruments = all.filter(({ symbol }) => options.symbols.includes(symbol))
    if (options.hasChangingList === true)
      this.#list = new ChangingList({
        seed: options.seed,
        instruments: this.instruments,
        now: () => (options.faults.isOn ? this.now : undefined),
      })
    const startTicks = new Map(
      all.map((one) => [one.symbol, Math.round(Number(one.startPrice) / one.tickFloat)]),
    )
    const walks = new VirtualMarket({
      seed: `${options.seed}/market`,
      startAt,
      stepMs: options.marketStepMs ?? (() => MARKET_STEP_MS),
      startTicks,
      moveTicks: options.moveTicks,
      jumpEvery: 200,
      crash: crash && { ...crash, at: startAt + crash.afterMs },
    })
    this.priceOf = (symbol) => walks.priceOf(symbol)
    this.core = createExchangeCore({
      instruments: all,
      accounts: [
        {
          uid: UID,
          label: 'virtual',
          key: 'key',
          secret: 'secret',
          passphrase: 'passphrase',
          positionMode: options.positionMode,
          role: 'ordinary',
          balances: { [MARGIN_COIN]: options.balance },
          leverage: options.leverage,
        },
      ],
      market: () => options.market?.(this.instruments) ?? walks,
      settings: {
        marketStateEveryMs: Number.POSITIVE_INFINITY,
        fillModel: 'optimistic',
        ...options.settings,
      },
      store: this.truth,
      seed: options.seed,
    })
    this.#direct = new DirectExchange(this.core, () => this.now)
  }

  get contracts(): ReadonlyMap<string, ContractRules> | undefined {
    return this.#list?.contracts
  }

  get now(): number {
    return this.#options.time.now
  }

  placeBatch({ body, signedAt, isCopy }: PlacedBatch): Reply<BatchResult> {
    if (this.#isExpired(signedAt)) return EXPIRED
    const request = batchPlaceOrder.request.parse(JSON.parse(body))
    const { faults } = this.#options
    if (!isCopy && faults.strikes('keyRefused', 'batchPlaceOrder')) return KEY_REFUSED
    const isHeld = [...this.truth.positions].some((one) => one.symbol === request.symbol)
    const isKnown = request.orderList.some(({ clientOid }) => this.truth.hasOrder(clientOid))
    const objection = this.settingChanges.objectToBatch(request.symbol, request.marginMode, isHeld)
    if (objection !== undefined && !isKnown) return objection
    // For a copy the exchange only considers unknown orders.
    const known = request.orderList.filter(
      ({ clientOid }) => isCopy && this.truth.hasOrder(clientOid),
    )
    const { taken, failures } = splitItems(
      request.orderList.filter((item) => !known.includes(item)),
      faults,
    )
    const objections = taken.flatMap((item) => this.#objectTo(request.symbol, item) ?? [])
    const orderList = [...known, ...taken.filter((item) => !this.#objectTo(request.symbol, item))]
    const reply: Reply<BatchResult> =
      orderList.length === 0
        ? { ok: true, data: { successList: [], failureList: [] } }
        : this.core.answer(
            'batchPlaceOrder',
            { uid: UID },
            { ...request, marginMode: 'crossed', orderList },
            this.now,
          )
    if (!reply.ok) return reply
    const { successList, failureList } = reply.data
    return {
      ok: true,
      data: blurItems(
        { successList, failureList: [...failureList, ...failures, ...objections] },
        faults,
      ),
    }
  }

  cancelAll(body: string, signedAt: number): Reply<BatchResult> {
    if (this.#isExpired(signedAt)) return EXPIRED
    const request = cancelAllOrders.request.parse(JSON.parse(body))
    const { requestTime, receiveWindow = '60000' } = request
    const checkedAt = this.now + this.checkedAheadMs
    if (
      requestTime !== undefined &&
      Math.abs(checkedAt - Number(requestTime)) > Number(receiveWindow)
    ) {
      return { ok: false, code: '40078', message: 'outside the receive window' }
    }
    const { faults, time } = this.#options
    if (faults.strikes('cancelFailed', 'cancel')) return this.#failCancel(request.symbol)
    const reply =
      this.#cancelAround(request) ??
      cancelInPart({ core: this.core, uid: UID, request, time, faults })
    if (!reply.ok) return reply
    const taken = reply.data.successList.map(({ clientOid }) => clientOid ?? '')
    this.onCancelled(body, taken)
    return { ok: true, data: blurCancel(reply.data, faults) }
  }

  fillsPage(query: FillsQuery): ReturnType<SimulatedExchange['fillsPage']> {
    const reply = pageWithout(this.unseen, query, (asked) => this.#direct.fillsPage(asked))
    const page = this.#money.showFills(
      this.brokenFills.break(showHands(reply, this.truth)),
      this.truth,
    )
    return this.brokenFills.makeOdd(page, query.limit)
  }

  position(symbol: string): ReturnType<DirectExchange['position']> {
    const { at, readings } = this.#emptyAt.get(symbol) ?? { at: 0, readings: EMPTY_AGAIN_READINGS }
    const isBelieved = this.now - at < EMPTY_AGAIN_MS || readings < EMPTY_AGAIN_READINGS
    this.#emptyAt.set(symbol, { at, readings: readings + 1 })
    if (!isBelieved && this.#options.faults.strikes('positionEmpty', symbol)) {
      this.#emptyAt.set(symbol, { at: this.now, readings: 0 })
      return { ok: true, data: [] }
    }
    if (this.#options.faults.strikes('positionSilent', symbol)) return { ok: true, data: null }
    // The whole row as on the wire: a spoilt answer is read by the schema.
    const request = { productType: 'USDT-FUTURES', symbol, marginCoin: MARGIN_COIN } as const
    const reply = this.core.answer('singlePosition', { uid: UID }, request, this.now)
    if (!reply.ok || reply.data === null) return this.brokenFills.makePositionOdd(reply, symbol)
    const stated = [...this.#money.state(symbol, this.settingChanges.show(reply.data))]
    return this.brokenFills.makePositionOdd({ ...reply, data: stated }, symbol)
  }

  exitsListed(symbol: string): ReturnType<DirectExchange['exitsListed']> {
    return this.#direct.exitsListed(symbol)
  }

  moveExit(body: string): ReturnType<DirectExchange['moveExit']> {
    return this.#direct.moveExit(body)
  }

  readTickers(table: TickerTable): void {
    table.clear()
    this.brokenTickers.forget(table)
    const { faults } = this.#options
    const { symbols } = this.#options
    this.#list?.beginAnswer()
    const rows = this.#direct.tickers().filter(({ symbol }) => symbols.includes(symbol))
    const broken = rows.find(({ symbol }) => faults.strikes('tickerBroken', symbol))
    if (broken) return this.brokenTickers.read(table, rows, { broken: broken.symbol, faults })
    for (const ticker of rows) {
      if (faults.strikes('tickerMissing', ticker.symbol)) continue
      if (this.#list?.isShown(ticker.symbol) === false) continue
      addTicker(table, ticker, this.suspensions.stateOf(ticker.symbol))
      spoilTicker(table, ticker.symbol, faults)
      this.#money.spoilPrices(table, ticker.symbol)
    }
    this.#list?.stateVolumes(table)
  }

  /** Misstated parts of a fill, by `fillKey`. */
  misstatedOf(key: string) {
    return this.#money.misstated.get(key)
  }

  ledger() {
    return this.core.ledger(UID)
  }

  /** Lead of the clock that checks times of batches and cancel-alls. */
  get checkedAheadMs(): number {
    const { aheadMs, until } = this.#checked
    return this.#options.faults.isOn && this.now < until ? aheadMs : 0
  }

  /** The lead that refusals state; undefined: they name no time. */
  get refusalsAheadMs(): number | undefined {
    const { namesTime, until } = this.#checked
    return namesTime || this.now >= until ? this.checkedAheadMs : undefined
  }

  #isExpired(signedAt: number): boolean {
    const { faults, toleranceMs } = this.#options
    if (faults.strikes('checkedElsewhere', 'signature')) {
      const drawn = faults.severity(0, 1_000_000)
      const aheadMs = CHECKED_AHEAD_MS[drawn % CHECKED_AHEAD_MS.length] ?? 0
      this.#checked = { aheadMs, namesTime: drawn % 5 > 0, until: this.now + 1000 + (drawn % 9000) }
    }
    return Math.abs(this.now + this.checkedAheadMs - signedAt) > toleranceMs
  }

  /** Existing orders are answered; others are ignored while their instrument is suspended. */
  #objectTo(symbol: string, item: BatchPlaceItem) {
    const there = item.clientOid === undefined ? undefined : this.truth.orderOf(item.clientOid)
    const isForgotten =
      this.#options.settings.idempotency === 'pendingOnly' && there && !isOpenThere(there)
    if (there && !isForgotten) return undefined
    const instrument = this.instruments.find((one) => one.symbol === symbol)
    const offGrid = instrument && this.settingChanges.objectTo(instrument, item)
    return offGrid ?? this.suspensions.objectTo(symbol, item)
  }

  #cancelAround(request: CancelAllRequest): Reply<BatchResult> | undefined {
    const { symbols } = this.#options
    const named = request.symbol === undefined ? symbols : [request.symbol]
    return cancelAround({
      suspensions: this.suspensions,
      symbols: named,
      open: this.ledger().openOrders.filter(({ symbol }) => named.includes(symbol)),
      cancel: (symbol) =>
        this.core.answer('cancelAllOrders', { uid: UID }, { ...request, symbol }, this.now),
    })
  }

  /** Nothing is cancelled, and the answer says so for each order. */
  #failCancel(symbol: string | undefined): Reply<BatchResult> {
    const open = this.ledger().openOrders.filter(
      (order) => symbol === undefined || order.symbol === symbol,
    )
    const failureList = open.map(({ orderId, clientOid }) => ({
      orderId,
      clientOid,
      errorMsg: 'system busy',
      errorCode: '40725',
    }))
    if (open.length === 0) return { ok: false, code: '22001', message: 'No order to cancel' }
    return { ok: true, data: { successList: [], failureList } }
  }
}

/** Contracts that the simulator lacks are derived from this one. */
function isModel({ symbol }: ListedContract): boolean {
  return symbol === 'ETHUSDT'
}

const KEY_REFUSED = { ok: false, code: '40014', message: 'Incorrect permissions' } as const
const EXPIRED = { ok: false, code: '40008', message: 'Request timestamp expired' } as const
