import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'

/** A message of the bot, or of a person. */
export interface ChatMessage {
  readonly chat: number
  readonly text: string
  readonly buttons: readonly { readonly text: string; readonly data: string }[]
}

interface Update {
  readonly update_id: number
  readonly [kind: string]: unknown
}

/**
 * The part of the Bot API that the bot uses, with its refusals: another token (401), a second
 * poller (409), more than so many messages a second in a chat (429 with `retry_after`), texts over
 * 4096 characters (400). Source: core.telegram.org/bots/api, core.telegram.org/bots/faq.
 */
export class FakeTelegram {
  readonly sent: ChatMessage[] = []
  readonly refused: string[] = []
  readonly #token: string
  readonly #server: Server
  #updates: Update[] = []
  #lastUpdate = 0
  #poll: { readonly response: ServerResponse; readonly offset: number } | undefined
  #listeners = new Set<() => void>()
  /** So many messages to send are refused first. */
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
        this.#handle(request.url ?? '', Buffer.concat(chunks).toString() || '{}', response),
      )
    })
  }

  async listen(): Promise<string> {
    this.#server.listen({ host: '127.0.0.1', port: 0 })
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** A person writes to the bot. */
  say(person: number, text: string, { ageSeconds = 0, group = false } = {}): void {
    const [command = ''] = text.split(' ')
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
    this.#push({
      callback_query: {
        id: String(this.#lastUpdate + 1),
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
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= poll.offset)
    if (this.#updates.length === 0) return
    this.#poll = undefined
    answer(poll.response, this.#updates)
  }

  #handle(url: string, body: string, response: ServerResponse): void {
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(url) ?? []
    if (this.isDown) {
      this.dropped += 1
      for (const listener of this.#listeners) listener()
      return void response.socket?.destroy()
    }
    if (token !== this.#token) return refuse(response, 401, 'Unauthorized')
    const given = JSON.parse(body) as Record<string, unknown>
    switch (method) {
      case 'getMe':
        return answer(response, { id: 1, is_bot: true, first_name: 'intentd', username: 'a_bot' })
      case 'getUpdates':
        if (this.#poll) return refuse(response, 409, 'Conflict: terminated by other getUpdates')
        this.#poll = { response, offset: Number(given['offset'] ?? 0) }
        response.once('close', () => {
          if (this.#poll?.response === response) this.#poll = undefined
        })
        this.#answerPoll()
        // A short poll is answered at once.
        if (Number(given['timeout'] ?? 0) === 0 && this.#poll) {
          this.#poll = undefined
          answer(response, [])
        }
        return
      case 'sendMessage':
        return this.#takeMessage(given, response)
      default:
        return answer(response, true)
    }
  }

  #takeMessage(given: Record<string, unknown>, response: ServerResponse): void {
    const text = String(given['text'])
    if (this.floods > 0) {
      this.floods -= 1
      this.refused.push(text)
      for (const listener of this.#listeners) listener()
      return refuse(response, 429, 'Too Many Requests: retry after 1', { retry_after: 1 })
    }
    if (text.length > 4096) return refuse(response, 400, 'Bad Request: message is too long')
    const { inline_keyboard: rows = [] } = (given['reply_markup'] ?? {}) as {
      inline_keyboard?: { text: string; callback_data: string }[][]
    }
    this.sent.push({
      chat: Number(given['chat_id']),
      text,
      buttons: rows.flat().map((button) => ({ text: button.text, data: button.callback_data })),
    })
    answer(response, {
      message_id: this.sent.length,
      date: 0,
      chat: { id: given['chat_id'], type: 'private' },
      text,
    })
    for (const listener of this.#listeners) listener()
  }
}

function answer(response: ServerResponse, result: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: true, result }))
}

function refuse(
  response: ServerResponse,
  code: number,
  description: string,
  parameters: object = {},
): void {
  response.statusCode = code
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: false, error_code: code, description, parameters }))
}
