import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { placePlanOrder } from '../../../src/simulator/futures/plans/plan-orders.ts'
import { type PlacePlanOrderRequest } from '../../../src/simulator/futures/plans/place-plan-request.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { type RequestOf } from '../../../src/protocol/endpoints.ts'
import { type BatchPlaceItem } from '../../../src/protocol/futures/batch-place-order.ts'
import { type ExchangeAccountSetup } from '../../../src/simulator/shared/account.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  toMarketInstrument,
  type ListedContract,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { type RowStore } from '../../../src/simulator/store/row-store.ts'
import { parseRecording } from '../../../src/prices/parse-recording.ts'
import { RecordedMarket } from '../../../src/simulator/market/recorded/recorded-market.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'

export const SESSION_START_AT = Date.UTC(2025, 5, 2, 6)
/** The dated contract is delivered a few hours into the session. */
const DELIVERY_AT = SESSION_START_AT + 3 * 3_600_000

export interface SessionOptions {
  readonly seed: number
  readonly settings?: Partial<CoreSettings>
  readonly store?: RowStore
  /** How much faster than real the market moves. */
  readonly speed?: number
  /** Between two moves of the market, ms. Default 1000. */
  readonly stepMs?: number
  /** Recorded candles that go far each minute, at their own speed, so that funding is paid. */
  readonly isRecorded?: boolean
}

export const sessionAccounts: readonly ExchangeAccountSetup[] = [
  account('1', 'one_way_mode', 50),
  account('2', 'hedge_mode', 20),
  account('3', 'one_way_mode', 125),
  account('4', 'hedge_mode', 100),
]

const sessionInstruments = buildInstruments(DELIVERY_AT).filter(({ symbol }) =>
  ['BTCUSDT', 'ETHUSDT', 'BTCUSD', 'BTCUSD_250602'].includes(symbol),
)

export function openSession(session: SessionOptions): ExchangeCore {
  const { seed, settings = {}, store, speed = 60, stepMs = 1000, isRecorded = false } = session
  const options = {
    seed,
    startAt: SESSION_START_AT,
    stepMs,
    speed,
    instruments: sessionInstruments.map(toMarketInstrument),
  }
  return createExchangeCore({
    instruments: sessionInstruments,
    accounts: sessionAccounts,
    market: (state) =>
      isRecorded
        ? new RecordedMarket({ ...options, ...recordedOptions(seed), fallback: options }, state)
        : new SeededMarket(options, state),
    settings,
    seed,
    ...(store && { store }),
  })
}

/** Four hours of candles that move 0.3 % a minute and trade a few lots, so that shares are met. */
function recordedOptions(seed: number) {
  const recordings = sessionInstruments.map(({ symbol, startPrice }) => {
    const random = createRandom(`candles/${seed}/${symbol}`)
    const lines = ['ts_ms,open,high,low,close,volume']
    let open = Number(startPrice)
    for (let minute = 0; minute < 240; minute++) {
      const at = (share: number) => open * (1 + 0.003 * share)
      const [close, high, low] = [at(random.normal()), at(random.next()), at(-random.next())]
      const prices = [open, Math.max(open, close, high), Math.min(open, close, low), close]
      const volume = random.integer(200)
      lines.push(
        [
          SESSION_START_AT + minute * 60_000,
          ...prices.map((price) => price.toFixed(2)),
          volume,
        ].join(','),
      )
      open = Number(close.toFixed(2))
    }
    return parseRecording({ bytes: Buffer.from(lines.join('\n')), source: `${symbol}.csv`, symbol })
  })
  return { recordings, speed: 1 }
}

/** One operation of a session: what is done, and when. Its answer is what two sessions are compared by. */
export interface SessionStep {
  readonly at: number
  readonly run: (core: ExchangeCore) => unknown
}

/**
 * A list of operations that follows from its seed alone: orders of every kind, cancels, trigger orders and
 * reads, at random moments. Prices are chosen from the tickers when the operation runs.
 */
export function buildSession(seed: number, length: number): SessionStep[] {
  const random = createRandom(`session/${seed}`)
  let at = SESSION_START_AT
  return Array.from({ length }, (_, index) => {
    at += random.integer(20_000)
    const moment = { at, index }
    // A stream of its own at each run: the same operation draws the same numbers in every session.
    return { at, run: (core) => runStep(core, createRandom(`session/${seed}/${index}`), moment) }
  })
}

function runStep(
  core: ExchangeCore,
  random: Random,
  { at, index }: { at: number; index: number },
): unknown {
  const uid = String(1 + random.integer(4))
  const instrument = pick(random, sessionInstruments)
  const { symbol, productType, marginCoin } = instrument
  const dice = random.integer(100)
  if (dice < 60)
    return core.answer(
      'batchPlaceOrder',
      { uid },
      randomBatch(core, random, { uid, instrument, at, index }),
      at,
    )
  if (dice < 66) {
    return core.answer(
      'cancelAllOrders',
      { uid },
      { productType, marginCoin, ...(random.integer(2) === 0 && { symbol }) },
      at,
    )
  }
  if (dice < 70)
    return placePlan(core, uid, randomPlan(core, random, { uid, instrument, at, index }), at)
  if (dice < 80) return core.answer('orderFills', { uid }, { productType, limit: '5' }, at)
  if (dice < 90)
    return core.answer('singlePosition', { uid }, { productType, symbol, marginCoin }, at)
  if (dice < 95) return core.answer('tickers', NOBODY, { productType }, at)
  return core.advance(at)
}

function placePlan(
  core: ExchangeCore,
  uid: string,
  plan: PlacePlanOrderRequest,
  at: number,
): unknown {
  return core.carryOut(at, (state) => placePlanOrder(state, { uid }, plan), { uid })
}

interface StepContext {
  readonly uid: string
  readonly instrument: ListedContract
  readonly at: number
  readonly index: number
}

function randomBatch(
  core: ExchangeCore,
  random: Random,
  context: StepContext,
): RequestOf<'batchPlaceOrder'> {
  const { instrument, uid } = context
  const { symbol, productType, marginCoin } = instrument
  return {
    symbol,
    productType,
    marginCoin,
    // Two accounts trade isolated, two crossed, one symbol apart.
    marginMode: Number(uid) % 2 === 1 || symbol === 'ETHUSDT' ? 'crossed' : 'isolated',
    orderList: Array.from({ length: 1 + random.integer(4) }, (_, item) =>
      randomItem(core, random, { ...context, item }),
    ),
  }
}

function randomItem(
  core: ExchangeCore,
  random: Random,
  context: StepContext & { item: number },
): BatchPlaceItem {
  const { uid, instrument, index, item } = context
  const isHedge = uid === '2' || uid === '4'
  const side = pick(random, ['buy', 'sell'] as const)
  const last = lastPrice(core, context)
  const lots = 1 + random.integer(random.integer(20) === 0 ? 60_000 : 300)
  const ticks = Math.round(last / instrument.tickFloat) + random.integer(400) - 200
  const isLimit = random.integer(3) > 0
  return {
    size: text(lots, instrument.sizeGrid.decimals),
    side,
    ...(isHedge && { tradeSide: pick(random, ['open', 'close'] as const) }),
    ...(!isHedge && random.integer(4) === 0 && { reduceOnly: 'YES' as const }),
    ...(isLimit
      ? {
          orderType: 'limit' as const,
          price: text(ticks, instrument.priceGrid.decimals),
          force: pick(random, ['gtc', 'gtc', 'gtc', 'ioc', 'fok', 'post_only'] as const),
        }
      : { orderType: 'market' as const }),
    ...(random.integer(6) === 0 && {
      presetStopLossPrice: text(
        ticks + (side === 'buy' ? -300 : 300),
        instrument.priceGrid.decimals,
      ),
    }),
    ...(random.integer(6) === 0 && {
      presetStopSurplusPrice: text(
        ticks + (side === 'buy' ? 300 : -300),
        instrument.priceGrid.decimals,
      ),
    }),
    ...(random.integer(3) === 0 && {
      stpMode: pick(random, ['cancel_taker', 'cancel_maker', 'cancel_both'] as const),
    }),
    clientOid: random.integer(10) === 0 ? 'again' : `s${index}-${item}`,
  }
}

function randomPlan(core: ExchangeCore, random: Random, context: StepContext) {
  const { uid, instrument, index } = context
  const { symbol, productType, marginCoin } = instrument
  const isTrailing = random.integer(3) === 0
  const ticks =
    Math.round(lastPrice(core, context) / instrument.tickFloat) + random.integer(400) - 200
  return {
    planType: isTrailing ? ('track_plan' as const) : ('normal_plan' as const),
    symbol,
    productType,
    marginCoin,
    marginMode:
      Number(uid) % 2 === 1 || symbol === 'ETHUSDT' ? ('crossed' as const) : ('isolated' as const),
    size: text(1 + random.integer(100), instrument.sizeGrid.decimals),
    triggerPrice: text(ticks, instrument.priceGrid.decimals),
    triggerType: pick(random, ['fill_price', 'mark_price'] as const),
    side: pick(random, ['buy', 'sell'] as const),
    ...((uid === '2' || uid === '4') && { tradeSide: 'open' as const }),
    ...(isTrailing && { callbackRatio: '0.1' }),
    orderType: 'market' as const,
    clientOid: `p${index}`,
  }
}

function lastPrice(core: ExchangeCore, { instrument, at }: StepContext): number {
  const reply = core.answer('tickers', NOBODY, { productType: instrument.productType }, at)
  const row = reply.ok ? reply.data.find(({ symbol }) => symbol === instrument.symbol) : undefined
  return Number(row?.lastPr ?? instrument.startPrice)
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[random.integer(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}

/** An integer with its last digits as decimals: exact. */
function text(units: number, decimals: number): string {
  return (Math.max(1, units) / 10 ** decimals).toFixed(decimals)
}

function account(
  uid: string,
  positionMode: ExchangeAccountSetup['positionMode'],
  leverage: number,
): ExchangeAccountSetup {
  return {
    uid,
    label: `account ${uid}`,
    key: `key-${uid}`,
    secret: 'secret',
    passphrase: 'passphrase',
    positionMode,
    role: 'ordinary',
    balances: { USDT: '20000.5', BTC: '0.3' },
    leverage,
  }
}
