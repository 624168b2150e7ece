import { isOfOthers } from '../../../src/domain/fill.ts'
import type { JournalRecord } from '../../../src/domain/record.ts'
import { restrictionOf } from '../../../src/engine/book/book.ts'
import type { Effect } from '../../../src/engine/effect.ts'
import type { CancelAllRequest } from '../../../src/protocol/futures/cancel-all-orders.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

/** The clocks of the process and of the exchange differ by less. */
const CLOCK_ERROR_MS = 1000

/**
 * Instruments on which a fill through the API was adopted as another program's, and no cancel-all
 * has begun since that lists what rests there: the order may be of a run that an older copy of the
 * state does not know.
 */
export class DueListings {
  readonly #world: World
  /** Whether it must be listed, keyed by symbol. It need not be if enough was listed before. */
  readonly #due = new Map<string, boolean>()
  /** When the first fill was made, exchange clock, by orderId. */
  readonly #filledAt = new Map<string, number>()
  /** Symbols of a cancel-all that may have listed all from before. */
  readonly #listed = new Set<string>()
  /** Unix ms, exchange clock. */
  #bornAt = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Another process has begun. */
  restart(): void {
    this.#due.clear()
    this.#filledAt.clear()
    this.#listed.clear()
    this.#bornAt = this.#world.time.now
  }

  /** @returns whether the cancel-all that was due begins with it */
  note(effect: Effect): boolean {
    if (effect.kind === 'record') this.#noteRecord(effect.record)
    if (effect.kind === 'sendCancelAll') this.#noteCancel(JSON.parse(effect.body))
    if (effect.kind !== 'announce' || effect.event !== 'instrument.resolving') return false
    const { cause, symbol } = effect.fields
    return cause === 'unwanted' && this.#due.delete(String(symbol))
  }

  isCertain(symbol: string): boolean {
    return this.#due.get(symbol) === true
  }

  #noteCancel({ symbol, requestTime }: CancelAllRequest): void {
    const { settings, plan } = this.#world
    const requestAt = Number(requestTime)
    const isLate =
      requestAt >= this.#bornAt + settings.execution.acceptanceWindowMs - CLOCK_ERROR_MS
    if (!isLate) return
    for (const one of symbol === undefined ? plan.symbols : [symbol]) {
      this.#listed.add(one)
      this.#due.delete(one)
    }
  }

  #noteRecord(record: JournalRecord): void {
    if (record.kind === 'fills') {
      for (const fill of record.fills) {
        if (isOfOthers(fill) || this.#filledAt.has(fill.orderId)) continue
        this.#filledAt.set(fill.orderId, fill.filledAt)
      }
    }
    if (record.kind !== 'foreign') return
    const { symbol, orderIds } = record
    const { book } = this.#world.process.engine ?? {}
    // Other fills halt the instrument, and then an operator has looked.
    if (!book || restrictionOf(book, symbol, 'foreignFills') !== undefined) return
    const fills = orderIds.flatMap((orderId) => this.#filledAt.get(orderId) ?? [])
    if (fills.length === 0) return
    // Whenever the fill was made, nothing from before rests after such a cancel-all.
    this.#due.set(symbol, !this.#listed.has(symbol) || this.isCertain(symbol))
  }
}

/** Nothing leaves between such a fill and the cancel-all that lists what rests. */
export function watchListings(world: World): WorldWatcher {
  const due = new DueListings(world)
  return {
    onBirth: () => due.restart(),
    afterStep(_, effects) {
      const { engine } = world.process
      for (const effect of effects) {
        due.note(effect)
        if (effect.kind !== 'sendBatch' || engine?.phase !== 'running') continue
        const { batchId, symbol } = effect.batch
        if (due.isCertain(symbol))
          violate(world, 'ORD2', `batch ${batchId} leaves before what rests of ${symbol} is listed`)
      }
    },
  }
}
