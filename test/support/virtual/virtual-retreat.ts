import { type Answer } from '../../../src/domain/answer.ts'
import { type StopPolicy } from '../../../src/engine/event.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { callOf, type VirtualGround } from './virtual-ground.ts'
import { type VirtualNetwork } from './virtual-network.ts'
import { onlyOnce } from './virtual-reader.ts'
import { type VirtualTime } from './virtual-time.ts'

/** How a retreat ended, as the daemon's does. */
export type RetreatEnd = 'left' | 'cancelled' | 'unproved'

export interface VirtualRetreatOptions {
  readonly time: VirtualTime
  readonly network: VirtualNetwork
  readonly exchange: VirtualExchange
  readonly ground: VirtualGround
  readonly settings: EngineSettings
  readonly policy: StopPolicy
  /** Writes the note that the next life goes by. False: there is no room for it either. */
  readonly leaveNote: () => boolean
  /** Whether a call that left before may still be answered. */
  readonly isOnWire: () => boolean
  /** Right before the first byte of a cancel-all. */
  readonly onCancel: (body: string) => void
  readonly onEnd: (end: RetreatEnd) => void
}

/** As in the daemon's: a round that failed, or found something, is repeated no sooner; and how often it is looked. */
const ROUND_MS = 1000
const LOOK_MS = 50
/** A call that is granted no sooner does not leave: four instruments wait for each other. */
const GRANT_MS = 6000

/**
 * What a daemon without its journal does, in virtual time: `src/daemon/account/retreat.ts`, which waits with promises
 * and writes files. Nothing is created any more, and what rests is left or cancelled.
 */
export class VirtualRetreat {
  readonly #options: VirtualRetreatOptions
  readonly #endAt: number

  constructor(options: VirtualRetreatOptions) {
    this.#options = options
    this.#endAt = options.time.now + options.settings.execution.stopTimeoutMs
  }

  start(): void {
    const { time, policy, settings, leaveNote, onEnd } = this.#options
    const cancels = policy !== 'leave' && (leaveNote() || settings.onRestart === 'cancel')
    if (cancels) this.#cancelRound(() => this.#waitForWire())
    else time.after(0, () => onEnd('left'))
  }

  #waitForWire(): void {
    if (this.#options.isOnWire()) this.#options.time.after(LOOK_MS, () => this.#waitForWire())
    else this.#cancelUntilNothing()
  }

  #cancelUntilNothing(): void {
    const { time, onEnd } = this.#options
    this.#cancelRound((hasFound) => {
      if (!hasFound) onEnd('cancelled')
      else if (time.now >= this.#endAt) onEnd('unproved')
      else time.after(ROUND_MS, () => this.#cancelUntilNothing())
    })
  }

  /** One cancel-all an instrument; nothing was found when each was answered and none named an order. */
  #cancelRound(then: (hasFound: boolean) => void): void {
    const symbols = [...this.#options.settings.instruments.keys()]
    let [left, hasFound] = [symbols.length, false]
    for (const symbol of symbols) {
      this.#cancel(symbol, (orders) => {
        hasFound ||= orders !== 0
        left -= 1
        if (left === 0) then(hasFound)
      })
    }
  }

  /** Tells how many orders there were; undefined when that is not known. */
  #cancel(symbol: string, told: (orders: number | undefined) => void): void {
    const { time, network, exchange, ground, settings } = this.#options
    const marginCoin = settings.instruments.get(symbol)?.marginCoin
    const body = JSON.stringify({ symbol, productType: settings.productType, marginCoin })
    let isGivenUp = false
    let isGranted = false
    time.after(GRANT_MS, () => {
      isGivenUp = !isGranted
      if (isGivenUp) told(undefined)
    })
    ground.limiter.request('cancelAllOrders', 0, (grant) => {
      if (isGivenUp) return grant.unused()
      isGranted = true
      const signedAt = ground.trusted.offset.exchangeNow(ground.clock.now()) ?? ground.clock.now()
      this.#options.onCancel(body)
      grant.sent()
      network.send({
        ...callOf(ground),
        site: 'cancelAllOrders',
        perform: () => exchange.cancelAll(body, signedAt),
        hear: onlyOnce((answer) => {
          grant.over(answer)
          told(countOrders(answer))
        }),
      })
    })
  }
}

function countOrders(answer: Answer<BatchResult>): number | undefined {
  if (answer.kind === 'accepted') return answer.data.successList.length + answer.data.failureList.length
  return answer.kind === 'refused' && answer.topic === 'orderGone' ? 0 : undefined
}
