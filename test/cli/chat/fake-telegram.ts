import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { systemClock } from '../../../src/lib/clock.ts'
import {
  CALLBACK_BYTES_MAX,
  CAPTION_CHARS_MAX,
  QUERY_SECONDS_MAX,
  type Refusal,
  REFUSALS,
  TelegramLimits,
  TEXT_CHARS_MAX,
  UPDATES_MAX,
} from './telegram-limits.ts'

/** A message of the bot, or of a person. */
export interface ChatMessage {
  readonly chat: number
  readonly text: string
  readonly buttons: readonly { readonly text: string; readonly data: string }[]
  /** A picture, as it was uploaded. */
  readonly photo?: Buffer
}

interface Update {
  readonly update_id: number
  readonly [kind: string]: unknown
}

/**
 * The part of the Bot API that the bot uses, with the limits and refusals of telegram-limits.ts: they
 * need no test to ask for them. Another poll ends the one that waits. Updates are given again until a
 * poll confirms them by a higher offset.
 */
export class FakeTelegram {
  readonly sent: ChatMessage[] = []
  readonly refused: string[] = []
  readonly #token: string
  readonly #server: Server
  #updates: Update[] = []
  #lastUpdate = 0
  #poll:
    | { readonly response: ServerResponse; readonly offset: number; readonly limit: number }
    | undefined
  #listeners = new Set<() => void>()
  readonly limits = new TelegramLimits()
  /** Chats that the bot may write to: the other side has written first. */
  readonly #open = new Set<string>()
  readonly #blocked = new Set<string>()
  /** When each button was pressed, Unix ms, by its query's id. */
  readonly #queries = new Map<string, number>()
  /** What stands in the chats, by the message's id. */
  readonly #shown = new Map<string, string>()
  /** Descriptions of all refusals but of floods, oldest first. */
  readonly refusals: string[] = []
  /** So many messages are refused first, beside what the limits refuse. */
  floods = 0
  /** While it is, every call loses its connection. */
  isDown = false
  dropped = 0

  constructor(token: string) {
    this.#token = token
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () =>
        this.#handle(request.url ?? '', readCall(request, Buffer.concat(chunks)), response),
      )
    })
  }

  async listen(port = 0): Promise<string> {
    this.#server.listen({ host: '127.0.0.1', port })
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** The other side has pressed "Start", or has added the bot to its group. */
  start(chat: number): void {
    this.#open.add(String(chat))
  }

  block(chat: number): void {
    this.#blocked.add(String(chat))
  }

  get isPolled(): boolean {
    return this.#poll !== undefined
  }

  /** A person writes to the bot. */
  say(person: number, text: string, { ageSeconds = 0, group = false } = {}): void {
    const [command = ''] = text.split(' ')
    this.start(group ? -person : person)
    this.#push({
      message: {
        message_id: this.#lastUpdate + 1,
        date: Math.floor(Date.now() / 1000) - ageSeconds,
        from: { id: person, is_bot: false, first_name: 'A' },
        chat: { id: group ? -person : person, type: group ? 'group' : 'private' },
        text,
        entities: text.startsWith('/')
          ? [{ type: 'bot_command', offset: 0, length: command.length }]
          : [],
      },
    })
  }

  press(person: number, data: string): void {
    this.start(person)
    const id = String(this.#lastUpdate + 1)
    this.#queries.set(id, systemClock.now())
    this.#push({
      callback_query: {
        id,
        from: { id: person, is_bot: false, first_name: 'A' },
        chat_instance: '1',
        data,
        message: {
          message_id: 1,
          date: Math.floor(Date.now() / 1000),
          chat: { id: person, type: 'private' },
        },
      },
    })
  }

  /** Waits until the bot has sent so many messages in all. */
  async untilSent(count: number): Promise<ChatMessage> {
    await this.until(() => this.sent.length >= count)
    return this.sent[count - 1] as ChatMessage
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((done) => {
        const look = (): void => {
          this.#listeners.delete(look)
          done()
        }
        this.#listeners.add(look)
      })
  }

  #push(update: object): void {
    this.#updates.push({ update_id: ++this.#lastUpdate, ...update })
    this.#answerPoll()
  }

  #answerPoll(): void {
    const poll = this.#poll
    if (poll === undefined) return
    if (this.#updates.length === 0) return
    this.#poll = undefined
    answer(poll.response, this.#updates.slice(0, poll.limit))
  }

  #takePoll(given: Record<string, unknown>, response: ServerResponse): void {
    const [offset, limit] = [Number(given['offset'] ?? 0), Number(given['limit'] ?? UPDATES_MAX)]
    const timeoutMs = 1000 * Number(given['timeout'] ?? 0)
    // The later of two polls goes on: server, Client.cpp, abort_long_poll.
    if (this.#poll) this.#refuse(this.#poll.response, 'conflict')
    this.#updates =
      offset < 0
        ? this.#updates.slice(offset)
        : this.#updates.filter(({ update_id }) => update_id >= offset)
    this.#poll = { response, offset, limit }
    const end = (): void => {
      if (this.#poll?.response !== response) return
      this.#poll = undefined
      if (!response.destroyed) answer(response, [])
    }
    this.#answerPoll()
    for (const listener of this.#listeners) listener()
    if (timeoutMs === 0) return end()
    const timer = setTimeout(end, timeoutMs)
    response.once('close', () => {
      clearTimeout(timer)
      end()
    })
  }

  #refuse(response: ServerResponse, why: Refusal): void {
    const [code, description] = REFUSALS[why]
    this.refusals.push(description)
    for (const listener of this.#listeners) listener()
    refuse(response, code, description)
  }

  #handle(url: string, { given, photo }: BotCall, response: ServerResponse): void {
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(url) ?? []
    if (this.isDown) {
      this.dropped += 1
      for (const listener of this.#listeners) listener()
      return void response.socket?.destroy()
    }
    if (token !== this.#token)
      return this.#refuse(response, token?.includes(':') ? 'unauthorized' : 'malformedToken')
    switch (method) {
      case 'getMe':
        return answer(response, { id: 1, is_bot: true, first_name: 'intentd', username: 'a_bot' })
      case 'getUpdates':
        return this.#takePoll(given, response)
      case 'answerCallbackQuery':
        return this.#answerQuery(String(given['callback_query_id']), response)
      case 'editMessageText':
        return this.#edit(given, response)
      case 'sendMessage':
        return this.#takeMessage(given, textOf(given['text']), response)
      case 'sendPhoto':
        if (photo === undefined) return refuse(response, 400, 'Bad Request: there is no photo')
        return this.#takeMessage(given, textOf(given['caption']), response, photo)
      default:
        return answer(response, true)
    }
  }

  #takeMessage(
    given: Record<string, unknown>,
    text: string,
    response: ServerResponse,
    photo?: Buffer,
  ): void {
    const chat = String(given['chat_id'])
    const why = this.#findFault(chat, given, text, photo !== undefined)
    if (why) return this.#refuse(response, why)
    const seconds = this.floods > 0 ? 1 : this.limits.take(chat, systemClock.now())
    if (seconds !== undefined) {
      this.floods = Math.max(0, this.floods - 1)
      this.refused.push(text)
      for (const listener of this.#listeners) listener()
      return refuseFlood(response, seconds)
    }
    this.sent.push({
      chat: Number(chat),
      text,
      buttons: buttonsOf(given),
      ...(photo && { photo }),
    })
    this.#shown.set(String(this.sent.length), showMessage(given, text))
    answer(response, {
      message_id: this.sent.length,
      date: Math.floor(systemClock.now() / 1000),
      chat: { id: Number(chat), type: isPrivate(chat) ? 'private' : 'group' },
      text,
    })
    for (const listener of this.#listeners) listener()
  }

  #findFault(
    chat: string,
    given: Record<string, unknown>,
    text: string,
    isCaption: boolean,
  ): Refusal | undefined {
    if (this.#blocked.has(chat)) return 'blocked'
    if (!this.#open.has(chat)) return 'noChat'
    if (!text.isWellFormed()) return 'notUtf8'
    // Tags count for nothing; the bot names no parse mode, and then each character counts.
    const shown = given['parse_mode'] === 'HTML' ? text.replaceAll(/<[^>]*>/g, '') : text
    if (!isCaption && shown.trim() === '') return 'noText'
    if (shown.length > (isCaption ? CAPTION_CHARS_MAX : TEXT_CHARS_MAX))
      return isCaption ? 'captionTooLong' : 'tooLong'
    const lengths = buttonsOf(given).map(({ data }) => Buffer.byteLength(data))
    return lengths.some((bytes) => bytes < 1 || bytes > CALLBACK_BYTES_MAX)
      ? 'buttonData'
      : undefined
  }

  #answerQuery(id: string, response: ServerResponse): void {
    const pressedAt = this.#queries.get(id)
    const isOld =
      pressedAt === undefined || systemClock.now() - pressedAt > QUERY_SECONDS_MAX * 1000
    return isOld ? this.#refuse(response, 'oldQuery') : answer(response, true)
  }

  #edit(given: Record<string, unknown>, response: ServerResponse): void {
    const id = String(given['message_id'])
    const shown = this.#shown.get(id)
    const next = showMessage(given, textOf(given['text']))
    if (shown === undefined) return this.#refuse(response, 'noMessage')
    if (shown === next) return this.#refuse(response, 'notModified')
    this.#shown.set(id, next)
    return answer(response, true)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const isPrivate = (chat: string): boolean => /^\d/.test(chat)

const showMessage = (given: Record<string, unknown>, text: string): string =>
  JSON.stringify([text, buttonsOf(given)])

function buttonsOf(given: Record<string, unknown>): ChatMessage['buttons'] {
  const { inline_keyboard: rows = [] } = (given['reply_markup'] ?? {}) as {
    inline_keyboard?: { text: string; callback_data: string }[][]
  }
  return rows.flat().map((button) => ({ text: button.text, data: button.callback_data }))
}

interface BotCall {
  readonly given: Record<string, unknown>
  readonly photo: Buffer | undefined
}

/** JSON, or a form with fields and one file. */
function readCall({ headers }: IncomingMessage, body: Buffer): BotCall {
  const [, boundary] =
    /^multipart\/form-data; boundary=(\S+)$/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined)
    return {
      given: JSON.parse(body.toString() || '{}') as Record<string, unknown>,
      photo: undefined,
    }
  const given: Record<string, unknown> = {}
  let photo: Buffer | undefined
  for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const end = part.indexOf('\r\n\r\n')
    const [head, value] = [part.slice(0, end), part.slice(end + 4, -2)]
    const [, name = ''] = /name="([^"]+)"/.exec(head) ?? []
    if (head.includes('filename=')) photo = Buffer.from(value, 'latin1')
    else given[name] = Buffer.from(value, 'latin1').toString()
  }
  return { given, photo }
}

function answer(response: ServerResponse, result: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: true, result }))
}

/** Server: Query.cpp, set_retry_after_error, and HttpConnection.cpp, send_response. */
function refuseFlood(response: ServerResponse, seconds: number): void {
  response.setHeader('retry-after', String(seconds))
  const parameters = { retry_after: seconds }
  refuse(response, 429, `Too Many Requests: retry after ${seconds}`, { parameters })
}

function refuse(
  response: ServerResponse,
  code: number,
  description: string,
  more: object = {},
): void {
  response.statusCode = code
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: false, error_code: code, description, ...more }))
}
