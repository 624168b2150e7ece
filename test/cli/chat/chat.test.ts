import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IntentdProcess } from '../../daemon/intentd-process.ts'
import { type Project, Projects } from '../../daemon/project.ts'
import { FakeTelegram } from './fake-telegram.ts'

const TOKEN = '1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const ANNA = 42

const projects = new Projects()
const telegram = new FakeTelegram(TOKEN)
let project: Project
let daemon: IntentdProcess
let apiUrl: string

beforeAll(async () => {
  apiUrl = await telegram.listen()
  project = projects.open()
  daemon = project.run()
  await daemon.untilEvent('order.accepted')
})

afterAll(async () => {
  await daemon.stop()
  await projects.close()
  await telegram.close()
})

const startChat = (token: string): IntentdProcess => {
  const chat = `chat={variable: INTENTD_CHAT_TOKEN, people: [${ANNA}], apiUrl: "${apiUrl}"}`
  return project.start(['chat', '--set', chat], { INTENTD_CHAT_TOKEN: token })
}

test('from the phone: the figures of the daemon, and a halt that the journal knows by its person', async () => {
  const chat = startChat(TOKEN)

  await chat.untilEvent('chat.listening')
  telegram.say(ANNA, '/status')
  const status = await telegram.untilSent(1)
  telegram.say(ANNA, '/why BTCUSDT')
  const why = await telegram.untilSent(2)
  telegram.say(ANNA, '/halt BTCUSDT')
  const { buttons } = await telegram.untilSent(3)
  telegram.press(ANNA, buttons[0]?.data ?? '')
  const done = await telegram.untilSent(4)
  telegram.say(ANNA, '/reduce BTCUSD')
  const unknown = await telegram.untilSent(5)
  const released = project.start(['release', 'BTCUSDT', '--reason', 'looked at'])
  await released.ended
  const ended = await chat.stop()

  expect(status.text).toMatch(/^paper: active, running\n(?:.*\n)*equity [\d,.]+ USDT\n/)
  expect(why.text).toContain('BTCUSDT')
  expect(done.text).toMatch(/^done: /)
  expect(unknown).toMatchObject({ buttons: [], text: expect.stringMatching(/not in .*BTCUSDT/) })
  expect(released.stdout.join('\n')).toMatch(/asked for in the chat.*telegram 42 for /)
  expect(ended).toEqual({ code: 0, signal: null })
  expect([...chat.stdout, ...chat.stderr].join('\n')).not.toContain(TOKEN)
})

test('a token that Telegram does not know ends it, as a mistake of the configuration', async () => {
  const chat = startChat('2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB')

  const { code } = await chat.ended

  expect(code).toBe(78)
  expect(chat.stderr.join('\n')).toMatch(/the token in INTENTD_CHAT_TOKEN.*@BotFather/)
})

test('a start without an answer says so, goes on asking, and ends by a signal without a complaint', async () => {
  telegram.isDown = true
  const chat = startChat(TOKEN)

  await chat.until('silence', () => chat.stderr.join('').includes('does not answer yet'))
  const ended = await chat.stop()
  telegram.isDown = false

  expect(ended).toEqual({ code: 0, signal: null })
  const said = chat.stderr.join('\n')
  expect(said.match(/does not answer yet/g)).toHaveLength(1)
  expect(said).not.toMatch(/Telegram refused|Aborted/)
  expect(said).not.toContain(TOKEN)
})

test('[SEC1] a signal while Telegram is away ends it without a complaint, which would have the token', async () => {
  const chat = startChat(TOKEN)
  await chat.untilEvent('chat.listening')
  telegram.isDown = true
  const ended = await chat.stop()
  telegram.isDown = false

  expect(ended).toEqual({ code: 0, signal: null })
  expect([...chat.stdout, ...chat.stderr].join('\n')).not.toContain(TOKEN)
})

test('check finds a token that is missing, or is none, unless no secrets are to be looked for', async () => {
  const check = (token: string | undefined, ...more: readonly string[]) =>
    project.start(
      ['check', '--set', `chat={variable: INTENTD_CHAT_TOKEN, people: [${ANNA}]}`, ...more],
      token === undefined ? {} : { INTENTD_CHAT_TOKEN: token },
    )
  const [missing, none, good, unread] = [
    check(undefined),
    check('abc'),
    check(TOKEN),
    check(undefined, '--no-secrets'),
  ]
  const ended = await Promise.all([missing, none, good, unread].map((run) => run.ended))

  expect(ended.map(({ code }) => code)).toEqual([78, 78, 0, 0])
  expect(missing.stderr.join('\n')).toContain('INTENTD_CHAT_TOKEN: missing')
  expect(none.stderr.join('\n')).toMatch(/INTENTD_CHAT_TOKEN: expected the token of a bot/)
})
