// What a person sees of `intentd chat` on a phone: `npm run screenshots:chat -- FOLDER`. A paper daemon trades for a
// while, a person asks everything once, and the messages that the fake bot server took are drawn as pages as wide as a
// phone. With alerts and messages of trades of the same minute.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { browserMissing, openBrowser } from '../../dashboard/browser.ts'
import { Projects } from '../../daemon/project.ts'
import { type ChatMessage, FakeTelegram } from './fake-telegram.ts'

const [, , folder] = process.argv
const TOKENS = { INTENTD_CHAT_TOKEN: '1:AAAAAAAAAA', INTENTD_ALERT_PHONE: '2:BBBBBBBBBB' }
const ANNA = 42
const TRADES_MS = 60_000
const PHONE = { width: 390, height: 844 }
const PART_HEIGHT = 1500
const SAID = [
  '/help',
  '/status',
  '/positions',
  '/orders',
  '/orders BTCUSDT',
  '/profit',
  '/profit strategy',
  '/trades',
  '/curve',
  '/trade',
  '/why BTCUSDT',
  '/halt BTCUSDT',
  '/release BTCUSDT',
  'hello',
]

if (folder === undefined) throw new Error('name a folder: npm run screenshots:chat -- FOLDER')
if (browserMissing !== undefined) throw new Error(browserMissing)
const projects = new Projects()
const [people, phone] = [
  new FakeTelegram(TOKENS.INTENTD_CHAT_TOKEN),
  new FakeTelegram(TOKENS.INTENTD_ALERT_PHONE),
]
try {
  const html = renderPage(await talk())
  const { context, close } = await openBrowser()
  const page = await context.newPage()
  await page.setViewportSize(PHONE)
  await page.setContent(html)
  const [width, height] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]',
  )
  mkdirSync(folder, { recursive: true })
  for (let top = 0; top < height; top += PART_HEIGHT) {
    const clip = { x: 0, y: top, width, height: Math.min(PART_HEIGHT, height - top) }
    const path = join(folder, `chat-${top / PART_HEIGHT + 1}.png`)
    await page.screenshot({ path, clip, fullPage: true })
  }
  await close()
  process.stdout.write(width > PHONE.width ? 'wider than the phone\n' : 'as wide as the phone\n')
} finally {
  await projects.close()
  await Promise.all([people.close(), phone.close()])
}

interface Spoken {
  readonly person?: string
  readonly bot?: ChatMessage
}

async function talk(): Promise<readonly Spoken[]> {
  const [peopleUrl, phoneUrl] = [await people.listen(), await phone.listen()]
  const set = [
    'simulator.speed=600',
    `chat={variable: INTENTD_CHAT_TOKEN, people: [${ANNA}], apiUrl: "${peopleUrl}"}`,
    `alerts={targets: [{name: phone, kind: telegram, variable: INTENTD_ALERT_PHONE, chat: "7", apiUrl: "${phoneUrl}", trades: fills, least: info}]}`,
  ].flatMap((one) => ['--set', one])
  const project = projects.open()
  const daemon = project.run(set, TOKENS)
  const chat = project.start(['chat', ...set], TOKENS)
  await chat.untilEvent('chat.listening')
  await daemon.untilEvent('trade.closed', 2)
  await wait(TRADES_MS)
  const spoken: Spoken[] = []
  for (const person of SAID) {
    const before = people.sent.length
    people.say(ANNA, person)
    spoken.push({ person }, { bot: await people.untilSent(before + 1) })
  }
  await chat.stop()
  await daemon.stop()
  return [...spoken, { person: '(alerts)' }, ...phone.sent.map((bot) => ({ bot }))]
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function renderPage(spoken: readonly Spoken[]): string {
  const bubbles = spoken.map(({ person, bot }) => {
    if (bot === undefined) return `<div class="own">${escape(person ?? '')}</div>`
    const photo = bot.photo && `<img src="data:image/png;base64,${bot.photo.toString('base64')}">`
    const rows = bot.buttons.map(({ text }) => `<button>${escape(text)}</button>`).join('')
    return `<div class="bot">${photo ?? ''}<p>${escape(bot.text)}</p></div><div class="rows">${rows}</div>`
  })
  const style = `body { margin: 0; padding: 8px; background: #cfd9c4; font: 16px/1.3 Roboto, "DejaVu Sans", sans-serif }
    .own, .bot { max-width: 300px; width: fit-content; margin: 4px 0; padding: 6px 10px; border-radius: 12px; overflow-wrap: anywhere }
    .own { background: #e1fec6; margin-left: auto } .bot { background: #fff } p { margin: 0; white-space: pre-wrap }
    img { width: 100% } .rows { max-width: 320px; display: flex; gap: 4px } button { flex: 1; padding: 8px; border: 0; border-radius: 8px }`
  return `<!doctype html><style>${style}</style>${bubbles.join('')}`
}
