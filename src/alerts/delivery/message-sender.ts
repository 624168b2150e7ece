import type { LogEvent } from '../../domain/log-events.ts'
import type { HiddenTexts } from '../../lib/secret.ts'
import { rankOf, type Urgency } from '../alert.ts'
import { showFact } from '../rules/facts.ts'
import type { WebhookOutcome } from './webhook-client.ts'

export interface AlertLog {
  log(
    level: 'info' | 'warn' | 'error',
    event: LogEvent,
    fields: Readonly<Record<string, unknown>>,
  ): void
}

export interface QueuedMessage {
  readonly urgency: Urgency
  /** Unix ms. */
  readonly at: number
}

export interface MessageSenderOptions<Message extends QueuedMessage> {
  readonly name: string
  /** `dropped`: number of unreported losses before this one. Never throws. */
  readonly deliver: (message: Message, dropped: number) => Promise<WebhookOutcome>
  /** It asks a target that refused everything whether it takes messages again. */
  readonly writeQuestion?: (failing: FailingTarget, now: number) => Message
  readonly rate: MessageRate
  readonly hidden: HiddenTexts
  readonly logger: AlertLog
  /** Unix ms. */
  readonly now: () => number
}

export interface MessageRate {
  readonly burst: number
  readonly everyMs: number
}

/** Older ones are useless. */
const AGE_MS_MAX = 6 * 3_600_000
const RETRY_MS = 1000
const RETRY_MS_MAX = 300_000
/** Between test messages to a target that refused all. */
const ASK_MS = 300_000
/** Limits the pause that a service demands. */
const RETRY_AFTER_MS_MAX = 900_000

const URGENT_WAIT_MS = 5000

export interface FailingTarget {
  readonly target: string
  readonly since: number
  readonly reason: string
}

export interface DeliveryResult {
  readonly isDelivered: boolean
  readonly words: string
}

/**
 * Brings messages to one place, an alert target or a chat: one at a time, no faster than its rate,
 * again after a failure, for hours. What was dropped is logged, and the next message says it.
 *
 *     waiting ──send()──► sending ──2xx──► waiting
 *                           ├──network, 408, 425, 429, 5xx──► waiting until the next attempt; too old, the message is dropped
 *                           └──any other status: the message is dropped──► waiting
 */
export class MessageSender<Message extends QueuedMessage> {
  readonly #options: MessageSenderOptions<Message>
  readonly #outbox = new Outbox<Message>()
  readonly #rate: SendRate
  #sending: Promise<void> | undefined
  /** Scheduled tries in a row; each lengthens the pause. */
  #failures = 0
  /**
   * An urgent message skips our pause once, since the target may be up again, and waits {@link
   * URGENT_WAIT_MS} of a demanded one.
   */
  #isTryDue = false
  /** Ours, and the one that the target demands. */
  #nextAt = 0
  #leaveAloneUntil = 0
  #askedAt = 0
  #failing: FailingTarget | undefined
  #askAt = 0
  /** The next delivered message reports them. */
  #dropsLogged = 0

  constructor(options: MessageSenderOptions<Message>) {
    this.#options = options
    this.#rate = new SendRate(options.rate)
  }

  get failing(): FailingTarget | undefined {
    return this.#failing
  }

  get isIdle(): boolean {
    return this.#outbox.size === 0 && this.#sending === undefined
  }

  add(message: Message): void {
    this.#outbox.add(message)
    if (message.urgency === 'urgent') this.#isTryDue = true
  }

  advance(isQuiet: boolean): void {
    const { now: readNow, writeQuestion } = this.#options
    const now = readNow()
    if (this.#sending !== undefined) return
    if (this.#failing && writeQuestion && this.#outbox.size === 0 && now >= this.#askAt)
      this.#outbox.add(writeQuestion(this.#failing, now))
    const isEarly = now < Math.max(this.#nextAt, this.#leaveAloneUntil)
    const isLeftAlone = now < Math.min(this.#leaveAloneUntil, this.#askedAt + URGENT_WAIT_MS)
    if (isEarly && (!this.#isTryDue || isLeftAlone)) return
    const message = this.#outbox.next(isQuiet)
    if (message === undefined || !this.#rate.take(now)) return
    this.#isTryDue = false
    this.#sending = this.#send(message, isEarly).finally(() => {
      this.#sending = undefined
    })
  }

  /** @returns the number of lost messages */
  async drain(isQuiet: boolean, isOver: () => boolean): Promise<number> {
    await this.#sending
    for (
      let message = this.#outbox.next(isQuiet);
      message && !isOver();
      message = this.#outbox.next(isQuiet)
    ) {
      await this.#send(message, false)
      if (this.#failing !== undefined) break
    }
    return this.#outbox.size + this.#outbox.dropped - this.#dropsLogged
  }

  /** @param isEarly sent during a pause, which stays as it is on failure */
  async #send(message: Message, isEarly: boolean): Promise<void> {
    const { name, deliver, hidden, logger, now } = this.#options
    const { dropped } = this.#outbox
    if (dropped > this.#dropsLogged)
      logger.log('warn', 'alert.dropped', {
        target: name,
        alerts: dropped - this.#dropsLogged,
      })
    this.#dropsLogged = dropped
    const outcome = await deliver(message, dropped)
    const { isDelivered, words } = describeOutcome(outcome, hidden)
    if (isDelivered) {
      this.#endPause()
      if (this.#failing !== undefined) logger.log('info', 'alert.recovered', { target: name })
      this.#failing = undefined
      this.#outbox.noteHeard(dropped)
      this.#dropsLogged = 0
      return this.#outbox.remove(message)
    }
    if (this.#failing === undefined)
      logger.log('warn', 'alert.failing', { target: name, reason: words })
    this.#failing = { target: name, since: this.#failing?.since ?? now(), reason: words }
    this.#askAt = now() + ASK_MS
    if (!mayPass(outcome)) {
      this.#endPause()
      return this.#outbox.drop(message)
    }
    if (now() - message.at > AGE_MS_MAX) this.#outbox.drop(message)
    this.#askedAt = now()
    this.#leaveAloneUntil = Math.max(this.#leaveAloneUntil, this.#askedAt + askedMs(outcome))
    if (isEarly) return
    this.#failures += 1
    this.#nextAt = now() + retryMs(this.#failures)
  }

  #endPause(): void {
    this.#failures = 0
    this.#nextAt = 0
  }
}

export function describeOutcome(outcome: WebhookOutcome, hidden: HiddenTexts): DeliveryResult {
  if (outcome.kind === 'failed') return { isDelivered: false, words: outcome.reason }
  const { status, text } = outcome
  const said = showFact(hidden.remove(text))
  const isDelivered = status >= 200 && status < 300
  const redirects = status >= 300 && status < 400 ? ' (a redirect, which is not followed)' : ''
  return { isDelivered, words: `answers ${status}${redirects}${said === '' ? '' : `: ${said}`}` }
}

function mayPass(outcome: WebhookOutcome): boolean {
  if (outcome.kind === 'failed') return true
  return outcome.status >= 500 || [408, 425, 429].includes(outcome.status)
}

function retryMs(failures: number): number {
  return Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (failures - 1))
}

function askedMs(outcome: WebhookOutcome): number {
  const asked = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0
  return Math.min(asked, RETRY_AFTER_MS_MAX)
}

class SendRate {
  readonly #rate: MessageRate
  #calls: number
  #filledAt = 0

  constructor(rate: MessageRate) {
    this.#rate = rate
    this.#calls = rate.burst
  }

  take(now: number): boolean {
    const { burst, everyMs } = this.#rate
    const earned = Math.floor((now - this.#filledAt) / everyMs)
    if (earned > 0) {
      this.#calls = Math.min(burst, this.#calls + earned)
      this.#filledAt = this.#calls === burst ? now : this.#filledAt + earned * everyMs
    }
    if (this.#calls === 0) return false
    this.#calls -= 1
    return true
  }
}

/** Hours of trouble, some 200 KB. */
const WAITING_MAX = 100

/** Most urgent first, then oldest. */
class Outbox<Message extends QueuedMessage> {
  readonly #waiting: Message[] = []
  #dropped = 0

  add(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length <= WAITING_MAX) return
    this.drop(this.#waiting.reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least)))
  }

  next(isUrgentOnly: boolean): Message | undefined {
    const ready = isUrgentOnly
      ? this.#waiting.filter(({ urgency }) => urgency === 'urgent')
      : this.#waiting
    const [first] = ready
    return first && ready.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most), first)
  }

  remove(message: Message): void {
    const index = this.#waiting.indexOf(message)
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  drop(message: Message): void {
    this.remove(message)
    this.#dropped += 1
  }

  get size(): number {
    return this.#waiting.length
  }

  get dropped(): number {
    return this.#dropped
  }

  noteHeard(dropped: number): void {
    this.#dropped -= dropped
  }
}
