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
  const released = project.start(['release', 'BTCUSDT', '--reason', 'looked at'])
  await released.ended
  const ended = await chat.stop()

  expect(status.text).toMatch(/^paper: active, running\n(?:.*\n)*equity [\d,.]+ USDT\n/)
  expect(why.text).toContain('BTCUSDT')
  expect(done.text).toMatch(/^done: /)
  expect(released.stdout.join('\n')).toMatch(/asked for in the chat.*telegram 42 for /)
  expect(ended).toEqual({ code: 0, signal: null })
  expect([...chat.stdout, ...chat.stderr].join('\n')).not.toContain(TOKEN)
})

test('a token that Telegram does not know ends it, as a mistake of the configuration', async () => {
  const chat = startChat('2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB')

  const { code } = await chat.ended

  expect(code).toBe(78)
  expect(chat.stderr.join('\n')).toContain('Telegram refused')
})
