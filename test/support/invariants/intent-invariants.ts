import { lotsMax, ticksMax } from '../../../src/domain/instrument.ts'
import { levelsNamedBy } from '../../../src/engine/book/apply-record.ts'
import type { Order } from '../../../src/domain/order.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** An order placed by name is placed within its time, and fills no more than asked (WISH). */
export function watchPlaces(world: World): WorldWatcher {
  return {
    onWrite(batch, now) {
      const { book } = world.process.engine ?? {}
      for (const clientOid of batch.clientOids) {
        const terms = book?.orders.get(clientOid)?.terms
        if (terms?.purpose !== 'place' || now <= terms.deadlineAt) continue
        violate(world, 'ORD7', `${clientOid} leaves ${now - terms.deadlineAt} ms after its time`)
      }
    },
    atEnd() {
      const places = [...(world.process.engine?.book.orders.values() ?? [])].filter(
        ({ terms }) => terms.purpose === 'place',
      )
      const byKey: Map<string, Order[]> = Map.groupBy(places, ({ terms }) => nameOf(terms))
      for (const [key, orders] of byKey) {
        // The book has forgotten the ended order, and holds its repetition.
        const asked = askedOf(world, key)
        const filled = orders.reduce((sum, { filledLots }) => sum + filledLots, 0)
        if (filled > asked) violate(world, 'WISH', `${key} filled ${filled} lots of ${asked}`)
      }
    },
  }
}

function nameOf({ strategyId, symbol, key }: Order['terms']): string {
  return `${strategyId}|${symbol}|${key}`
}

/** How many lots were sent first under a name. */
function askedOf({ facts }: World, name: string): number {
  for (const record of facts.records) {
    if (record.kind !== 'send') continue
    const first = record.orders.find((terms) => terms.generation === 0 && nameOf(terms) === name)
    if (first) return first.lots
  }
  return 0
}

/**
 * Nothing is placed between a cancel-all and the last moment at which it can arrive, so it never
 * takes a later order.
 */
export function watchLateCancels(world: World): WorldWatcher {
  /** Order of decisions about calls, by body and by clientOid. */
  const decided = new Map<string, number>()
  world.exchange.onCancelled = (body, clientOids) => {
    const cancelled = decided.get(body) ?? 0
    const late = clientOids.find((clientOid) => (decided.get(clientOid) ?? 0) > cancelled)
    if (late !== undefined)
      violate(world, 'ORD8', `a late cancel-all took ${late}, which was sent after it`)
  }
  return {
    afterStep(_, effects) {
      for (const effect of effects) {
        if (effect.kind === 'sendCancelAll') decided.set(effect.body, decided.size + 1)
        if (effect.kind !== 'sendBatch') continue
        for (const clientOid of effect.batch.clientOids) decided.set(clientOid, decided.size + 1)
      }
    },
    onRetreatCancel: (body) => void decided.set(body, decided.size + 1),
  }
}

/** A cancel-all may be carried out for so long after it was made, ms: its `receiveWindow`. */
const RECEIVE_WINDOW_MS = 5000

interface SentCancel {
  readonly symbols: readonly string[]
  /** As the journal names it, which may be by the clock of another machine of the exchange. */
  readonly requestAt: number
  /** Unix ms, exchange clock. */
  readonly madeAt: number
}

/**
 * The same of a cancel-all of a run before, which was written down and got no answer: whether it was lost or arrives at the
 * end of its receive window, nothing leaves on its instruments before that is over.
 */
export function watchCancelsOfRunBefore(world: World): WorldWatcher {
  let earlier: readonly SentCancel[] = []
  const unanswered = new Map<number, SentCancel>()
  return {
    onBirth() {
      const written = new Set<number>()
      for (const record of world.process.journal.loadAll())
        if (record.kind === 'cancel') written.add(record.requestAt)
      earlier = [...earlier, ...unanswered.values()].filter(({ requestAt }) =>
        written.has(requestAt),
      )
      unanswered.clear()
    },
    afterStep(event, effects) {
      if (event.kind === 'cancelAnswered' && event.answer.kind !== 'unknown')
        unanswered.delete(event.cancelId)
      const records = effects.flatMap((effect) =>
        effect.kind === 'record' && effect.record.kind === 'cancel' ? [effect.record] : [],
      )
      for (const effect of effects) {
        if (effect.kind !== 'sendCancelAll') continue
        const { requestTime } = JSON.parse(effect.body) as { readonly requestTime?: string }
        const record = records.find(
          ({ requestAt }) => Math.round(requestAt) === Number(requestTime),
        )
        if (!record) continue
        const { symbols, requestAt } = record
        const madeAt = effect.clockAheadMs === undefined ? requestAt : world.time.now
        unanswered.set(effect.cancelId, { symbols, requestAt, madeAt })
      }
    },
    onWrite({ symbol, batchId }) {
      const late = earlier.find(
        ({ symbols, madeAt }) =>
          symbols.includes(symbol) && world.time.now < madeAt + RECEIVE_WINDOW_MS,
      )
      if (late)
        violate(
          world,
          'ORD8',
          `batch ${batchId} leaves, and a cancel-all of the run before may still take its orders`,
        )
    },
  }
}

/** No wish enters the book that its instrument cannot count (STR1): it could not be written, now or at any start. */
export function watchNumbers(world: World): WorldWatcher {
  return {
    afterStep(_, effects) {
      for (const effect of effects) {
        if (effect.kind !== 'record') continue
        for (const wish of wishesIn(effect.record)) {
          const instrument = world.settings.instruments.get(wish.symbol)
          if (!instrument) continue
          const isTooLarge = Math.abs(wish.lots) > lotsMax(instrument)
          const isTooHigh = wish.prices.some(
            (ticks = 1) => !(ticks > 0 && ticks <= ticksMax(instrument)),
          )
          if (isTooLarge || isTooHigh)
            violate(world, 'STR1', `cannot be counted: ${JSON.stringify(wish)}`)
        }
      }
    },
  }
}

interface Wish {
  readonly symbol: string
  readonly lots: number
  readonly prices: readonly (number | undefined)[]
}

function wishesIn(record: JournalRecord): readonly Wish[] {
  if (record.kind !== 'decision') return []
  const { places = [], targets = [], quotes = [] } = record
  return [
    ...places.map(({ symbol, lots, ticks, takeProfitTicks, stopLossTicks }) => ({
      symbol,
      lots,
      prices: [ticks, takeProfitTicks, stopLossTicks],
    })),
    ...targets.map(({ symbol, lots }) => ({ symbol, lots, prices: [] })),
    ...quotes.flatMap((change) =>
      levelsNamedBy(change).map(({ ticks, lots }) => ({
        symbol: change.symbol,
        lots,
        prices: [ticks],
      })),
    ),
  ]
}
