import { type Answer } from '../../domain/answer.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { type Timers } from '../../lib/timers.ts'
import { type ProductType } from '../../protocol/values.ts'
import { type WireAnswer } from '../client/pending-call.ts'
import { type TrustedClock } from '../clock/trusted-clock.ts'
import { type ExchangeClient } from '../exchange-client.ts'
import type { TickerLooked, TickerStore } from './ticker-store.ts'

export interface SharedTickersOptions {
  readonly store: TickerStore
  readonly client: Pick<ExchangeClient, 'readTickers' | 'takeTickers'>
  readonly trusted: TrustedClock
  readonly timers: Timers
  /** Between two polls, ms. */
  readonly tickersMs: number
}

/** What became of polls so far, for whoever looks. */
export interface SharedTickersView {
  /** That another daemon had read. */
  readonly taken: number
  /** Read here; handed on where Redis answers. */
  readonly own: number
  /** Handed on, but no answer of the exchange, or none of that time: read here instead. */
  readonly refused: number
  /** How often Redis did not answer in time. */
  readonly failed: number
}

/** An answer of Redis that takes longer is none, ms: tickers would come too late by it. */
export const ANSWER_MS_MAX = 50
/** After that it is not asked for this long, ms. */
const REST_MS = 1000
/** Asked for so long before a poll, as a share of the time between two, a reading is as good as one of its own. */
const AGE_SHARE = 0.5
/** And no older than this, ms. */
const AGE_MS_MAX = 250
/** Whoever reads is waited for until the next poll, and no longer than this, ms: it may be dead. */
const WAIT_MS_MAX = 1000
/** By as much our idea of the exchange's clock may be wrong. */
const CLOCK_ERROR_MS = 1000
/** The server's clock counts whole milliseconds. */
const ROUNDING_MS = 1

/** What the server said, and when it was asked: monotonic ms. */
type Found = TickerLooked & { readonly lookedAt: number }

/**
 * Tickers that daemons behind one address read for each other. A poll looks first at what others have read:
 *
 *     looking ──a reading of this poll's time──► taken
 *     looking ──another daemon is reading──► waiting ──► looking
 *     looking ──nothing, or waited for long enough──► reading ──► handed on
 *     looking ──Redis fails──► reading
 *
 * What is taken goes through the same reader and checks as an answer of the exchange. Its age counts from when the
 * server was looked at before the exchange was asked: by the server's clock until it handed it to us, and by ours from
 * our own question on. So it is never younger than that (MKT1). The exchange's own time in it must agree within a
 * second.
 */
export class SharedTickers {
  readonly #options: SharedTickersOptions
  readonly #ageMsMax: number
  readonly #waitMsMax: number
  /** When the newest reading of each product type was asked for that is known here, by the server's clock. */
  readonly #has = new Map<ProductType, number>()
  readonly #counts = { taken: 0, own: 0, refused: 0, failed: 0 }
  /** Monotonic ms. */
  #restsUntil = Number.NEGATIVE_INFINITY

  constructor(options: SharedTickersOptions) {
    this.#options = options
    this.#ageMsMax = Math.min(Math.floor(options.tickersMs * AGE_SHARE), AGE_MS_MAX)
    this.#waitMsMax = Math.min(options.tickersMs, WAIT_MS_MAX)
  }

  view(): SharedTickersView {
    return { ...this.#counts }
  }

  close(): void {
    this.#options.store.close()
  }

  async readTickers(table: TickerTable, productType: ProductType): Promise<Answer<TickerTable>> {
    const { trusted } = this.#options
    // Only the exchange itself tells us its time.
    const mayLook = trusted.isSynchronised && trusted.clock.monotonic() >= this.#restsUntil
    const found = mayLook ? await this.#find(productType) : undefined
    if (found?.kind === 'reading') {
      const taken = this.#take(table, found)
      if (taken) {
        this.#counts.taken += 1
        this.#has.set(productType, found.askedAt)
        return taken
      }
      this.#counts.refused += 1
    }
    return this.#read(table, productType, found)
  }

  /** Undefined: Redis does not answer. */
  async #find(productType: ProductType): Promise<Found | undefined> {
    const { store, timers, trusted } = this.#options
    const begunAt = trusted.clock.monotonic()
    const common = { productType, has: this.#has.get(productType) ?? 0, ageMsMax: this.#ageMsMax }
    let since = 0
    for (;;) {
      const lookedAt = trusted.clock.monotonic()
      const mayWait = lookedAt - begunAt < this.#waitMsMax
      const looked = await store.look({ ...common, since, mayWait }).catch(() => this.#rest())
      if (looked?.kind !== 'wait') return looked && { ...looked, lookedAt }
      ;({ since } = looked)
      await new Promise<void>((resolve) => {
        timers.after(looked.waitMs, resolve)
      })
    }
  }

  /** Undefined where it is no answer of the exchange at that time. */
  #take(table: TickerTable, found: Extract<Found, { kind: 'reading' }>): Answer<TickerTable> | undefined {
    const { client, trusted } = this.#options
    const { clock, offset } = trusted
    const now = clock.now()
    const ageMs = found.now - found.askedAt + clock.monotonic() - found.lookedAt
    const askedAt = now - Math.ceil(ageMs) - ROUNDING_MS
    const { contentEncoding, body } = found
    const answer = client.takeTickers(table, {
      ...{ status: 200, contentEncoding, body },
      ...{ sentAt: askedAt, receivedAt: askedAt },
    })
    const { requestTime = 0 } = answer
    const isOfItsTime =
      requestTime >= offset.exchangeNow(askedAt) - CLOCK_ERROR_MS &&
      requestTime <= offset.exchangeNow(now) + CLOCK_ERROR_MS
    // The machine may have slept over its question: then nobody knows how old it is.
    return answer.kind === 'accepted' && isOfItsTime && trusted.isSynchronised ? answer : undefined
  }

  /** Asks the exchange, and hands on what it says. */
  async #read(
    table: TickerTable,
    productType: ProductType,
    found: Found | undefined,
  ): Promise<Answer<TickerTable>> {
    const { client } = this.#options
    const answer = await client.readTickers(
      table,
      productType,
      found && ((wire) => this.#handOn(productType, found, wire)),
    )
    if (answer.kind === 'accepted') {
      this.#counts.own += 1
      if (found) this.#has.set(productType, found.now)
    } else if (found) this.#handOn(productType, found)
    return answer
  }

  #handOn(productType: ProductType, { now: askedAt, lookedAt }: Found, wire?: WireAnswer): void {
    const { store, trusted } = this.#options
    const handing = store.handOn({
      ...{ productType, askedAt },
      tookMs: Math.round(trusted.clock.monotonic() - lookedAt),
      contentEncoding: wire?.contentEncoding ?? '',
      // The bytes of an answer are lent for this moment.
      body: Buffer.from(wire?.body ?? ''),
    })
    handing.catch(() => this.#rest())
  }

  #rest(): undefined {
    this.#counts.failed += 1
    this.#restsUntil = this.#options.trusted.clock.monotonic() + REST_MS
  }
}
