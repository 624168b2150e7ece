import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'

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

  #handle(url: string, { given, photo }: BotCall, response: ServerResponse): void {
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(url) ?? []
    if (this.isDown) {
      this.dropped += 1
      for (const listener of this.#listeners) listener()
      return void response.socket?.destroy()
    }
    if (token !== this.#token) return refuse(response, 401, 'Unauthorized')
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
        return this.#takeMessage(given, String(given['text']), response)
      case 'sendPhoto':
        if (photo === undefined) return refuse(response, 400, 'Bad Request: there is no photo')
        return this.#takeMessage(given, String(given['caption']), response, photo)
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
    if (this.floods > 0) {
      this.floods -= 1
      this.refused.push(text)
      for (const listener of this.#listeners) listener()
      return refuse(response, 429, 'Too Many Requests: retry after 1', { retry_after: 1 })
    }
    if (text.length > (photo ? 1024 : 4096))
      return refuse(response, 400, 'Bad Request: message is too long')
    const { inline_keyboard: rows = [] } = (given['reply_markup'] ?? {}) as {
      inline_keyboard?: { text: string; callback_data: string }[][]
    }
    this.sent.push({
      chat: Number(given['chat_id']),
      text,
      buttons: rows.flat().map((button) => ({ text: button.text, data: button.callback_data })),
      ...(photo && { photo }),
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
