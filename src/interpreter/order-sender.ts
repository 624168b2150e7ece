import { takesAway } from '../domain/account-call.ts'
import type { Answer } from '../domain/answer.ts'
import type { Recorded } from '../domain/proofs.ts'
import { killOf } from '../engine/book/book.ts'
import type { Effect, OutgoingBatch, OutgoingCall, GrantPriority } from '../engine/effect.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineEvent, GrantedEndpoint } from '../engine/event.ts'
import type { Grant, CallPriority } from '../exchange/limiter/grant.ts'
import type { Ports } from './ports.ts'

export interface OrderSenderOptions {
  readonly ports: Pick<Ports, 'clock' | 'grants' | 'exchange' | 'safety' | 'listener'>
  readonly engine: Pick<Engine, 'book' | 'objectTo' | 'isCallHeldBack'>
  readonly dispatch: (event: EngineEvent) => void
  readonly onAccepted: () => void
}

export const LIMITER_PRIORITY: Readonly<Record<GrantPriority, CallPriority>> = { reduce: 0, add: 1 }

export interface BatchCause {
  /** Unix ms of the step that recorded the batch. */
  readonly recordedAt: number
  /** Monotonic ms of the tickers that led to the batch, if it waited for nothing else. */
  readonly tickersReadAt: number | undefined
}

const CLOSED = 'the run is over'
const RESTRICTED = 'trading was restricted meanwhile'
const KILLED = 'the kill switch is thrown'

/** Sends with a grant, after a last check. Nothing is repeated. */
export class OrderSender {
  readonly #options: OrderSenderOptions
  readonly #grants = new Map<GrantedEndpoint, Grant>()
  #callsOut = 0
  #isClosed = false

  constructor(options: OrderSenderOptions) {
    this.#options = options
  }

  get isSending(): boolean {
    return this.#callsOut > 0
  }

  /** If a grant is ready, the core receives it before this returns. */
  askGrant(endpoint: GrantedEndpoint, priority: GrantPriority): void {
    const { ports, dispatch } = this.#options
    const waiting = ports.grants.request(endpoint, LIMITER_PRIORITY[priority], (grant) => {
      if (this.#isClosed) return grant.unused()
      this.#grants.set(endpoint, grant)
      dispatch({ kind: 'granted', endpoint })
    })
    // The core asks for one grant at a time, so a full queue is a defect.
    if (!waiting) throw new Error(`the limiter turned ${endpoint} away`)
  }

  returnGrant(endpoint: GrantedEndpoint): void {
    this.#takeGrant(endpoint)?.unused()
  }

  /** Returns all grants: a retreat needs them for its cancel-alls. */
  close(): void {
    this.#isClosed = true
    for (const endpoint of Array.from(this.#grants.keys())) this.returnGrant(endpoint)
  }

  sendBatch(batch: Recorded<OutgoingBatch>, { recordedAt, tickersReadAt }: BatchCause): void {
    const { ports, dispatch } = this.#options
    const { batchId, body, validUntilAt } = batch
    const waitedMs = ports.clock.now() - recordedAt
    ports.listener.batchDurable?.({ waitedMs, mostMs: validUntilAt - recordedAt })
    const beforeWrite = () => {
      const objection = this.#objectTo(batch)
      if (objection === undefined) ports.listener.batchLeaves?.(tickersReadAt)
      return objection
    }
    ports.exchange.placeBatch(
      body,
      { grant: this.#takeGrant('batchPlaceOrder'), beforeWrite },
      this.#count((answer) => dispatch({ kind: 'batchAnswered', batchId, answer })),
    )
  }

  sendCancelAll({
    cancelId,
    body,
    clockAheadMs,
  }: Extract<Effect, { kind: 'sendCancelAll' }>): void {
    const { ports, dispatch } = this.#options
    ports.exchange.cancelAll(
      body,
      {
        grant: this.#takeGrant('cancelAllOrders'),
        clockAheadMs,
        beforeWrite: () => (this.#isClosed ? CLOSED : undefined),
      },
      this.#count((answer) => dispatch({ kind: 'cancelAnswered', cancelId, answer })),
    )
  }

  /** Such a call places no order, so the limiter grants it when it is sent; cancels go first. */
  sendCall({ callId, endpoint, body, validUntilAt }: Recorded<OutgoingCall>): void {
    const { ports, engine, dispatch } = this.#options
    const isCancelling = takesAway(endpoint)
    const beforeWrite = () => {
      if (ports.clock.now() > validUntilAt) return 'its time was over before its turn'
      if (engine.isCallHeldBack(callId)) return RESTRICTED
      return !isCancelling && this.#isKilled() ? KILLED : undefined
    }
    ports.exchange.callAccount(
      { endpoint, body },
      { priority: LIMITER_PRIORITY[isCancelling ? 'reduce' : 'add'], beforeWrite },
      this.#count((answer) => dispatch({ kind: 'callAnswered', callId, answer })),
    )
  }

  /** ORD7, RSK2, MKT3. If it returns undefined, the first byte follows in this turn. */
  #objectTo(batch: OutgoingBatch): string | undefined {
    const { ports, engine } = this.#options
    if (this.#isClosed) return CLOSED
    if (!ports.safety.isClockSynchronised())
      return 'a clock may have jumped: the request could expire too late'
    const now = ports.clock.now()
    if (now > batch.validUntilAt) return 'the data it was decided on has become stale'
    return engine.objectTo(batch, now) ?? (this.#isKilled() ? KILLED : undefined)
  }

  /** The switch is read itself, since its event may not have arrived. */
  #isKilled(): boolean {
    const { ports, engine } = this.#options
    return this.#isClosed || ports.safety.isKilled() || killOf(engine.book) !== undefined
  }

  #takeGrant(endpoint: GrantedEndpoint): Grant | undefined {
    const grant = this.#grants.get(endpoint)
    this.#grants.delete(endpoint)
    return grant
  }

  #count<Data>(then: (answer: Answer<Data>) => void): (answer: Answer<Data>) => void {
    let isAnswered = false
    this.#callsOut += 1
    return (answer) => {
      if (!isAnswered) this.#callsOut -= 1
      isAnswered = true
      if (answer.kind === 'accepted') this.#options.onAccepted()
      then(answer)
    }
  }
}
