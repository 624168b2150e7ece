import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpError } from 'grammy'
import { expect, test } from 'vitest'
import { ChatBot } from '../../../src/cli/chat/chat-bot.ts'
import { refuseOddAnswers } from '../../../src/cli/chat/odd-answers.ts'
import { Secret } from '../../../src/lib/secret.ts'

const ask = (method: string, answer: unknown): Promise<unknown> =>
  Promise.resolve(
    refuseOddAnswers((() => Promise.resolve(answer)) as never, method as never, {} as never),
  )

test.each([
  ['getUpdates', null],
  ['getUpdates', 'ok'],
  ['getUpdates', { ok: true, result: null }],
  ['getUpdates', { ok: true, result: {} }],
  ['getUpdates', { ok: true, result: [null] }],
  ['getUpdates', { ok: true, result: [{ update_id: 'x' }] }],
  ['getMe', { ok: true, result: null }],
  ['sendMessage', null],
])(
  'an answer to %s that is %j is like a lost connection: it is asked again',
  async (method, answer) => {
    await expect(ask(method, answer)).rejects.toBeInstanceOf(HttpError)
  },
)

test.each([
  ['getUpdates', { ok: true, result: [] }],
  ['getUpdates', { ok: true, result: [{ update_id: 1 }] }],
  ['getUpdates', { ok: false, error_code: 409 }],
  ['sendMessage', { ok: true, result: {} }],
])('an answer to %s as the Bot API says is believed', async (method, answer) => {
  expect(await ask(method, answer)).toBe(answer)
})

test('updates beside an odd one are obeyed, and the bot lives on', async () => {
  const ANNA = 42
  const from = { id: ANNA, is_bot: false, first_name: 'A' }
  const message = { message_id: 1, date: Math.floor(Date.now() / 1000), from, text: '/help' }
  const update = { update_id: 7, message: { ...message, chat: { id: ANNA, type: 'private' } } }
  const sent = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const reply = (result: unknown) => response.end(JSON.stringify({ ok: true, result }))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const method = request.url?.split('/').at(-1)
      if (method === 'getMe') return reply({ id: 1, is_bot: true, username: 'it', first_name: 'I' })
      if (method === 'sendMessage') sent.resolve(body)
      if (method !== 'getUpdates') return reply(true)
      const { offset = 0, limit } = JSON.parse(body) as { offset?: number; limit?: number }
      // The last question, when it stops, is the one with a limit.
      if (offset <= 7) return reply([null, update])
      return limit === 1 ? reply([]) : undefined
    })
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const bot = new ChatBot({
    token: new Secret('1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    people: new Map([[ANNA, new Set()]]),
    configWords: [],
    logger: { log: () => undefined } as never,
    run: () => Promise.reject(new Error('nothing is to be run')),
  })
  const running = bot.start()
  try {
    expect(await Promise.race([sent.promise, running])).toContain(`"chat_id":${ANNA}`)
  } finally {
    await bot.stop()
    await running
    server.closeAllConnections()
    server.close()
  }
})
