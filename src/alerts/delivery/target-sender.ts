import type { AlertTarget } from '../../config/alert-secrets.ts'
import type { HiddenTexts } from '../../lib/secret.ts'
import { type Alert, rankOf } from '../alert.ts'
import { type MessagePlace, writeCall } from './message.ts'
import {
  type AlertLog,
  type FailingTarget,
  MessageSender,
  type MessageRate,
} from './message-sender.ts'
import type { WebhookClient } from './webhook-client.ts'

/** Telegram takes 20 messages a minute in a group, Discord 30: 3 and then 17 are 20 in any minute. */
const RATE: MessageRate = { burst: 3, everyMs: 3500 }

interface TargetSenderOptions {
  readonly target: AlertTarget
  readonly client: Pick<WebhookClient, 'call'>
  readonly place: MessagePlace
  readonly hidden: HiddenTexts
  readonly logger: AlertLog
  /** Unix ms. */
  readonly now: () => number
}

export class TargetSender {
  readonly #target: AlertTarget
  readonly #sender: MessageSender<Alert>

  constructor({ target, client, place, ...options }: TargetSenderOptions) {
    const { hidden } = options
    this.#target = target
    this.#sender = new MessageSender({
      ...options,
      name: target.name,
      rate: RATE,
      deliver: (alert, dropped) =>
        client.call(writeCall(target, alert, { place, hidden, dropped })),
      writeQuestion: askAgain,
    })
  }

  get failing(): FailingTarget | undefined {
    return this.#sender.failing
  }

  add(alert: Alert): void {
    if (isWanted(alert, this.#target)) this.#sender.add(alert)
  }

  advance(isQuiet: boolean): void {
    this.#sender.advance(isQuiet)
  }

  drain(isQuiet: boolean, isOver: () => boolean): Promise<number> {
    return this.#sender.drain(isQuiet, isOver)
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

function isWanted({ event, urgency }: Alert, { least, trades }: AlertTarget): boolean {
  if (event === 'alert.closed') return trades === 'closed'
  if (event === 'alert.trades') return trades === 'fills'
  return rankOf({ urgency }) >= rankOf({ urgency: least })
}
