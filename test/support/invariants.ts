import { type JournalRecord } from '../../src/domain/record.ts'
import { toTradeId } from '../../src/domain/ids.ts'
import { isTerminal, type Order } from '../../src/domain/order.ts'
import { isClosing } from '../../src/domain/order-action.ts'
import { bookToJson } from '../../src/engine/book-json.ts'
import { type Book, holdingOf } from '../../src/engine/book.ts'
import { type Effect, type OutgoingBatch } from '../../src/engine/effect.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { rebuildBook } from '../../src/engine/rebuild-book.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'
import { type BatchPlaceRequest } from '../../src/protocol/futures/batch-place-order.ts'
import { type TrueOrder } from './exchange-truth.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { type ShellWatcher, type VirtualShell } from './virtual-shell.ts'
import { type VirtualTime } from './virtual-time.ts'
import { type WorldPlan } from './world-plan.ts'

export interface Violation {
  readonly id: string
  /** Unix ms, exchange clock. */
  readonly at: number
  readonly detail: string
}

/** A world while it runs. */
export interface World {
  readonly plan: WorldPlan
  readonly settings: EngineSettings
  readonly time: VirtualTime
  readonly shell: VirtualShell
  readonly exchange: VirtualExchange
  readonly violations: Violation[]
  readonly facts: {
    /** Everything that was ever recorded, lost or not. */
    readonly records: JournalRecord[]
    isCalm: boolean
    isStopping: boolean
    /** How the stop ended; undefined while it goes on. */
    stoppedClean: boolean | undefined
  }
}

export interface WorldWatcher extends ShellWatcher {
  /** The world has come to its end. */
  atEnd?(): void
}

/** Something that always holds, by the house's number. */
export interface Invariant {
  readonly id: string
  readonly watch: (world: World) => WorldWatcher
}

export const INVARIANTS: readonly Invariant[] = [
  { id: 'ORD1', watch: watchDurableSends },
  { id: 'ORD2', watch: watchIdentity },
  { id: 'ORD3', watch: watchUnknown },
  { id: 'ORD4', watch: watchPatience },
  { id: 'ORD5', watch: watchTruth },
  { id: 'ORD6', watch: watchBatches },
  { id: 'ORD7', watch: watchStaleness },
  { id: 'ORD8', watch: watchSurvivors },
  { id: 'RSK1', watch: watchWorstCase },
  { id: 'RSK2', watch: watchHalts },
  { id: 'RSK3', watch: watchStop },
  { id: 'I11', watch: watchCloses },
  { id: 'DET1', watch: watchTwin },
  { id: 'DET2', watch: watchFold },
  { id: 'MONEY', watch: watchMoney },
]

function violate(world: World, id: string, detail: string): void {
  world.violations.push({ id, at: world.time.now, detail })
}

function parseBody(batch: OutgoingBatch): BatchPlaceRequest {
  return JSON.parse(batch.body) as BatchPlaceRequest
}

/** Every order's exact request is durable before its first byte leaves. */
function watchDurableSends(world: World): WorldWatcher {
  const durable = new Map<number, string>()
  const waiting: JournalRecord[] = []
  return {
    onRecord(record, isDurable) {
      waiting.push(record)
      if (!isDurable) return
      for (const entry of waiting.splice(0)) if (entry.kind === 'send') durable.set(entry.batchId, entry.body)
    },
    onDeath: () => void waiting.splice(0),
    onWrite(batch) {
      if (durable.get(batch.batchId) !== batch.body) violate(world, 'ORD1', `batch ${batch.batchId}`)
    },
  }
}

/** A clientOid names one order for ever; a copy is the same item, sent while the exchange still knows the first. */
function watchIdentity(world: World): WorldWatcher {
  const first = new Map<string, { readonly item: string; readonly at: number }>()
  const windowMs = 15 * 60_000
  return {
    onWrite(batch) {
      for (const item of parseBody(batch).orderList) {
        const text = JSON.stringify(item)
        const known = first.get(item.clientOid ?? '')
        if (!known) first.set(item.clientOid ?? '', { item: text, at: world.time.now })
        else if (known.item !== text) violate(world, 'ORD2', `another order as ${item.clientOid}: ${text}`)
        else if (world.time.now - known.at > windowMs) violate(world, 'ORD2', `${item.clientOid} too late`)
      }
    },
  }
}

/** What timed out is unknown; and what was called rejected, expired or absent never is at the exchange. */
function watchUnknown(world: World): WorldWatcher {
  const batches = new Map<number, OutgoingBatch>()
  return {
    afterStep(event, effects) {
      for (const effect of effects)
        if (effect.kind === 'sendBatch') batches.set(effect.batch.batchId, effect.batch)
      if (event.kind !== 'batchAnswered' || event.answer.kind !== 'unknown') return
      const batch = batches.get(event.batchId)
      batches.delete(event.batchId)
      for (const clientOid of batch?.clientOids ?? []) {
        const state = world.shell.engine?.book.orders.get(clientOid)?.state
        if (state === 'rejected' || state === 'absent' || state === 'expired' || state === 'queued') {
          violate(world, 'ORD3', `${clientOid} is ${state} after an unknown answer`)
        }
      }
    },
    onDeath: () => batches.clear(),
    atEnd() {
      const there = [...world.exchange.truth.orders.values()]
      const made = new Set(there.map(({ clientOid }) => clientOid))
      // One that rested, filled nothing and was cancelled without a word leaves no trace: it may be called absent.
      const traced = new Set(there.filter(hasTrace).map(({ clientOid }) => clientOid))
      for (const { state, terms, reason } of world.shell.engine?.book.orders.values() ?? []) {
        const isWrong =
          state === 'absent'
            ? traced.has(terms.clientOid)
            : (state === 'rejected' || state === 'expired') && made.has(terms.clientOid)
        if (isWrong)
          violate(world, 'ORD3', `${terms.clientOid} is ${state} (${reason}) and was at the exchange`)
      }
    },
  }
}

/** Every unknown order ends in bounded time, or its instrument is halted with a reason. */
function watchPatience(world: World): WorldWatcher {
  const since = new Map<string, number>()
  const patienceMs = world.settings.execution.acceptHorizonMs + 60_000
  return {
    onBirth: () => since.clear(),
    afterStep(event) {
      if (event.kind !== 'timePassed') return
      const { book } = world.shell.engine ?? {}
      const unknown = new Set<string>()
      for (const [symbol, orders] of book?.open ?? []) {
        for (const { state, terms } of orders.values()) {
          if (state !== 'unknown' && state !== 'sent') continue
          unknown.add(terms.clientOid)
          const at = since.get(terms.clientOid) ?? world.time.now
          since.set(terms.clientOid, at)
          if (world.time.now - at > patienceMs && !book?.halts.has(symbol)) {
            violate(world, 'ORD4', `${terms.clientOid} is ${state} since ${world.time.now - at} ms`)
          }
        }
      }
      for (const clientOid of since.keys()) if (!unknown.has(clientOid)) since.delete(clientOid)
    },
  }
}

/** In the end the book is the exchange's own: each order's fate, each fill once, the position, nothing doubled. */
function watchTruth(world: World): WorldWatcher {
  return {
    onRecord(record) {
      if (record.kind === 'adopt') violate(world, 'ORD5', `adopted ${JSON.stringify(record)}`)
      if (record.kind === 'foreign')
        violate(world, 'ORD5', `called our own fills foreign ${JSON.stringify(record)}`)
      if (record.kind === 'halt') violate(world, 'ORD5', `halted without need: ${record.reason}`)
    },
    atEnd() {
      const { book } = world.shell.engine ?? {}
      if (!book || world.violations.length > 0) return
      checkFates(world, book)
      checkFills(world, book)
      checkPositions(world, book)
    },
  }
}

function checkFates(world: World, book: Book): void {
  const orders = [...world.exchange.truth.orders.values()].filter(({ source }) => source === 'API')
  for (const [clientOid, copies] of Map.groupBy(orders, (order) => order.clientOid)) {
    const effective = copies.filter((order) => order.filledLots > 0 || isOpenThere(order))
    if (effective.length > 1) violate(world, 'ORD5', `${clientOid} is doubled`)
    const known = book.orders.get(clientOid as Order['terms']['clientOid'])
    const filledLots = copies.reduce((sum, order) => sum + order.filledLots, 0)
    if (!known) violate(world, 'ORD5', `${clientOid} is not known`)
    else if (known.filledLots !== filledLots) {
      violate(
        world,
        'ORD5',
        `${clientOid} filled ${filledLots}, the book says ${known.filledLots} (${known.state})`,
      )
    } else if (!isTerminal(known) || copies.some(isOpenThere)) {
      violate(
        world,
        'ORD5',
        `${clientOid} is ${known.state} here, ${copies.map(({ status }) => status).join()} there`,
      )
    }
  }
  for (const order of book.orders.values()) {
    if (!isTerminal(order)) violate(world, 'ORD5', `${order.terms.clientOid} is ${order.state} in the end`)
  }
}

function hasTrace(order: TrueOrder): boolean {
  return order.filledLots > 0 || isOpenThere(order)
}

function isOpenThere({ status }: TrueOrder): boolean {
  return status !== 'filled' && status !== 'cancelled'
}

function checkFills(world: World, book: Book): void {
  const fills = world.exchange.allFills()
  for (const { tradeId } of fills) {
    if (!book.trades.has(toTradeId(tradeId))) violate(world, 'ORD5', `fill ${tradeId} is lost`)
  }
  const counted = [...book.money.values()].reduce((sum, money) => sum + money.fills, 0)
  if (counted !== fills.length) violate(world, 'ORD5', `${counted} fills counted of ${fills.length}`)
}

function checkPositions(world: World, book: Book): void {
  const { truth } = world.exchange
  for (const symbol of world.plan.symbols) {
    const there = { longLots: truth.lotsOf(symbol, 'long'), shortLots: truth.lotsOf(symbol, 'short') }
    const here = book.account.get(symbol) ?? { longLots: 0, shortLots: 0 }
    const own = { longLots: 0, shortLots: 0 }
    for (const id of world.settings.strategies.keys()) {
      const { longLots, shortLots } = holdingOf(book, id, symbol)
      own.longLots += longLots
      own.shortLots += shortLots
    }
    const net = own.longLots - own.shortLots === there.longLots - there.shortLots
    const legs = own.longLots === there.longLots && own.shortLots === there.shortLots
    if (here.longLots !== there.longLots || here.shortLots !== there.shortLots) {
      violate(
        world,
        'ORD5',
        `${symbol} holds ${JSON.stringify(there)}, the book says ${JSON.stringify(here)}`,
      )
    }
    if (world.plan.positionMode === 'one_way_mode' ? !net : !legs) {
      violate(
        world,
        'ORD5',
        `${symbol} holds ${JSON.stringify(there)}, the strategies ${JSON.stringify(own)}`,
      )
    }
  }
}

/** At most 50 orders of one symbol, no two that a fill could not tell apart. */
function watchBatches(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { orderList } = parseBody(batch)
      if (orderList.length === 0 || orderList.length > 50)
        violate(world, 'ORD6', `${orderList.length} orders`)
      const keys = orderList.map(({ side, tradeSide, force, price }) =>
        [side, tradeSide, force === 'post_only' ? price : 'taker'].join(),
      )
      if (new Set(keys).size < keys.length) violate(world, 'ORD6', `alike in one batch: ${keys.join(' ')}`)
    },
  }
}

/** Nothing leaves after its time, or on prices older than their limit. */
function watchStaleness(world: World): WorldWatcher {
  return {
    afterStep(_, effects, now) {
      for (const effect of effects) {
        if (effect.kind !== 'decide') continue
        const ages = effect.snapshot.instruments.map(({ instrument }) => ageOf(world, instrument.symbol, now))
        if (Math.min(...ages) > world.settings.limits.dataAgeMaxMs)
          violate(world, 'MKT1', 'decided on stale data')
      }
    },
    onWrite(batch, now) {
      if (now > batch.validUntilAt) violate(world, 'ORD7', `batch ${batch.batchId} is late`)
      const age = ageOf(world, batch.symbol, now)
      if (age > world.settings.limits.dataAgeMaxMs) violate(world, 'MKT1', `sent on data ${age} ms old`)
    },
  }
}

function ageOf({ shell }: World, symbol: string, now: number): number {
  const tickers = shell.tickers()
  if (!tickers) return Number.POSITIVE_INFINITY
  return Math.max(now - tickers.readAt, shell.exchangeNow() - tickers.read(symbol, 'ts'))
}

/** What a strategy placed by name, and another's cancel-all removed, is placed again or was unwanted. */
function watchSurvivors(world: World): WorldWatcher {
  return {
    onRecord(record) {
      if (record.kind !== 'settle' || world.facts.isStopping) return
      const { book } = world.shell.engine ?? {}
      for (const settled of record.orders) {
        const order = book?.orders.get(settled.clientOid)
        if (!order || order.terms.purpose !== 'place') continue
        const { replacement } = settled
        if (replacement && replacement.lots + order.filledLots > order.terms.lots) {
          violate(world, 'ORD8', `${settled.clientOid} is replaced by more than was left`)
        }
        if (replacement) continue
        const rests = order.terms.ticks !== undefined && ['gtc', 'post_only'].includes(order.terms.force)
        const left = order.terms.lots - order.filledLots
        const wasWithdrawn = world.facts.records.some(
          (entry) => entry.kind === 'decision' && entry.withdrawn?.includes(settled.clientOid),
        )
        if (rests && left > 0 && settled.state === 'done' && !wasWithdrawn) {
          violate(world, 'ORD8', `${settled.clientOid} is forgotten with ${left} lots`)
        }
      }
    },
  }
}

/** At every instant the exchange's position and everything that rests stay within the strategies' limits. */
function watchWorstCase(world: World): WorldWatcher {
  const limits = new Map<string, number>()
  for (const { limits: bySymbol } of world.settings.strategies.values()) {
    for (const [symbol, { positionLotsMax }] of bySymbol) {
      limits.set(symbol, (limits.get(symbol) ?? 0) + positionLotsMax)
    }
  }
  const { truth } = world.exchange
  const check = () => {
    for (const [symbol, limit] of limits) {
      const long = truth.lotsOf(symbol, 'long')
      const short = truth.lotsOf(symbol, 'short')
      let [buying, selling] = [0, 0]
      for (const order of truth.open) {
        if (order.symbol !== symbol || order.reduceOnly || order.action === 'close') continue
        if (order.direction === 'buy') buying += order.lots - order.filledLots
        else selling += order.lots - order.filledLots
      }
      const isOneWay = world.plan.positionMode === 'one_way_mode'
      const worstLong = long + buying - (isOneWay ? short : 0)
      const worstShort = short + selling - (isOneWay ? long : 0)
      const worst = Math.max(worstLong, worstShort)
      if (worst > limit)
        violate(
          world,
          'RSK1',
          `${symbol} could reach ${worst} lots, limit ${limit}: holds ${long} long, ${short} short, ${buying} to buy, ${selling} to sell`,
        )
    }
  }
  truth.onChange = check
  return {}
}

/** While halted nothing that adds risk leaves. */
function watchHalts(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { book } = world.shell.engine ?? {}
      const halted = book?.halts.get('*') ?? book?.halts.get(batch.symbol)
      if (!book || halted === undefined) return
      for (const clientOid of batch.clientOids) {
        const terms = book.orders.get(clientOid)?.terms
        if (!terms) continue
        const holding = holdingOf(book, terms.strategyId, batch.symbol)
        const against = terms.action === 'openLong' ? holding.shortLots : holding.longLots
        const isReducing = terms.action.startsWith('close') || against >= terms.lots
        if (!isReducing) violate(world, 'RSK2', `${clientOid} ${terms.action} while halted: ${halted}`)
      }
    },
  }
}

/** A stop comes to a clean end; flatten ends flat. */
function watchStop(world: World): WorldWatcher {
  return {
    atEnd() {
      if (world.violations.length > 0) return
      if (world.facts.stoppedClean !== true) violate(world, 'RSK3', `stop ended ${world.facts.stoppedClean}`)
      const held = [...world.exchange.truth.positions].filter(({ lots }) => lots > 0)
      if (world.plan.stop === 'flatten' && held.length > 0)
        violate(world, 'RSK3', `not flat: ${JSON.stringify(held)}`)
    },
  }
}

/** When a close leaves, what the strategy's closes could close is no more than it holds. */
function watchCloses(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      const { book } = world.shell.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        for (const clientOid of effect.batch.clientOids) checkClose(world, book, book.orders.get(clientOid))
      }
    },
  }
}

function checkClose(world: World, book: Book, close: Order | undefined): void {
  if (!close || !isClosing(close.terms.action)) return
  const { action, strategyId, symbol } = close.terms
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  const held = action === 'closeLong' ? longLots : shortLots
  let closing = 0
  for (const { terms, filledLots } of book.open.get(symbol)?.values() ?? []) {
    if (terms.strategyId === strategyId && terms.action === action) closing += terms.lots - filledLots
  }
  if (closing > held) violate(world, 'I11', `${strategyId} closes ${closing} of ${held}: ${action} ${symbol}`)
}

/** A second core that hears the same events says the same, to the byte. */
function watchTwin(world: World): WorldWatcher {
  if (!world.plan.hasTwin) return {}
  const { shell, settings } = world
  const birth = () => createEngine(settings, rebuildBook(shell.journal.load(), settings.positionMode))
  let twin = birth()
  return {
    onBirth: () => {
      twin = birth()
    },
    afterStep(event, effects, now) {
      const said = toText(effects)
      if (toText(twin.step(event, now)) !== said)
        violate(world, 'DET1', `another answer to ${event.kind}: ${said}`)
    },
  }
}

/** Prices are left out: both look at the same table. */
function toText(effects: readonly Effect[]): string {
  return JSON.stringify(effects, (name, value: unknown) => (name === 'tickers' ? undefined : value))
}

/** What is rebuilt from the journal is what wrote it. */
function watchFold(world: World): WorldWatcher {
  let steps = 0
  const compare = () => {
    const { engine, journal } = world.shell
    if (!engine) return
    const rebuilt = JSON.stringify(bookToJson(rebuildBook(journal.load(), world.plan.positionMode)))
    if (rebuilt !== JSON.stringify(bookToJson(engine.book)))
      violate(world, 'DET2', 'the rebuilt book differs')
  }
  return {
    onBirth: compare,
    afterStep(_, effects) {
      steps += 1
      // Before its effects are performed the journal lacks their records.
      if (steps % 2000 === 0 && !effects.some((effect) => effect.kind === 'record')) compare()
    },
    onStopped: compare,
  }
}

/** What the strategies earned and paid is what the account did. */
function watchMoney(world: World): WorldWatcher {
  return {
    atEnd() {
      if (world.violations.length > 0) return
      const { book } = world.shell.engine ?? {}
      const coin = world.exchange.ledger().coins[0]
      if (!book || !coin) return
      const money = [...book.money.values()]
      const profit = sumDecimals(money.map((entry) => entry.profit))
      const fees = sumDecimals(money.map((entry) => entry.fees))
      if (!profit.eq(decimal(coin.realisedProfit)))
        violate(world, 'MONEY', `profit ${profit.toString()} of ${coin.realisedProfit}`)
      if (!fees.eq(decimal(coin.fees))) violate(world, 'MONEY', `fees ${fees.toString()} of ${coin.fees}`)
    },
  }
}
