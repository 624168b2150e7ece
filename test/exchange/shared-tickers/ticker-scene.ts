import { type RefusedAnswer } from '../../../src/domain/answer.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { TrustedClock } from '../../../src/exchange/clock/exchange-clock.ts'
import { ExchangeClient, type ReadTickersOptions } from '../../../src/exchange/exchange-client.ts'
import {
  type Grant,
  type GrantSource,
  type WaitingRequest,
} from '../../../src/exchange/limiter/grant.ts'
import {
  ANSWER_MS_MAX,
  SharedTickers,
} from '../../../src/exchange/shared-tickers/shared-tickers.ts'
import {
  type HandedTickers,
  type TickerLook,
  type TickerLooked,
  type TickerStore,
} from '../../../src/exchange/shared-tickers/ticker-store.ts'
import { type EndpointName } from '../../../src/protocol/endpoints.ts'
import { type ProductType } from '../../../src/protocol/values.ts'
import { envelopeOf } from '../../support/wire-server.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'
import { CALLING } from '../client-fixture.ts'

export const TICKERS_MS = 500
const SYMBOL = 'BTCUSDT'

/** Everything in time that a test moves. */
export class TickerScene {
  readonly time = new ManualTime(MOMENT_AT)
  readonly server = new FakeServer(this.time)
  readonly exchange = new FakeExchange(this.time)
  readonly #members: Member[] = []

  /** A daemon on a machine whose clock is wrong by so much. */
  open({ aheadMs = 0, tickersMs = TICKERS_MS } = {}): Member {
    const member = new Member(this, aheadMs, tickersMs)
    this.#members.push(member)
    return member
  }

  async close(): Promise<void> {
    for (const { client } of this.#members) await client.close()
  }
}

/** Redis by the rules of its scripts. Its clock is hours from all others. */
class FakeServer implements TickerStore {
  readonly looks: TickerLook[] = []
  readonly held = new Map<string, HandedTickers>()
  /** `slow`: no answer until it is given up. */
  state: 'answers' | 'gone' | 'slow' = 'answers'
  /** The way there and back, ms. */
  tripMs = 0
  aheadMs = 7_000_000
  readonly #claimedAt = new Map<string, number>()
  readonly #time: ManualTime

  constructor(time: ManualTime) {
    this.#time = time
  }

  get now(): number {
    return this.#time.now() + this.aheadMs
  }

  async look(look: TickerLook): Promise<TickerLooked> {
    this.looks.push(look)
    await this.#travel()
    const { productType, has, ageMsMax, otherwise, since } = look
    const { now } = this
    const wanted = since === 0 ? now - ageMsMax : since
    const held = this.held.get(productType)
    const claimedAt = this.#claimedAt.get(productType) ?? 0
    let looked: TickerLooked
    if (held && held.askedAt >= wanted && held.askedAt !== has)
      looked = { ...held, kind: 'reading', now }
    else if (otherwise === 'wait' || (otherwise === 'turn' && claimedAt >= wanted)) {
      const expectedMs = claimedAt + (held?.tookMs ?? 0) - now
      looked = { kind: 'wait', now, since: wanted, waitMs: Math.min(Math.max(expectedMs, 10), 100) }
    } else {
      looked = { kind: 'read', now }
      this.#claimedAt.set(productType, now)
    }
    await this.#travel()
    return looked
  }

  async handOn(handed: HandedTickers): Promise<void> {
    await this.#travel()
    this.#claimedAt.delete(handed.productType)
    if (handed.body.length > 0) this.held.set(handed.productType, handed)
  }

  close(): void {
    this.state = 'gone'
  }

  async #travel(): Promise<void> {
    if (this.state === 'gone') throw new Error('no connection')
    const ms = this.state === 'slow' ? ANSWER_MS_MAX : this.tripMs / 2
    if (ms > 0) await passing(this.#time, ms)
    if (this.state === 'slow') throw new Error('no answer in time')
  }
}

/** Each answer has another price: how often it was asked. */
class FakeExchange {
  readonly asked: { readonly productType: ProductType; readonly at: number }[] = []
  takesMs = 40
  state: 'answers' | 'refuses' | 'hangs' = 'answers'
  readonly #time: ManualTime

  constructor(time: ManualTime) {
    this.#time = time
  }

  /** The bytes of its answer; undefined where it refuses. */
  async ask(productType: ProductType): Promise<Buffer | undefined> {
    this.asked.push({ productType, at: this.#time.now() })
    const price = String(this.asked.length)
    if (this.state === 'hangs') return new Promise(() => undefined)
    await passing(this.#time, this.takesMs / 2)
    const requestTime = this.#time.now()
    await passing(this.#time, this.takesMs / 2)
    return this.state === 'refuses' ? undefined : bodyOf(price, requestTime)
  }
}

export function bodyOf(price: string, requestTime: number): Buffer {
  const row = { symbol: SYMBOL, lastPr: price, bidPr: price, askPr: price, ts: String(requestTime) }
  return Buffer.from(JSON.stringify(envelopeOf([row], { requestTime })))
}

/** Grants each call after so long, and no more of them in a second than there are. */
class FakeLimiter implements GrantSource {
  grantMs = 0
  callsASecond = Number.POSITIVE_INFINITY
  /** Granted and not ended, and how those that were ended were: `released`, `unused`. */
  readonly open = new Set<Grant>()
  readonly ended: string[] = []
  waiting = 0
  #madeAt: readonly number[] = []
  readonly #time: ManualTime

  constructor(time: ManualTime) {
    this.#time = time
  }

  request(
    endpoint: EndpointName,
    _priority: number,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest {
    const end = (how: string) => () => {
      if (this.open.delete(grant)) this.ended.push(how)
    }
    const grant: Grant = { endpoint, release: end('released'), unused: end('unused') }
    let stop = (): unknown => undefined
    const give = (): void => {
      const now = this.#time.monotonic()
      const made = this.#madeAt.filter((at) => at > now - 1000)
      if (made.length >= this.callsASecond) {
        stop = this.#time.after((made[0] ?? now) + 1000 - now, give)
        return
      }
      this.#madeAt = [...made, now]
      this.waiting -= 1
      this.open.add(grant)
      onGranted(grant)
    }
    this.waiting += 1
    if (this.grantMs === 0) give()
    else stop = this.#time.after(this.grantMs, give)
    const cancel = (): void => {
      stop()
      if (!this.open.has(grant)) this.waiting -= 1
    }
    return { cancel }
  }
}

/** One daemon, with the reader and the checks of its client, but no wire. */
export class Member {
  readonly table = new TickerTable()
  readonly trusted: TrustedClock
  readonly client: ExchangeClient
  readonly tickers: SharedTickers
  readonly limiter: FakeLimiter
  readonly now: () => number
  readonly #scene: TickerScene

  constructor(scene: TickerScene, aheadMs: number, tickersMs: number) {
    const { time, server: store } = scene
    this.#scene = scene
    this.now = () => time.now() + aheadMs
    this.limiter = new FakeLimiter(time)
    const clock = { now: this.now, monotonic: () => time.monotonic() }
    this.trusted = new TrustedClock(clock)
    const { offset } = this.trusted
    for (const requestTime of [time.now(), time.now()])
      offset.observe({ requestTime, sentAt: this.now(), receivedAt: this.now() }, 'signed')
    this.client = new ExchangeClient({
      baseUrl: 'http://127.0.0.1:1',
      positionMode: 'one_way_mode',
      ...CALLING,
      clock,
      offset,
      timers: time,
    })
    const client = {
      readTickers: this.#readTickers.bind(this),
      takeTickers: this.client.takeTickers.bind(this.client),
    }
    const { trusted, limiter } = this
    this.tickers = new SharedTickers({ store, client, limiter, trusted, timers: time, tickersMs })
  }

  /** Polls once. @returns the price, or why there is none */
  async read(productType: ProductType = 'USDT-FUTURES'): Promise<string> {
    const answer = await this.tickers.readTickers(this.table, productType)
    return answer.kind === 'accepted' ? String(answer.data.read(SYMBOL, 'lastPr')) : answer.kind
  }

  async #readTickers(
    table: TickerTable,
    productType: ProductType,
    { grant, onAccepted }: ReadTickersOptions = {},
  ): ReturnType<ExchangeClient['readTickers']> {
    const sentAt = this.now()
    const body = await this.#scene.exchange.ask(productType)
    if (body === undefined) return REFUSED
    const wire = { status: 200, contentEncoding: '', body, sentAt, receivedAt: this.now() }
    grant?.release()
    const answer = this.client.takeTickers(table, wire)
    if (answer.kind === 'accepted') onAccepted?.(wire)
    // They are used for the next answer.
    body.fill(0)
    return answer
  }
}

const REFUSED: RefusedAnswer = {
  kind: 'refused',
  class: 'retry',
  topic: 'rate',
  code: '429',
  message: 'Too Many Requests',
  status: 429,
  receivedAt: 0,
}

function passing(time: ManualTime, ms: number): Promise<void> {
  return new Promise((resolve) => void time.after(ms, resolve))
}
