import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { Api, type RawApi } from 'grammy'
import { expect, test } from 'vitest'
import { TargetSender } from '../../../src/alerts/delivery/target-sender.ts'
import { WebhookClient, type WebhookOutcome } from '../../../src/alerts/delivery/webhook-client.ts'
import { ChatOutbox, type ChatOutboxOptions } from '../../../src/cli/chat/chat-bot.ts'
import { HiddenTexts, Secret } from '../../../src/lib/secret.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { FakeTelegram } from './fake-telegram.ts'
import { RECORDED_ANSWERS } from './telegram-answers.ts'
import { REFUSALS, TelegramLimits } from './telegram-limits.ts'

const START_AT = Date.parse('2026-11-22T14:00:00Z')
const TOKEN = '1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const [ANNA, BERT, GROUP] = [42, 43, -7]
const logger = { log: () => undefined }

function createOutbox(time: ManualTime, sendMessage: (person: number) => Promise<unknown>) {
  return new ChatOutbox({
    api: () => ({ sendMessage }) as unknown as ReturnType<ChatOutboxOptions['api']>,
    token: new Secret(TOKEN),
    logger,
    clock: time,
    timers: time,
  })
}

test('a chat of forty answers keeps the limits by itself, and waits no longer than they demand', async () => {
  const [time, limits] = [new ManualTime(START_AT), new TelegramLimits()]
  const taken: number[] = []
  const refused: number[] = []
  const outbox = createOutbox(time, async (person) => {
    const isRefused = limits.take(String(person), time.now()) !== undefined
    ;(isRefused ? refused : taken).push((time.now() - START_AT) / 1000)
  })
  for (let count = 0; count < 40; count++) outbox.add(ANNA, { text: `answer ${count}` })

  await time.pass(60_000)

  expect(refused).toEqual([])
  expect(taken).toHaveLength(40)
  expect(taken.at(-1)).toBeLessThan(50)
})

test('alerts to a group are never refused for their rate: twenty in any minute', async () => {
  const limits = new TelegramLimits()
  let second = 0
  const outcomes: number[] = []
  const call = (): Promise<WebhookOutcome> => {
    const status = limits.take(String(GROUP), second * 1000) === undefined ? 200 : 429
    outcomes.push(status)
    return Promise.resolve({ kind: 'answered', status, text: '', retryAfterMs: undefined })
  }
  const sender = new TargetSender({
    target: {
      name: 'group',
      kind: 'telegram',
      least: 'info',
      chat: String(GROUP),
      trades: 'none',
      url: new Secret('https://x'),
      token: undefined,
    },
    client: { call },
    place: { name: 'paper', environment: 'simulator', optionsOf: () => '' },
    hidden: new HiddenTexts(),
    logger,
    now: () => second * 1000,
  })
  for (let count = 0; count < 60; count++)
    sender.add({
      event: 'alert.test',
      key: `${count}`,
      urgency: 'info',
      title: `${count}`,
      lines: [],
      at: 0,
      repeats: 0,
    })

  for (; second < 300; second++) {
    sender.advance(false)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }

  expect(outcomes.filter((status) => status === 429)).toEqual([])
  expect(outcomes).toHaveLength(60)
})

test('an answer cut within a character is still one that Telegram takes', async () => {
  const time = new ManualTime(START_AT)
  let text = ''
  const api = { sendMessage: async (_person: number, whole: string) => void (text = whole) }
  const outbox = new ChatOutbox({
    api: () => api as unknown as ReturnType<ChatOutboxOptions['api']>,
    token: new Secret(TOKEN),
    logger,
    clock: time,
    timers: time,
  })

  outbox.add(ANNA, { text: `x${'😀'.repeat(3000)}` })
  await time.pass(1000)

  expect(text.length).toBeGreaterThan(3900)
  expect(text.isWellFormed()).toBe(true)
})

test.each(RECORDED_ANSWERS)(
  'an answer of Telegram is read alike by the chat and by alerts: $body',
  async ({ status, body, isKept, retryAfterMs }) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = new WebhookClient({ timers: systemTimers })
    const time = new ManualTime(START_AT)
    // The client of the chat reads the same bytes, without the wire.
    const api: Api<RawApi> = new Api(TOKEN)
    let attempts = 0
    api.config.use(() => {
      attempts += 1
      return JSON.parse(body) as never
    })
    const outbox = new ChatOutbox({
      api: () => api,
      token: new Secret(TOKEN),
      logger,
      clock: time,
      timers: time,
    })
    try {
      const read = await client.call({ url, method: 'POST', headers: {}, body: '{}' })
      outbox.add(ANNA, { text: 'hello' })
      await time.pass((retryAfterMs ?? 2000) - 500)
      const early = attempts
      await time.pass(1500)

      expect(read).toMatchObject({ kind: 'answered', status, retryAfterMs })
      expect(attempts > early).toBe(isKept)
      if (retryAfterMs !== undefined) expect(early).toBe(1)
    } finally {
      await outbox.stop()
      await client.close()
      server.close()
    }
  },
)

test('refusals of the fake server have the words of recorded ones', () => {
  const recorded = RECORDED_ANSWERS.map(({ body }) => JSON.parse(body) as { description?: string })
  const known = recorded.flatMap(({ description }) => description ?? [])
  const own: readonly string[] = Object.values(REFUSALS).map(([, description]) => description)

  const shared = known.filter((description) => own.includes(description))
  expect(shared.length).toBeGreaterThanOrEqual(6)
})

test('the fake server keeps limits and answers errors that nobody asked it for', async () => {
  const telegram = new FakeTelegram(TOKEN)
  const base = await telegram.listen()
  const call = async (method: string, given: object, token = TOKEN) => {
    const response = await fetch(`${base}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    })
    return (await response.json()) as {
      readonly error_code?: number
      readonly description?: string
      readonly parameters?: object
      readonly result?: readonly { readonly update_id: number }[]
    }
  }
  const send = (chat_id: number, more: object = {}) =>
    call('sendMessage', { chat_id, text: 'x', ...more })
  const described = async (answer: ReturnType<typeof call>) => (await answer).description
  const button = (data: string) => ({
    reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: data }]] },
  })
  try {
    expect(await described(send(ANNA))).toBe(REFUSALS.noChat[1])
    expect(await described(call('getMe', {}, '2:B'))).toBe(REFUSALS.unauthorized[1])
    expect(await described(call('getMe', {}, 'B'))).toBe(REFUSALS.malformedToken[1])
    telegram.start(ANNA)
    for (const [more, why] of [
      [{ text: '' }, 'noText'],
      [{ text: 'x'.repeat(4097) }, 'tooLong'],
      [{ text: '\ud83d' }, 'notUtf8'],
      [button('x'.repeat(65)), 'buttonData'],
    ] as const)
      expect(await described(send(ANNA, more))).toBe(REFUSALS[why][1])

    const burst = await Promise.all(Array.from({ length: 8 }, () => send(ANNA)))
    const flooded = burst.filter(({ error_code: code }) => code === 429)
    expect(flooded.length).toBeGreaterThan(0)
    expect(flooded[0]).toEqual({
      ok: false,
      error_code: 429,
      description: expect.stringMatching(/^Too Many Requests: retry after \d+$/) as string,
      parameters: { retry_after: expect.any(Number) as number },
    })
    telegram.block(ANNA)
    expect(await described(send(ANNA))).toBe(REFUSALS.blocked[1])

    telegram.press(BERT, 'yes')
    telegram.say(BERT, 'hello')
    const ids = async (given: object) =>
      (await call('getUpdates', given)).result?.map(({ update_id: id }) => id)
    expect(await ids({})).toEqual([1, 2])
    expect(await ids({ limit: 1 })).toEqual([1])
    expect(await ids({ offset: 2 })).toEqual([2])
    expect(await ids({})).toEqual([2])
    expect(await described(call('answerCallbackQuery', { callback_query_id: '9' }))).toBe(
      REFUSALS.oldQuery[1],
    )
    expect(await call('answerCallbackQuery', { callback_query_id: '1' })).toMatchObject({
      ok: true,
    })
    const first = call('getUpdates', { offset: 3, timeout: 20 })
    await telegram.until(() => telegram.isPolled)
    const second = call('getUpdates', { offset: 3, timeout: 20 })
    expect(await described(first)).toBe(REFUSALS.conflict[1])
    telegram.say(BERT, 'again')
    expect((await second).result).toHaveLength(1)

    const { result } = (await send(BERT, button('a'))) as unknown as {
      result: { message_id: number }
    }
    const edit = { chat_id: BERT, message_id: result.message_id, text: 'x' }
    expect(await described(call('editMessageText', { ...edit, ...button('a') }))).toBe(
      REFUSALS.notModified[1],
    )
    expect(await described(call('editMessageText', edit))).toBe(undefined)
  } finally {
    await telegram.close()
  }
})

test('over all chats thirty a second, in a group twenty a minute', () => {
  const limits = new TelegramLimits()
  const chats = Array.from({ length: 31 }, (_, chat) => limits.take(`${chat + 1}`, START_AT))
  expect(chats.filter((wait) => wait !== undefined)).toEqual([1])

  const group = new TelegramLimits()
  const waits = Array.from({ length: 21 }, (_, index) => group.take('-7', index * 1000))
  expect(waits.slice(0, 20).every((wait) => wait === undefined)).toBe(true)
  expect(waits[20]).toBe(40)
  expect(group.take('-7', 59_000)).toBe(1)
  expect(group.early).toBe(1)
  expect(group.take('-7', 60_000)).toBe(undefined)
})
