import { type Answer } from '../../domain/answer.ts'
import { type Effect, type OutgoingBatch, type OutgoingCall, type Priority } from '../../engine/effect.ts'
import { type EngineEvent, type GrantedEndpoint } from '../../engine/event.ts'
import { type ExchangeClient } from '../../exchange/exchange-client.ts'
import { type Grant, type GrantSource } from '../../exchange/limiter/grant.ts'
import { type Recorded } from '../../domain/proofs.ts'
import { type Clock } from '../../lib/clock.ts'
import { KILLED, objectTo } from './last-look.ts'

export interface OrderSenderOptions {
  readonly client: ExchangeClient
  readonly limiter: GrantSource
  readonly clock: Clock
  /** Looks at the kill switch, on the disk. */
  readonly isKilled: () => boolean
  /** Whether a batch adds risk where trading was halted since it was formed. */
  readonly isHalted: (batch: OutgoingBatch) => boolean
  readonly dispatch: (event: EngineEvent) => void
  /** False while one of the clocks may have jumped: looked at right before the first byte. */
  readonly isClockSynchronised: () => boolean
  /** Monotonic ms when the ticker answer was in that is being handled just now; undefined at other times. */
  readonly tickersReadAt: () => number | undefined
  /** Right before the first byte of a batch, with the ticker answer that caused it. */
  readonly onWrite: (batch: OutgoingBatch, causedAt: number | undefined) => void
  /** A call broke the program rather than the wire. */
  readonly onBroken: (error: unknown) => void
}

/** Through here orders leave: with a grant in hand, after a last look, and never twice by itself. */
export class OrderSender {
  readonly #options: OrderSenderOptions
  readonly #grants = new Map<GrantedEndpoint, Grant>()
  readonly #inFlight = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: OrderSenderOptions) {
    this.#options = options
  }

  /** Asks the limiter; the core hears of it at once when a grant is ready. */
  ask(endpoint: GrantedEndpoint, priority: Priority): void {
    const { limiter, dispatch } = this.#options
    const waiting = limiter.request(endpoint, priority === 'reduce' ? 0 : 1, (grant) => {
      if (this.#isClosed) return grant.unused()
      this.#grants.set(endpoint, grant)
      dispatch({ kind: 'granted', endpoint })
    })
    // The core asks for one call at a time, so the queue has room: full, the program is broken.
    if (!waiting) this.#options.onBroken(new Error(`the limiter turned ${endpoint} away`))
  }

  giveBack(endpoint: GrantedEndpoint): void {
    this.#takeGrant(endpoint)?.unused()
  }

  /** The core will use no grant any more: what it holds or waits for would be missing to who takes orders away. */
  close(): void {
    this.#isClosed = true
    for (const endpoint of [...this.#grants.keys()]) this.giveBack(endpoint)
  }

  sendBatch(batch: Recorded<OutgoingBatch>): void {
    const { client, clock, isClockSynchronised, isKilled, isHalted, dispatch, onWrite } = this.#options
    const grant = this.#takeGrant('batchPlaceOrder')
    const causedAt = this.#options.tickersReadAt()
    const sent = client.send(
      { endpoint: 'batchPlaceOrder', body: batch.body, query: '' },
      {
        ...(grant ? { grant } : {}),
        beforeWrite: () => {
          const objection = objectTo(batch, {
            now: clock.now(),
            isClockSynchronised: isClockSynchronised(),
            isKilled,
            isHalted,
          })
          if (objection === undefined) onWrite(batch, causedAt)
          return objection
        },
      },
    )
    this.#await(sent, (answer) => dispatch({ kind: 'batchAnswered', batchId: batch.batchId, answer }))
  }

  sendCancelAll({ cancelId, body }: Extract<Effect, { kind: 'sendCancelAll' }>): void {
    const { client, dispatch } = this.#options
    const grant = this.#takeGrant('cancelAllOrders')
    const sent = client.send({ endpoint: 'cancelAllOrders', body, query: '' }, grant ? { grant } : {})
    this.#await(sent, (answer) => dispatch({ kind: 'cancelAnswered', cancelId, answer }))
  }

  /** A call that places no order waits for its own grant: what takes orders away goes first. */
  sendCall({ callId, endpoint, body, validUntilAt }: Recorded<OutgoingCall>): void {
    const { client, clock, isKilled, dispatch } = this.#options
    const takesAway = endpoint === 'isolatedBatchCancelOrders'
    const sent: Promise<Answer<unknown>> = client.send(
      { endpoint, body, query: '' },
      {
        priority: takesAway ? 0 : 1,
        beforeWrite: () => {
          if (clock.now() > validUntilAt) return 'its time was over before its turn'
          return !takesAway && isKilled() ? KILLED : undefined
        },
      },
    )
    this.#await(sent, (answer) => dispatch({ kind: 'callAnswered', callId, answer }))
  }

  /** Resolves when no call is on the wire any more. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #takeGrant(endpoint: GrantedEndpoint): Grant | undefined {
    const grant = this.#grants.get(endpoint)
    this.#grants.delete(endpoint)
    return grant
  }

  #await<Data>(sent: Promise<Answer<Data>>, then: (answer: Answer<Data>) => void): void {
    const done: Promise<void> = sent
      .then(then)
      .catch(this.#options.onBroken)
      .finally(() => this.#inFlight.delete(done))
    this.#inFlight.add(done)
  }
}
