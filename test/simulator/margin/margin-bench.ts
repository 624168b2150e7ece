import {
  type ExchangeAccountSetup,
  type ExchangeMarginMode,
} from '../../../src/simulator/shared/account.ts'
import { accept, type Reply } from '../../../src/simulator/shared/reply.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { fillModel } from '../../../src/simulator/matching/fill-model.ts'
import { writeMarginPast } from '../../../src/simulator/demo/margin-past.ts'
import { borrowRefusal, lend, payBack } from '../../../src/simulator/margin/debts/loans.ts'
import { marginHandlers, marginLedger, openMargin } from '../../../src/simulator/margin/margin.ts'
import { passTime } from '../../../src/simulator/margin/debts/pass-time.ts'
import { type MarginSettings } from '../../../src/simulator/margin/margin-settings.ts'
import { balanceOf } from '../../../src/simulator/margin/orders/margin-order.ts'
import { refreshBooks, type MarginState } from '../../../src/simulator/margin/margin-state.ts'
import {
  placeNow,
  type PlaceMarginOrderRequest,
} from '../../../src/simulator/margin/orders/place-order.ts'
import { type RowStore, type StoredRow } from '../../../src/simulator/store/row-store.ts'
import { PairsTaken } from '../../../src/simulator/services/pairs-taken.ts'
import { StoredRows } from '../../../src/simulator/store/stored-rows.ts'
import { createOrderSequence } from '../../../src/simulator/shared/order-sequence.ts'
import { Wallet } from '../../../src/simulator/wallet/wallet.ts'
import { createMemoryStore } from '../futures/memory-store.ts'
import { HandMarket, type QuoteText } from '../wallet/hand-market.ts'
import { Part } from '../wallet/service-bench.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** A full hour, so that interest falls due at round times. */
export const START_AT = 1_750_000_000_000 - (1_750_000_000_000 % HOUR_MS)

export const ALICE = { uid: '1001' }
export const BOB = { uid: '1002' }

export interface BenchOptions extends Partial<MarginSettings> {
  readonly store?: RowStore
  /** Goes on after a kill; default one that shows `prices`. */
  readonly market?: HandMarket
  readonly levelsMax?: number
  /** Liquidations, loans and orders before the start. */
  readonly demoPast?: boolean
  readonly seed?: number
  readonly prices?: Readonly<Record<string, QuoteText>>
  readonly accounts?: readonly ExchangeAccountSetup[]
}

/** A coin of one of Alice's balances. */
export interface LoanRequest {
  readonly mode: ExchangeMarginMode
  readonly symbol?: string
  readonly coin: string
  readonly amount: string
}

/** A margin service at prices that the test sets. */
export class MarginBench {
  readonly #store: RowStore
  readonly #rows: StoredRows
  readonly wallet: Wallet
  readonly service: Part<MarginState, typeof marginHandlers>
  now = START_AT
  readonly market: HandMarket

  constructor({
    store,
    market,
    levelsMax = 20,
    seed = 1,
    prices,
    accounts,
    demoPast = false,
    ...settings
  }: BenchOptions = {}) {
    this.#store = store ?? createMemoryStore()
    this.#rows = new StoredRows(this.#store)
    this.wallet = new Wallet(this.#rows)
    this.market = market ?? new HandMarket()
    this.market.forgetFollowers()
    for (const [symbol, price] of market === undefined ? Object.entries(prices ?? QUOTES) : []) {
      this.market.show(symbol, price, START_AT)
    }
    const state = openMargin(
      {
        clock: this.market.clock,
        ticker: () => undefined,
        market: (symbol) => this.market.followed(symbol),
        matching: { model: fillModel('optimistic'), levelsMax, speed: 1 },
        accounts: accounts ?? [setupOf(ALICE.uid), setupOf(BOB.uid)],
        seed,
        startAt: START_AT,
        rows: this.#rows,
        wallet: this.wallet,
        taken: new PairsTaken(this.#rows),
        sequence: createOrderSequence(this.#rows),
      },
      settings,
    )
    if (demoPast) writeMarginPast(state)
    this.service = new Part(this.market, state, marginHandlers, passTime)
    passTime(state, this.now)
  }

  /** Stores what has changed, as the exchange does after every operation. */
  save(): void {
    this.#rows.save()
  }

  /** Everything that is stored now, by table and id. */
  stored(): readonly StoredRow[] {
    this.save()
    return (this.#store.load() ?? []).toSorted((a, b) =>
      `${a.table} ${a.id}` < `${b.table} ${b.id}` ? -1 : 1,
    )
  }

  /** Shows bid and ask, a second later; nothing is traded unless the test says so. */
  show(symbol: string, bid: string, ask: string, more: Partial<QuoteText> = {}): void {
    this.now += 1000
    this.market.show(symbol, { bid, ask, traded: 0, ...more }, this.now)
  }

  wait(ms: number): void {
    this.now += ms
    passTime(this.service.state, this.now)
  }

  deposit(mode: ExchangeMarginMode, coin: string, amount: string, symbol = 'BTCUSDT'): void {
    const ref = { ...ALICE, balance: balanceOf(mode, symbol), coin }
    this.service.at(this.now, () => this.wallet.book(ref, 'deposit', decimal(amount)))
  }

  /** @returns the orderId. */
  place(mode: ExchangeMarginMode, order: Partial<PlaceMarginOrderRequest>): string {
    return dataOf(this.tryPlace(mode, order)).orderId
  }

  tryPlace(mode: ExchangeMarginMode, order: Partial<PlaceMarginOrderRequest>) {
    const request = { symbol: 'BTCUSDT', side: 'buy', orderType: 'limit', ...order } as const
    return this.service.at(this.now, (state) => placeNow(state, { ...ALICE, mode }, request))
  }

  /** A loan without an order. */
  borrow({ mode, symbol = 'BTCUSDT', coin, amount }: LoanRequest): Reply<{ amount: string }> {
    return this.service.at(this.now, (state) => {
      refreshBooks(state)
      const ref = { ...ALICE, balance: balanceOf(mode, symbol) }
      const loan = { coin, amount: decimal(amount) }
      const refusal = borrowRefusal(state, ref, loan)
      if (refusal !== undefined) return refusal
      lend(state, ref, loan)
      return accept({ amount })
    })
  }

  /** @returns what was paid. */
  repay({ mode, symbol = 'BTCUSDT', coin, amount }: LoanRequest): string {
    const ref = { ...ALICE, balance: balanceOf(mode, symbol) }
    return this.service.at(this.now, (state) =>
      payBack(state, ref, { coin, amount: decimal(amount) }).toString(),
    )
  }

  /** Alice's coin as texts: available, frozen, borrowed, interest. */
  coin(mode: ExchangeMarginMode, coin: string, symbol = 'BTCUSDT') {
    const balance = mode === 'crossed' ? 'crossed' : (`isolated:${symbol}` as const)
    const { available, frozen, borrowed, interest } = this.wallet.coin({ ...ALICE, balance, coin })
    return {
      available: available.toString(),
      frozen: frozen.toString(),
      borrowed: borrowed.toString(),
      interest: interest.toString(),
    }
  }

  /** Alice's open orders of the symbol, newest first. */
  open(mode: ExchangeMarginMode, symbol = 'BTCUSDT') {
    const page =
      mode === 'isolated'
        ? this.service.answer('isolatedOpenOrders', ALICE, { symbol }, this.now)
        : this.service.answer(
            'crossedOpenOrders',
            ALICE,
            { symbol, startTime: '1000000000000' },
            this.now,
          )
    return listOf(dataOf(page).orderList)
  }

  /** How Alice's order stands, open or ended. */
  order(orderId: string) {
    const { openOrders, endedOrders } = marginLedger(this.service.state, ALICE.uid)
    const found = [...openOrders, ...endedOrders].find((order) => order.orderId === orderId)
    if (found === undefined) throw new Error(`no order ${orderId}`)
    return found
  }

  /** Id of Alice's order that ended last. */
  lastEnded(): string {
    return marginLedger(this.service.state, ALICE.uid).endedOrders.at(-1)?.orderId ?? ''
  }

  /** Alice's liquidation records of a type, oldest first. */
  records(mode: ExchangeMarginMode, type: 'place_order' | 'swap') {
    const query = { type, limit: '500' }
    const page =
      mode === 'isolated'
        ? this.service.answer('isolatedLiquidationOrders', ALICE, query, this.now)
        : this.service.answer('crossedLiquidationOrders', ALICE, query, this.now)
    return listOf(dataOf(page).resultList).toReversed()
  }

  /** Coins whose books do not add up to zero, and rows that their bookings do not explain: always none. */
  defects(): unknown[] {
    return [...this.wallet.sums().filter(({ sum }) => sum !== '0'), ...this.wallet.unexplained()]
  }
}

export const QUOTES: Readonly<Record<string, QuoteText>> = {
  BTCUSDT: { bid: '60000', ask: '60001', last: '60000' },
  ETHUSDT: { bid: '2500', ask: '2500.1', last: '2500' },
}

export function dataOf<Data>(reply: Reply<Data>): Data {
  if (reply.ok) return reply.data
  throw new Error(`refused: ${reply.code} ${reply.message}`)
}

export function refusalOf(reply: Reply<unknown>): string {
  return reply.ok ? 'accepted' : `${reply.code} ${reply.message}`
}

/** A list of an answer, which in its wire shape may also be missing. */
export function listOf<Item>(list: readonly Item[] | object | null | undefined): readonly Item[] {
  return Array.isArray(list) ? (list as readonly Item[]) : []
}

function setupOf(uid: string): ExchangeAccountSetup {
  return {
    uid,
    label: uid,
    key: `key-${uid}`,
    secret: 'secret',
    passphrase: 'phrase',
    positionMode: 'one_way_mode',
    role: 'ordinary',
    balances: {},
  }
}
