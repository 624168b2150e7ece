import { expect, test } from 'vitest'
import { GrammyError, HttpError } from 'grammy'
import { ChatOutbox, type ChatOutboxOptions } from '../../../src/cli/chat/chat-bot.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { ManualTime } from '../../support/manual-time.ts'

const TOKEN = '1:canaryOfTheBotsTokenxxxxxxxxxxxxxxx'
const START_AT = Date.parse('2026-11-22 14:00:00 UTC')
const [ANNA, BERT] = [42, 43]
const HOUR_MS = 3_600_000

function refusal(status: number, retryAfter?: number): GrammyError {
  const parameters = retryAfter === undefined ? {} : { retry_after: retryAfter }
  const answer = { ok: false, error_code: status, description: `refused ${status}`, parameters }
  return new GrammyError('refused', answer as never, 'sendMessage', {})
}

/** A bot server that answers as scripted, and time that moves when told to. */
function createScene() {
  const time = new ManualTime(START_AT)
  const sent: { readonly person: number; readonly text: string; readonly second: number }[] = []
  const logged: string[] = []
  const scene = { fails: (_person: number): Error | undefined => undefined, attempts: 0 }
  const sendMessage = async (person: number, text: string): Promise<void> => {
    scene.attempts += 1
    const error = scene.fails(person)
    if (error) throw error
    sent.push({ person, text, second: (time.now() - START_AT) / 1000 })
  }
  const outbox = new ChatOutbox({
    api: () => ({ sendMessage }) as unknown as ReturnType<ChatOutboxOptions['api']>,
    token: new Secret(TOKEN),
    logger: {
      log: (_level, event, fields) => void logged.push(`${event} ${JSON.stringify(fields)}`),
    },
    clock: time,
    timers: time,
  })
  return { time, sent, logged, scene, outbox }
}

test('Telegram down for an hour: each answer comes afterwards, says when it is from, and the log says begin and end', async () => {
  const { time, sent, logged, scene, outbox } = createScene()
  scene.fails = () => new HttpError(`Network request for bot${TOKEN} failed`, new Error('reset'))
  for (let count = 0; count < 20; count++) outbox.add(ANNA, { text: `answer ${count}` })
  await time.pass(HOUR_MS)
  expect(sent).toEqual([])
  // Pauses grow to five minutes.
  expect(scene.attempts).toBeLessThan(30)

  scene.fails = () => undefined
  await time.pass(400_000)
  outbox.add(ANNA, { text: 'from now' })
  await time.pass(10_000)

  expect(sent.map(({ text }) => text.split('\n').at(-1))).toEqual([
    ...Array.from({ length: 20 }, (_, count) => `answer ${count}`),
    'from now',
  ])
  expect(sent[0]?.text).toBe('late: this is from 2026-11-22 14:00:00 UTC\nanswer 0')
  expect(sent.at(-1)?.text).toBe('from now')
  expect(logged).toEqual([
    'alert.failing {"target":"chat 42","reason":"the call failed"}',
    'alert.recovered {"target":"chat 42"}',
  ])
  expect(time.timersWaiting).toBe(0)
})

test('[BND1] of a thousand answers a hundred wait, and the next one says how many did not arrive', async () => {
  const { time, sent, logged, scene, outbox } = createScene()
  scene.fails = () => refusal(502)
  for (let count = 0; count < 1000; count++) outbox.add(ANNA, { text: `answer ${count}` })
  await time.pass(1000)
  scene.fails = () => undefined
  await time.pass(HOUR_MS)

  expect(sent).toHaveLength(100)
  expect(sent[0]?.text).toContain('lost before this one: 900')
  expect(sent[1]?.text).not.toContain('lost before')
  expect(logged.join('\n')).toContain('alert.dropped {"target":"chat 42","alerts":900}')
})

test('a person who has blocked the bot, or whom Telegram lets wait, keeps nobody else waiting', async () => {
  const { time, sent, logged, scene, outbox } = createScene()
  scene.fails = (person) => (person === ANNA ? refusal(429, 30) : undefined)
  outbox.add(ANNA, { text: 'one' })
  outbox.add(BERT, { text: 'two' })
  await time.pass(1000)
  expect(sent).toEqual([{ person: BERT, text: 'two', second: 0 }])
  scene.fails = () => undefined
  await time.pass(40_000)
  expect(sent.at(-1)).toMatchObject({ person: ANNA, second: 30.25 })

  scene.fails = (person) => (person === ANNA ? refusal(403) : undefined)
  outbox.add(ANNA, { text: 'three' })
  await time.pass(1000)
  scene.fails = () => undefined
  outbox.add(ANNA, { text: 'four' })
  await time.pass(1000)
  expect(sent.at(-1)?.text).toBe('lost before this one: 1, which could not be sent\nfour')
  expect(logged.at(-2)).toBe('alert.dropped {"target":"chat 42","alerts":1}')
})

test("answers keep Telegram's rate, the one to an order first", async () => {
  const { time, sent, outbox } = createScene()
  for (let count = 0; count < 10; count++) outbox.add(ANNA, { text: `answer ${count}` })
  outbox.add(ANNA, { text: 'done: killed' }, 'urgent')
  await time.pass(30_000)

  expect(sent[1]?.text).toBe('done: killed')
  for (let index = 5; index < sent.length; index++)
    expect((sent[index]?.second ?? 0) - (sent[index - 5]?.second ?? 0)).toBeGreaterThanOrEqual(3)
  expect(sent).toHaveLength(11)
})

test('[SEC1] a stop sends what waits, counts what it could not, and no line has the token', async () => {
  const { time, sent, logged, scene, outbox } = createScene()
  scene.fails = () => refusal(500)
  outbox.add(ANNA, { text: 'one' })
  outbox.add(BERT, { text: 'two' })
  await time.pass(1000)
  scene.fails = (person) =>
    person === ANNA ? new HttpError(`bot${TOKEN}`, new Error(TOKEN)) : undefined

  expect(await outbox.stop()).toBe(1)
  expect(sent.map(({ text }) => text)).toEqual(['two'])
  expect(logged.join('\n')).not.toContain('canary')
})
