import type { AlertTarget } from '../../config/alert-secrets.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import type { HiddenTexts } from '../../lib/secret.ts'
import { type Alert, rankOf } from '../alert.ts'
import { showFact } from '../rules/facts.ts'
import { type MessagePlace, writeCall } from './message.ts'
import type { WebhookClient, WebhookOutcome } from './webhook-client.ts'

export interface AlertLog {
  log(
    level: 'info' | 'warn' | 'error',
    event: LogEvent,
    fields: Readonly<Record<string, unknown>>,
  ): void
}

export interface SenderOptions {
  readonly target: AlertTarget
  readonly client: Pick<WebhookClient, 'call'>
  readonly place: MessagePlace
  readonly hidden: HiddenTexts
  readonly logger: AlertLog
  /** Unix ms. */
  readonly now: () => number
}

const AGE_MS_MAX = 6 * 3_600_000
/** Pauses of 1 s, 2 s, 4 s … up to 5 min. */
const RETRY_MS = 1000
const RETRY_MS_MAX = 300_000
/** Between tests of a target that refused all. */
const ASK_MS = 300_000
const RETRY_AFTER_MS_MAX = 900_000

/** Limits an urgent alert's wait after a demanded pause. */
const URGENT_WAIT_MS = 5000

export interface FailingTarget {
  readonly target: string
  /** Unix ms. */
  readonly since: number
  readonly reason: string
}

export interface DeliveryResult {
  readonly isDelivered: boolean
  readonly words: string
}

/**
 * One at a time, no faster than its rate, again after a failure, for hours.
 *
 *     waiting ──send()──► sending ──2xx──► waiting
 *                           ├──network, 408, 425, 429, 5xx──► waiting until the next attempt; too old, the alert is dropped
 *                           └──any other status: the alert is dropped──► waiting
 */
export class TargetSender {
  readonly #options: SenderOptions
  readonly #outbox = new Outbox()
  readonly #rate = new SendRate()
  #sending: Promise<void> | undefined
  /** Scheduled tries in a row; each lengthens the pause. */
  #failures = 0
  /** An urgent alert skips our pause once, and waits {@link URGENT_WAIT_MS} of a demanded one. */
  #isTryDue = false
  /** Set by our pauses, and by the target's demand. */
  #nextAt = 0
  #leaveAloneUntil = 0
  #askedAt = 0
  #failing: FailingTarget | undefined
  #askAt = 0
  #dropsLogged = 0

  constructor(options: SenderOptions) {
    this.#options = options
  }

  get failing(): FailingTarget | undefined {
    return this.#failing
  }

  add(alert: Alert): void {
    if (!isWanted(alert, this.#options.target)) return
    this.#outbox.add(alert)
    if (alert.urgency === 'urgent') this.#isTryDue = true
  }

  /** `isQuiet`: only urgent ones. */
  advance(isQuiet: boolean): void {
    const now = this.#options.now()
    if (this.#sending !== undefined) return
    if (this.#failing !== undefined && this.#outbox.size === 0 && now >= this.#askAt)
      this.#outbox.add(askAgain(this.#failing, now))
    const isEarly = now < Math.max(this.#nextAt, this.#leaveAloneUntil)
    const isLeftAlone = now < Math.min(this.#leaveAloneUntil, this.#askedAt + URGENT_WAIT_MS)
    if (isEarly && (!this.#isTryDue || isLeftAlone)) return
    const alert = this.#outbox.next(isQuiet)
    if (alert === undefined || !this.#rate.take(now)) return
    this.#isTryDue = false
    this.#sending = this.#send(alert, isEarly).finally(() => {
      this.#sending = undefined
    })
  }

  /**
   * In order, until a failure or the timeout.
   * @returns the number of lost alerts
   */
  async drain(isQuiet: boolean, isOver: () => boolean): Promise<number> {
    await this.#sending
    for (
      let alert = this.#outbox.next(isQuiet);
      alert && !isOver();
      alert = this.#outbox.next(isQuiet)
    ) {
      await this.#send(alert, false)
      if (this.#failing !== undefined) break
    }
    return this.#outbox.size + this.#outbox.dropped - this.#dropsLogged
  }

  /** @param isEarly sent during a pause, which stays as it is on failure */
  async #send(alert: Alert, isEarly: boolean): Promise<void> {
    const { target, client, place, hidden, logger, now } = this.#options
    const { dropped } = this.#outbox
    if (dropped > this.#dropsLogged)
      logger.log('warn', 'alert.dropped', {
        target: target.name,
        alerts: dropped - this.#dropsLogged,
      })
    this.#dropsLogged = dropped
    const outcome = await client.call(writeCall(target, alert, { place, hidden, dropped }))
    const { isDelivered, words } = describeOutcome(outcome, hidden)
    if (isDelivered) {
      this.#endPause()
      if (this.#failing !== undefined)
        logger.log('info', 'alert.recovered', { target: target.name })
      this.#failing = undefined
      this.#outbox.noteHeard(dropped)
      this.#dropsLogged = 0
      return this.#outbox.remove(alert)
    }
    if (this.#failing === undefined)
      logger.log('warn', 'alert.failing', { target: target.name, reason: words })
    this.#failing = { target: target.name, since: this.#failing?.since ?? now(), reason: words }
    this.#askAt = now() + ASK_MS
    if (!mayPass(outcome)) {
      this.#endPause()
      return this.#outbox.drop(alert)
    }
    if (now() - alert.at > AGE_MS_MAX) this.#outbox.drop(alert)
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

/** Urgent, because urgent alerts do not arrive meanwhile. */
function askAgain({ since, reason }: FailingTarget, at: number): Alert {
  return {
    event: 'alert.test',
    key: 'alert.test',
    urgency: 'urgent',
    repeats: 0,
    at,
    title: `alerts arrive here again; none did since ${new Date(since).toISOString().slice(0, 19)}Z`,
    lines: [`it said: ${reason}`],
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

function isWanted({ event, urgency }: Alert, { least, trades }: AlertTarget): boolean {
  if (event === 'alert.closed') return trades === 'closed'
  if (event === 'alert.trades') return trades === 'fills'
  return rankOf({ urgency }) >= rankOf({ urgency: least })
}

/** Services answer 429 at 20 to 30 messages a minute. */
const BURST = 5
const EVERY_MS = 3000

/** Unix ms. */
class SendRate {
  #calls = BURST
  #filledAt = 0

  take(now: number): boolean {
    const earned = Math.floor((now - this.#filledAt) / EVERY_MS)
    if (earned > 0) {
      this.#calls = Math.min(BURST, this.#calls + earned)
      this.#filledAt = this.#calls === BURST ? now : this.#filledAt + earned * EVERY_MS
    }
    if (this.#calls === 0) return false
    this.#calls -= 1
    return true
  }
}

/** Hours of trouble, some 200 KB. */
const WAITING_MAX = 100

class Outbox {
  readonly #waiting: Alert[] = []
  #dropped = 0

  /** When full, drops the oldest of the least urgent. */
  add(alert: Alert): void {
    this.#waiting.push(alert)
    if (this.#waiting.length <= WAITING_MAX) return
    this.drop(this.#waiting.reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least)))
  }

  next(isUrgentOnly: boolean): Alert | undefined {
    const ready = isUrgentOnly
      ? this.#waiting.filter(({ urgency }) => urgency === 'urgent')
      : this.#waiting
    const [first] = ready
    return first && ready.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most), first)
  }

  remove(alert: Alert): void {
    const index = this.#waiting.indexOf(alert)
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  drop(alert: Alert): void {
    this.remove(alert)
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
