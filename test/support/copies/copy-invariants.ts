import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { restrictionOf } from '../../../src/engine/book/book.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { orderIdText } from '../../../src/simulator/futures/orders/order.ts'
import { isForeign, isByApi, type TrueOrder } from '../virtual/exchange-truth.ts'
import { bodyOf, type Invariant, type World, type WorldWatcher, violate } from '../world/world.ts'

/** A name that a cancel-all listed must be derived within so many ms of steps. */
const DERIVED_WITHIN_MS = 5000

/**
 * An older copy, judged by the exchange's ledger: no order of the lost run is taken for one of this
 * run, nothing leaves once the ledger has proved the older state, and a newest state is never
 * called older.
 */
export const COPY_INVARIANTS: readonly Invariant[] = [
  { id: 'ORD2', watch: watchProof },
  { id: 'ORD2', watch: watchDuplicates },
  { id: 'ORD2', watch: watchTakenNames },
  { id: 'RSK2', watch: watchEarlierFills },
  { id: 'RSK2', watch: watchRepair },
  { id: 'ORD5', watch: watchEnd },
]

/** An order of ours at the exchange that the current journal does not know. */
function isLost(world: World, order: TrueOrder): boolean {
  const { copy } = world.facts
  if (copy === undefined || isForeign(order) || isByApi(order)) return false
  return order.createdAt < copy.bornAt && !copy.known.has(order.clientOid)
}

/**
 * A cancel-all that lists an order of the lost run is proof: from then on nothing leaves, and the
 * run ends. A name that this run has sent too proves nothing: a copy of its request would rest
 * under it as well (`watchDuplicates`).
 */
function watchProof(world: World): WorldWatcher {
  let shownAt: number | undefined
  const sent = new Set<string>()
  const { truth } = world.exchange
  return {
    onBirth() {
      shownAt = undefined
      sent.clear()
    },
    onRecord(record) {
      if (record.kind === 'send') for (const { clientOid } of record.orders) sent.add(clientOid)
    },
    afterStep(event, effects, now) {
      const { copy } = world.facts
      for (const effect of effects) {
        if (effect.kind !== 'record') continue
        const { record } = effect
        if (record.kind === 'cancelAnswered' && copy !== undefined && !copy.isRepaired) {
          const lost = record.listed.find(
            ({ clientOid }) => isLostName(world, clientOid) && !sent.has(clientOid),
          )
          if (lost) shownAt ??= world.time.now
        }
        if (record.kind === 'restricted' && record.code === 'olderState')
          noteCalledOlder(record.reason)
      }
      if (shownAt === undefined || copy === undefined || copy.proof !== undefined || now === 0)
        return
      if (
        world.time.now - shownAt > DERIVED_WITHIN_MS &&
        world.process.isAlive &&
        event.kind === 'timePassed'
      )
        violate(
          world,
          'ORD2',
          'a cancel-all has listed an order of a lost run, and the run goes on',
        )
    },
    onWrite(batch) {
      const { copy } = world.facts
      const isShown = shownAt !== undefined || (copy?.proof !== undefined && !copy.isRepaired)
      if (copy && isShown)
        violate(world, 'RSK2', `${batch.batchId} leaves from a state that is older`)
    },
  }
  function noteCalledOlder(reason: string): void {
    if (![...truth.orders.values()].some((order) => isLost(world, order)))
      violate(world, 'ORD2', `a state is called older that is the newest: ${reason}`)
  }
}

/**
 * After this many consecutive requests whose orders duplicate ended ones, the run must end within
 * the time.
 */
const DUPLICATES_MAX = 3
const PROVED_WITHIN_MS = 5000

/**
 * Names that the lost run used for orders which ended unfilled: repeated duplicates, with nothing
 * accepted between.
 */
function watchDuplicates(world: World): WorldWatcher {
  const inRow = new Map<string, number>()
  let shownAt: number | undefined
  return {
    onBirth() {
      inRow.clear()
      shownAt = undefined
    },
    onRecord(record) {
      const { copy } = world.facts
      if (copy === undefined || copy.isRepaired || record.kind !== 'outcome') return
      const items = record.items.map(({ clientOid, outcome }) => {
        const order = world.exchange.truth.orderOf(clientOid)
        const owner = `${world.facts.strategyOf.get(clientOid)} ${order?.symbol}`
        return { owner, order: outcome === 'exists' ? order : undefined }
      })
      for (const { owner, order } of items) if (order === undefined) inRow.delete(owner)
      const ended = items.filter(({ order }) => order && hasEndedInVain(world, order))
      for (const owner of new Set(ended.map((item) => item.owner)))
        inRow.set(owner, (inRow.get(owner) ?? 0) + 1)
      // A doubled request created an order of this run, which is found: the others came with it.
      if (items.some(({ order }) => order && !isLost(world, order)))
        for (const { owner } of items) inRow.delete(owner)
      if ([...inRow.values()].some((count) => count >= DUPLICATES_MAX)) shownAt ??= world.time.now
    },
    afterStep() {
      const isLate = shownAt !== undefined && world.time.now - shownAt > PROVED_WITHIN_MS
      if (isLate && world.facts.copy?.proof === undefined && world.process.isAlive)
        violate(
          world,
          'ORD2',
          'ended orders of a lost run are duplicates again and again, and the run goes on',
        )
    },
  }
}

function hasEndedInVain(world: World, order: TrueOrder): boolean {
  return isLost(world, order) && order.status === 'cancelled' && order.filledLots === 0
}

/** Placers choose their names; only those of ladders and targets are derived from the journal. */
function isLostName(world: World, clientOid: string): boolean {
  const order = world.exchange.truth.orderOf(clientOid)
  if (order === undefined || !isLost(world, order)) return false
  const kind = world.plan.strategies.find(
    ({ id }) => id === world.facts.strategyOf.get(clientOid),
  )?.kind
  return kind === 'ladder' || kind === 'targeter'
}

/** Orders accepted in this run were created in this run. */
function watchTakenNames(world: World): WorldWatcher {
  const byId = (orderId: string): TrueOrder | undefined =>
    [...world.exchange.truth.orders.values()].find(
      ({ sequence }) => orderIdText(sequence) === orderId,
    )
  return {
    onRecord(record) {
      if (world.facts.copy === undefined || record.kind !== 'outcome') return
      for (const { clientOid, outcome, orderId, code } of record.items) {
        if (outcome !== 'accepted' || orderId === undefined) continue
        // Orders in flight when the copy was made are found by fills, which carry no clientOid: one
        // of the lost run may look like its own.
        if (code === 'FOUND' && world.facts.copy.known.has(clientOid)) continue
        const order = byId(orderId)
        // More fills of the lost run than possible halt the instrument.
        const { engine } = world.process
        const isHalted =
          order && engine && restrictionOf(engine.book, order.symbol, 'foreignFills') !== undefined
        if (order && isLost(world, order) && !isHalted)
          violate(
            world,
            'ORD2',
            `${clientOid} is taken for order ${orderId}, which a lost run has made`,
          )
      }
    },
  }
}

/** Earlier fills through the API are unexplained here, and halt their instrument. */
function watchEarlierFills(world: World): WorldWatcher {
  const released = new Set<string>()
  /**
   * Orders filled before the run on the copy began; the exchange says nothing else about later
   * ones.
   */
  let filled: ReadonlySet<string> | undefined
  return {
    onBirth() {
      released.clear()
      if (world.facts.copy === undefined) return
      filled ??= new Set(
        world.exchange.truth.fillsInOrder
          .filter(({ source }) => source === 'API')
          .map(({ orderSequence }) => orderIdText(orderSequence)),
      )
    },
    onRecord(record) {
      if (record.kind === 'released' && record.by === 'world') released.add(record.scope)
    },
    afterStep(_, effects) {
      const { engine } = world.process
      const { copy } = world.facts
      if (engine === undefined || copy === undefined || copy.isRepaired) return
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'foreign') continue
        const { symbol, orderIds } = effect.record
        // Fills that the operator has released halt nothing again.
        if (released.has(symbol) || released.has(ACCOUNT)) continue
        const isHeld =
          restrictionOf(engine.book, symbol, 'foreignFills') ??
          restrictionOf(engine.book, ACCOUNT, 'olderState')
        if (!isHeld && orderIds.some((orderId) => filled?.has(orderId)))
          violate(
            world,
            'RSK2',
            `fills from before the start are nobody's, and ${symbol} trades on`,
          )
      }
    },
  }
}

/**
 * After a repair nothing is open at the exchange or in the book, and nothing leaves before its
 * release.
 */
function watchRepair(world: World): WorldWatcher {
  let isReleased = false
  return {
    onBirth() {
      const { copy } = world.facts
      if (!copy?.isRepaired) return
      const { process, exchange, settings, plan } = world
      const book = rebuildBook(process.journal.load(), settings.positionMode)
      const live = [...book.open.values()].flatMap((orders) => [...orders.values()])
      if (live.some(({ state }) => state === 'live'))
        violate(world, 'ORD2', 'a repair keeps orders of the copy')
      if (restrictionOf(book, ACCOUNT, 'repaired') === undefined)
        violate(world, 'RSK2', 'a repaired state is not halted')
      for (const symbol of plan.symbols) {
        const { longLots = 0, shortLots = 0 } = book.account.get(symbol) ?? {}
        const [long, short] = [
          exchange.truth.lotsOf(symbol, 'long'),
          exchange.truth.lotsOf(symbol, 'short'),
        ]
        if (longLots !== long || shortLots !== short)
          violate(
            world,
            'ORD5',
            `a repair takes over ${longLots}/${shortLots} ${symbol}, held are ${long}/${short}`,
          )
      }
    },
    onRecord(record: JournalRecord) {
      if (record.kind === 'released' && record.scope === ACCOUNT && record.by === 'world')
        isReleased = true
    },
    onWrite(batch) {
      if (world.facts.copy?.isRepaired && !isReleased)
        violate(
          world,
          'RSK2',
          `${bodyOf(batch).symbol}: a batch leaves before the release of a repaired state`,
        )
    },
  }
}

/**
 * In the end the book contains everything that the exchange holds and has open, and the daemon
 * trades.
 */
function watchEnd(world: World): WorldWatcher {
  return {
    atEnd() {
      const { process, exchange, plan, facts } = world
      const { engine } = process
      if (engine === undefined || facts.copy?.isTradingLast !== true)
        return violate(
          world,
          'LIVE',
          `nothing trades in the end; ${facts.copy?.proof ?? 'nothing was proved'}`,
        )
      for (const symbol of plan.symbols) {
        const { longLots = 0, shortLots = 0 } = engine.book.account.get(symbol) ?? {}
        const [long, short] = [
          exchange.truth.lotsOf(symbol, 'long'),
          exchange.truth.lotsOf(symbol, 'short'),
        ]
        if (longLots !== long || shortLots !== short)
          violate(
            world,
            'ORD5',
            `the book has ${longLots}/${shortLots} of ${symbol}, held are ${long}/${short}`,
          )
      }
      for (const { clientOid, symbol } of exchange.truth.open) {
        const order = engine.book.orders.get(clientOid as never)
        if (order === undefined)
          violate(world, 'ORD5', `${clientOid} rests on ${symbol}, and nobody knows it`)
      }
    },
  }
}
