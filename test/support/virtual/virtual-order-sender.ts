import { type Answer } from '../../../src/domain/answer.ts'
import { objectTo } from '../../../src/daemon/account/last-look.ts'
import { type Effect, type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type EngineEvent, type GrantedEndpoint } from '../../../src/engine/event.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { type VirtualFaults } from '../faults/virtual-faults.ts'
import { callOf, type VirtualGround } from './virtual-ground.ts'
import { type VirtualGrant } from './virtual-limiter.ts'
import { type VirtualNetwork } from './virtual-network.ts'
import { type VirtualTime } from './virtual-time.ts'

export interface VirtualOrderSenderOptions {
  readonly ground: VirtualGround
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  /** Whether the kill file is there. */
  readonly isKilled: () => boolean
  /** Whether a batch adds risk where trading was halted since it was formed. */
  readonly isHalted: (batch: OutgoingBatch) => boolean
  /** Right before the first byte of a batch. */
  readonly onWrite: (batch: OutgoingBatch, now: number) => void
}

type BatchAnswered = Extract<EngineEvent, { kind: 'batchAnswered' }>
type CancelAnswered = Extract<EngineEvent, { kind: 'cancelAnswered' }>

/** Through here orders leave, as through the daemon's order sender: with a grant in hand and after a last look. */
export class VirtualOrderSender {
  readonly #options: VirtualOrderSenderOptions
  #onWire = 0
  #isClosed = false

  constructor(options: VirtualOrderSenderOptions) {
    this.#options = options
  }

  /** Whether a call is neither answered nor given up. */
  get isOnWire(): boolean {
    return this.#onWire > 0
  }

  ask({ endpoint, priority }: Extract<Effect, { kind: 'askGrant' }>): void {
    const { limiter, enter, dispatch } = this.#options.ground
    limiter.request(endpoint, priority === 'reduce' ? 0 : 1, (grant) => {
      if (this.#isClosed) return grant.unused()
      enter(() => {
        // It came while the process stood still.
        if (this.#isClosed) return grant.unused()
        limiter.keep(endpoint, grant)
        dispatch({ kind: 'granted', endpoint })
      })
    })
  }

  giveBack({ endpoint }: Extract<Effect, { kind: 'returnGrant' }>): void {
    this.#options.ground.limiter.take(endpoint)?.unused()
  }

  /** The core will use no grant any more. */
  close(): void {
    this.#isClosed = true
    for (const endpoint of ['batchPlaceOrder', 'cancelAllOrders'] as const) {
      this.#options.ground.limiter.take(endpoint)?.unused()
    }
  }

  /** A batch waits a moment for its connection, is looked at once more, signed and written. */
  sendBatch(batch: OutgoingBatch): void {
    const { time, faults, ground } = this.#options
    const waitMs = faults.delayMs('batchPlaceOrder/connect', 0, 20)
    this.#withGrant('batchPlaceOrder', (grant) =>
      time.after(waitMs, () => ground.enter(() => this.#writeBatch(batch, grant))),
    )
  }

  sendCancelAll({ cancelId, body }: Extract<Effect, { kind: 'sendCancelAll' }>): void {
    const { network, exchange, ground } = this.#options
    this.#withGrant('cancelAllOrders', (grant) => {
      const signedAt = this.#exchangeNow()
      grant.sent()
      const over = this.#putOnWire()
      network.send({
        ...callOf(ground),
        site: 'cancelAllOrders',
        perform: () => exchange.cancelAll(body, signedAt),
        hear: (answer) => {
          over()
          this.#hear({ kind: 'cancelAnswered', cancelId, answer }, grant)
        },
      })
    })
  }

  /** The grant in hand; a call without one waits for its own, as the client makes it. */
  #withGrant(endpoint: GrantedEndpoint, then: (grant: VirtualGrant) => void): void {
    const { limiter, enter } = this.#options.ground
    const grant = limiter.take(endpoint)
    if (grant) then(grant)
    else {
      const use = (own: VirtualGrant): void => (this.#isClosed ? own.unused() : then(own))
      limiter.request(endpoint, 2, (own) => (this.#isClosed ? own.unused() : enter(() => use(own))))
    }
  }

  #writeBatch(batch: OutgoingBatch, grant: VirtualGrant): void {
    const { network, exchange, ground, isKilled, isHalted, onWrite } = this.#options
    const { batchId, body } = batch
    if (this.#isClosed) return grant.unused()
    const now = ground.clock.now()
    if (
      objectTo(batch, { now, isClockSynchronised: ground.trusted.isSynchronised, isKilled, isHalted }) !==
      undefined
    ) {
      grant.unused()
      ground.dispatch({ kind: 'batchAnswered', batchId, answer: staleAnswer(now) })
      return ground.lookForKill()
    }
    onWrite(batch, now)
    const signedAt = this.#exchangeNow()
    grant.sent()
    const over = this.#putOnWire()
    network.send({
      ...callOf(ground),
      site: 'batchPlaceOrder',
      perform: (isCopy) => exchange.placeBatch({ body, signedAt, isCopy }),
      hear: (answer) => {
        over()
        this.#hear({ kind: 'batchAnswered', batchId, answer }, grant)
      },
    })
  }

  /** Counts a call until it is answered for the first time, or given up. */
  #putOnWire(): () => void {
    let isOver = false
    this.#onWire += 1
    return () => {
      if (!isOver) this.#onWire -= 1
      isOver = true
    }
  }

  #hear(event: BatchAnswered | CancelAnswered, grant: VirtualGrant): void {
    const { enter, dispatch } = this.#options.ground
    // The core is dead, and what takes orders away instead goes on.
    if (this.#isClosed) return grant.over(event.answer)
    enter(() => {
      grant.over(event.answer)
      dispatch(event)
    })
  }

  /** The exchange's clock as this process knows it, Unix ms. */
  #exchangeNow(): number {
    const { trusted, clock } = this.#options.ground
    return trusted.offset.exchangeNow(clock.now()) ?? clock.now()
  }
}

function staleAnswer(receivedAt: number): Answer<never> {
  const reason = { code: 'STALE', topic: 'system', message: '' } as const
  return { kind: 'refused', class: 'notSent', ...reason, status: undefined, receivedAt }
}
