import type { Answer } from '../../domain/answer.ts'
import type { TickerTable } from '../../domain/ticker-table.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ProductType } from '../../protocol/values.ts'
import type { WireAnswer } from '../client/transport.ts'
import type { TrustedClock } from '../clock/exchange-clock.ts'
import type { ExchangeClient } from '../exchange-client.ts'
import type { Grant, GrantSource } from '../limiter/grant.ts'
import type { TickerLook, TickerLooked, TickerStore } from './ticker-store.ts'

export interface SharedTickersOptions {
  readonly store: TickerStore
  readonly client: Pick<ExchangeClient, 'readTickers' | 'takeTickers'>
  readonly limiter: GrantSource
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly tickersMs: number
}

export interface SharedTickersView {
  readonly taken: number
  readonly own: number
  /** Not a valid answer for that time: read here instead. */
  readonly refused: number
  readonly failed: number
}

export const ANSWER_MS_MAX = 50
/** A single missing answer may be late because this process was held up. */
const REST_MS = 1000
/** A reading requested this share of the poll interval earlier is as good as its own. */
const AGE_SHARE = 0.5
const AGE_MS_MAX = 250
const WAIT_MS_MAX = 1000
const IN_LINE_LOOK_MS = 5
const CLOCK_ERROR_MS = 1000
const ROUNDING_MS = 1

type LookResult = TickerLooked & { readonly lookedAt: number; readonly answeredAt: number }
type Turn = Extract<LookResult, { kind: 'read' }> & { readonly grant?: Grant }

/**
 * Daemons behind one address read tickers for each other. A poll first looks at what others have
 * read:
 *
 *     looking ──a reading of this poll's time──► taken
 *     looking ──another daemon is reading──► waiting ──► looking
 *     looking ──nothing, or waited for long enough──► reading ──► handed on
 *     looking ──the same, and no call is free here──► looking and in line for a call ──► taken, or reading
 *     looking ──Redis fails──► reading
 *
 * A daemon without a free call ends its turn at once. A taken answer passes the checks of one from
 * the exchange. Its age counts from the request to the exchange (MKT1), by upper bounds of the
 * server's clock and ours, so it is never younger than stated; its own time must agree within a
 * second.
 */
export class SharedTickers {
  readonly #options: SharedTickersOptions
  readonly #ageMsMax: number
  readonly #waitMsMax: number
  /** The server's time at the request of the newest known reading. */
  readonly #has = new Map<ProductType, number>()
  readonly #counts = { taken: 0, own: 0, refused: 0, failed: 0 }
  #isFailing = false
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
    // Only direct answers of the exchange set the clock.
    const mayLook = trusted.isMeasured && trusted.clock.monotonic() >= this.#restsUntil
    let found = mayLook ? await this.#find(productType) : undefined
    if (found?.kind === 'read') found = await this.#standInLine(productType, found)
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

  async #find(productType: ProductType): Promise<LookResult | undefined> {
    const { timers, trusted } = this.#options
    const { clock } = trusted
    const waitsUntil = clock.monotonic() + this.#waitMsMax
    let since = 0
    for (;;) {
      const otherwise = clock.monotonic() < waitsUntil ? 'turn' : 'claim'
      const found = await this.#look(productType, { since, otherwise })
      if (found?.kind !== 'wait') return found
      ;({ since } = found)
      const waitMs = Math.min(found.waitMs, waitsUntil - clock.monotonic())
      await new Promise<void>((resolve) => {
        timers.after(waitMs, resolve)
      })
    }
  }

  async #look(
    productType: ProductType,
    wanted: Pick<TickerLook, 'since' | 'otherwise'>,
  ): Promise<LookResult | undefined> {
    const { store, trusted } = this.#options
    const lookedAt = trusted.clock.monotonic()
    const has = this.#has.get(productType) ?? 0
    const looked = await store
      .look({ productType, has, ageMsMax: this.#ageMsMax, ...wanted })
      .catch(() => this.#fail())
    if (looked === undefined) return undefined
    this.#isFailing = false
    return { ...looked, lookedAt, answeredAt: trusted.clock.now() }
  }

  async #standInLine(productType: ProductType, turn: Turn): Promise<LookResult | Turn> {
    const { limiter, timers, trusted } = this.#options
    let grant: Grant | undefined
    let wake = (): void => undefined
    const waiting = limiter.request('tickers', 2, (granted) => {
      grant = granted
      wake()
    })
    const isGranted = (): boolean => grant !== undefined
    if (!isGranted() && waiting) this.#handOn(productType, turn)
    const since = turn.now - this.#ageMsMax
    const waitsUntil = trusted.clock.monotonic() + WAIT_MS_MAX
    let waitMs = IN_LINE_LOOK_MS
    while (!isGranted() && waiting && trusted.clock.monotonic() < waitsUntil) {
      await new Promise<void>((resolve) => {
        wake = resolve
        timers.after(waitMs, resolve)
      })
      if (isGranted()) break
      const found = await this.#look(productType, { since, otherwise: 'wait' })
      if (found === undefined) break
      if (found.kind === 'wait') ({ waitMs } = found)
      if (found.kind !== 'reading') continue
      waiting.cancel()
      grant?.unused()
      return found
    }
    if (!isGranted()) waiting?.cancel()
    return grant ? { ...turn, grant } : turn
  }

  #take(
    table: TickerTable,
    found: Extract<LookResult, { kind: 'reading' }>,
  ): Answer<TickerTable> | undefined {
    const { client, trusted } = this.#options
    const { clock, offset } = trusted
    const now = clock.now()
    const ageMs = found.now - found.askedAt + clock.monotonic() - found.lookedAt
    const askedAt = now - Math.ceil(ageMs) - ROUNDING_MS
    const { contentEncoding, body } = found
    const answer = client.takeTickers(table, {
      status: 200,
      contentEncoding,
      body,
      sentAt: askedAt,
      receivedAt: askedAt,
    })
    const { requestTime = 0 } = answer
    const isOfItsTime =
      requestTime >= offset.publicNow(askedAt) - CLOCK_ERROR_MS &&
      requestTime <= offset.publicNow(now) + CLOCK_ERROR_MS
    // If the machine slept during the question, the age is unknown.
    return answer.kind === 'accepted' && isOfItsTime && trusted.isMeasured ? answer : undefined
  }

  async #read(
    table: TickerTable,
    productType: ProductType,
    found: LookResult | Turn | undefined,
  ): Promise<Answer<TickerTable>> {
    const { client } = this.#options
    const answer = await client.readTickers(table, productType, {
      grant: found && 'grant' in found ? found.grant : undefined,
      onAccepted: found && ((wire) => this.#handOn(productType, found, wire)),
    })
    if (answer.kind === 'accepted') this.#counts.own += 1
    else if (found) this.#handOn(productType, found)
    return answer
  }

  #handOn(productType: ProductType, { now, answeredAt }: LookResult, wire?: WireAnswer): void {
    const sentAt = wire?.sentAt ?? answeredAt
    // It may have waited for a grant between the two.
    const askedAt = now + Math.max(0, sentAt - answeredAt)
    if (wire) this.#has.set(productType, askedAt)
    const handing = this.#options.store.handOn({
      productType,
      askedAt,
      tookMs: (wire?.receivedAt ?? sentAt) - sentAt,
      contentEncoding: wire?.contentEncoding ?? '',
      body: Buffer.from(wire?.body ?? ''),
    })
    handing.catch(() => this.#fail())
  }

  #fail(): undefined {
    this.#counts.failed += 1
    if (this.#isFailing) this.#restsUntil = this.#options.trusted.clock.monotonic() + REST_MS
    this.#isFailing = true
  }
}
