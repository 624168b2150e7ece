/**
 * The limits of Telegram's Bot API, as far as they are published. Sources:
 * - FAQ: core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this, and the same in
 *   telegra.ph/Hitting-limits-bot-FAQ
 * - API: core.telegram.org/bots/api
 * - server: github.com/tdlib/telegram-bot-api at 01a3679c
 */

/** FAQ: "avoid sending more than one message per second" in a chat. */
const CHAT_EVERY_MS = 1000
/** FAQ: "We may allow short bursts". Their length is not published: this one is ours. */
const CHAT_BURST = 3
/** FAQ: "not be able to send more than 20 messages per minute to the same group". */
const GROUP_PER_MINUTE = 20
/** FAQ: "will not allow more than 30 messages per second or so" over all chats. */
const ALL_PER_SECOND = 30

/** API, sendMessage: "1-4096 characters after entities parsing". */
export const TEXT_CHARS_MAX = 4096
/** API, sendPhoto: "0-1024 characters after entities parsing". */
export const CAPTION_CHARS_MAX = 1024
/** API, InlineKeyboardButton.callback_data: "1-64 bytes". */
export const CALLBACK_BYTES_MAX = 64
/** API, getUpdates.limit: "Values between 1-100 are accepted. Defaults to 100." */
export const UPDATES_MAX = 100
/** Not published; bot programmers report about 15 s, and an older query counts as unknown. */
export const QUERY_SECONDS_MAX = 15

/** Descriptions are those of server: Client.cpp and ClientManager.cpp, fail_query and fail_query_with_error. */
export const REFUSALS = {
  unauthorized: [401, 'Unauthorized'],
  malformedToken: [401, 'Unauthorized: invalid token specified'],
  conflict: [
    409,
    'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  ],
  blocked: [403, 'Forbidden: bot was blocked by the user'],
  noChat: [400, 'Bad Request: chat not found'],
  noText: [400, 'Bad Request: message text is empty'],
  tooLong: [400, 'Bad Request: message is too long'],
  captionTooLong: [400, 'Bad Request: message caption is too long'],
  notUtf8: [400, 'Bad Request: strings must be encoded in UTF-8'],
  buttonData: [400, 'Bad Request: BUTTON_DATA_INVALID'],
  notModified: [
    400,
    'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
  ],
  oldQuery: [
    400,
    'Bad Request: query is too old and response timeout expired or query ID is invalid',
  ],
  noMessage: [400, 'Bad Request: message to edit not found'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>

export type Refusal = keyof typeof REFUSALS

const MINUTE_MS = 60_000

/** Groups and channels have negative ids, and channels also names. */
const isGroup = (chat: string): boolean => chat.startsWith('-') || chat.startsWith('@')

/** Whether a message may be sent now. All times are Unix ms. */
export class TelegramLimits {
  /** When messages were taken, by chat, oldest first. */
  readonly #taken = new Map<string, number[]>()
  /** Calls during a demanded pause are refused too. */
  readonly #leaveAloneUntil = new Map<string, number>()
  #all: number[] = []
  /** Calls that came before the pause they were told was over. */
  early = 0

  /** @returns `retry_after` in whole seconds; undefined if the message is taken */
  take(chat: string, now: number): number | undefined {
    const until = this.#leaveAloneUntil.get(chat) ?? 0
    if (now < until) {
      this.early += 1
      return toSeconds(until - now)
    }
    const waitMs = Math.max(this.#waitInChatMs(chat, now), this.#waitForAllMs(now))
    if (waitMs > 0) {
      const seconds = toSeconds(waitMs)
      this.#leaveAloneUntil.set(chat, now + seconds * 1000)
      return seconds
    }
    this.#all.push(now)
    this.#taken.set(chat, [...(this.#taken.get(chat) ?? []), now])
    return undefined
  }

  #waitInChatMs(chat: string, now: number): number {
    const taken = (this.#taken.get(chat) ?? []).filter((at) => now - at < MINUTE_MS)
    this.#taken.set(chat, taken)
    // Each message uses up a second of the chat; a burst may be ahead by a few.
    const usedUntil = taken.reduce((until, at) => Math.max(until, at) + CHAT_EVERY_MS, 0)
    const burstMs = usedUntil - now - (CHAT_BURST - 1) * CHAT_EVERY_MS
    const oldest = taken.at(-GROUP_PER_MINUTE)
    const minuteMs = isGroup(chat) && oldest !== undefined ? oldest + MINUTE_MS - now : 0
    return Math.max(0, burstMs, minuteMs)
  }

  #waitForAllMs(now: number): number {
    this.#all = this.#all.filter((at) => now - at < 1000)
    const oldest = this.#all.at(-ALL_PER_SECOND)
    return oldest === undefined ? 0 : oldest + 1000 - now
  }
}

const toSeconds = (ms: number): number => Math.ceil(ms / 1000)
