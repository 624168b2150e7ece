import type { Secret, HiddenTexts } from '../../lib/secret.ts'
import { type AlertLog, describeOutcome } from './message-sender.ts'
import type { WebhookClient } from './webhook-client.ts'

export interface HeartbeatOptions {
  readonly url: Secret
  readonly everyMs: number
  readonly method: 'GET' | 'POST'
  readonly client: Pick<WebhookClient, 'call'>
  readonly hidden: HiddenTexts
  readonly logger: AlertLog
  readonly obstacle: () => string | undefined
}

/** Calls a monitor while all is well: the monitor reports a missing call, whatever the cause. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #nextAt = 0
  #calling: Promise<void> | undefined
  #withheldFor: string | undefined
  #isFailing = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  advance(now: number): void {
    const { everyMs, obstacle, logger } = this.#options
    if (now < this.#nextAt || this.#calling !== undefined) return
    this.#nextAt = now + everyMs
    const reason = obstacle()
    if (reason === undefined) {
      if (this.#withheldFor !== undefined)
        logger.log('info', 'heartbeat.resumed', { was: this.#withheldFor })
      this.#calling = this.#call().finally(() => {
        this.#calling = undefined
      })
    } else if (reason !== this.#withheldFor) logger.log('warn', 'heartbeat.withheld', { reason })
    this.#withheldFor = reason
  }

  async #call(): Promise<void> {
    const { url, method, client, hidden, logger } = this.#options
    const outcome = await client.call({ url: url.reveal(), method, headers: {}, body: undefined })
    const { isDelivered, words } = describeOutcome(outcome, hidden)
    if (!isDelivered && !this.#isFailing) logger.log('warn', 'heartbeat.failing', { reason: words })
    this.#isFailing = !isDelivered
  }
}
