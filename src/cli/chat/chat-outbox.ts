import { type Api, GrammyError, InputFile } from 'grammy'
import type { Urgency } from '../../alerts/alert.ts'
import {
  type AlertLog,
  MessageSender,
  type QueuedMessage,
} from '../../alerts/delivery/message-sender.ts'
import type { WebhookOutcome } from '../../alerts/delivery/webhook-client.ts'
import type { Clock } from '../../lib/clock.ts'
import { HiddenTexts, type Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'

/** Telegram takes 4096 characters, and 1024 below a picture. */
const TEXT_MAX = 4000
const CAPTION_MAX = 1000
/** Looked at so often while something waits. */
const STEP_MS = 250
/** An answer that comes later than this says when it was written. */
const LATE_MS = 60_000
/** A server that does not answer keeps one message for so long. */
const CALL_MS = 10_000
/** A stop does not wait longer for what is still to be sent. */
const STOP_MS = 3000

type MessageExtras = Parameters<Api['sendMessage']>[2]

interface ChatMessage extends QueuedMessage {
  readonly text: string
  readonly extras?: MessageExtras
  /** PNG; the text stands below it. */
  readonly picture?: { readonly name: string; readonly png: Uint8Array }
}

export interface ChatOutboxOptions {
  readonly api: () => Api
  readonly token: Secret
  readonly logger: AlertLog
  readonly clock: Pick<Clock, 'now'>
  readonly timers: Timers
}

/**
 * Sends to each person what waits for them, by the sender that alerts have too: one at a time, at its
 * rate, again after a failure. Telegram limits each chat by itself, so nobody waits for others.
 */
export class ChatOutbox {
  readonly #options: ChatOutboxOptions
  readonly #hidden = new HiddenTexts()
  readonly #senders = new Map<number, MessageSender<ChatMessage>>()
  readonly #ending = new AbortController()
  #cancel: (() => void) | undefined

  constructor(options: ChatOutboxOptions) {
    this.#options = options
    this.#hidden.add(options.token)
  }

  /** Urgent: it is the answer to an order. */
  add(
    person: number,
    message: Pick<ChatMessage, 'text' | 'extras' | 'picture'>,
    urgency: Urgency = 'info',
  ): void {
    const sender = this.#senders.get(person) ?? this.#open(person)
    sender.add({ ...message, urgency, at: this.#options.clock.now() })
    sender.advance(false)
    this.#schedule()
  }

  /** @returns the number of lost messages */
  async stop(): Promise<number> {
    this.#cancel?.()
    const cancel = this.#options.timers.after(STOP_MS, () => this.#ending.abort())
    const isOver = (): boolean => this.#ending.signal.aborted
    const lost = await Promise.all(
      [...this.#senders.values()].map((sender) => sender.drain(false, isOver)),
    )
    cancel()
    return lost.reduce((sum, one) => sum + one, 0)
  }

  #open(person: number): MessageSender<ChatMessage> {
    const { logger, clock } = this.#options
    const sender = new MessageSender<ChatMessage>({
      name: `chat ${person}`,
      hidden: this.#hidden,
      logger,
      now: () => clock.now(),
      deliver: (message, dropped) => this.#deliver(person, message, dropped),
    })
    this.#senders.set(person, sender)
    return sender
  }

  #schedule(): void {
    if (this.#cancel !== undefined) return
    this.#cancel = this.#options.timers.after(STEP_MS, () => {
      this.#cancel = undefined
      const busy = [...this.#senders.values()].filter((sender) => !sender.isIdle)
      for (const sender of busy) sender.advance(false)
      if (busy.length > 0) this.#schedule()
    })
  }

  async #deliver(
    person: number,
    { text, extras, picture, at }: ChatMessage,
    dropped: number,
  ): Promise<WebhookOutcome> {
    const isLate = this.#options.clock.now() - at > LATE_MS
    const remarks = [
      ...(dropped > 0 ? [`lost before this one: ${dropped}, which could not be sent`] : []),
      ...(isLate ? [`late: this is from ${new Date(at).toISOString().slice(0, 19)}Z`] : []),
    ]
    const whole = cut([...remarks, text].join('\n'), picture ? CAPTION_MAX : TEXT_MAX)
    const api = this.#options.api()
    const ended = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(CALL_MS)])
    // The client declares the signal of a package that is older than Node's own.
    const signal = ended as Parameters<Api['getMe']>[0]
    try {
      if (picture) {
        const file = new InputFile(picture.png, `${picture.name}.png`)
        await api.sendPhoto(person, file, { caption: whole }, signal)
      } else await api.sendMessage(person, whole, extras, signal)
      return { kind: 'answered', status: 200, text: '', retryAfterMs: undefined }
    } catch (error) {
      return toOutcome(error)
    }
  }
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}\n…` : text
}

/** The error of a lost connection may hold the address, and so the token, so its text is left out. */
function toOutcome(error: unknown): WebhookOutcome {
  if (!(error instanceof GrammyError)) return { kind: 'failed', reason: 'the call failed' }
  const { error_code: status, description: text, parameters } = error
  const seconds = parameters.retry_after
  const retryAfterMs = seconds === undefined ? undefined : seconds * 1000
  return { kind: 'answered', status, text, retryAfterMs }
}
