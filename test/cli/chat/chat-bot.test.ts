import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChatBot } from '../../../src/cli/chat/chat-bot.ts'
import { toPeople } from '../../../src/cli/chat/chat.ts'
import { CHAT_ORDERS, drawTrade } from '../../../src/cli/chat/questions.ts'
import { type VerbOptions, type VerbRun } from '../../../src/cli/process/run-verb.ts'
import { type Power } from '../../../src/control/powers.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { FakeTelegram } from './fake-telegram.ts'

const ALL: readonly Power[] = ['look', 'safer', 'riskier']
const TOKEN = '1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const ANNA = 42
const BERT = 43
const STRANGER = 99

let telegram: FakeTelegram
let bot: ChatBot
let running: Promise<void>
let asked: VerbOptions[]
let logged: string[]
let answer: (words: readonly string[]) => VerbRun | Promise<VerbRun>

const ran = (output: unknown, code = 0): VerbRun => ({
  code,
  output: typeof output === 'string' ? output : JSON.stringify(output),
  aside: '',
  isCut: false,
})

interface OpenOptions {
  readonly powers?: readonly Power[]
  /** Default: the same. */
  readonly powersOfBert?: readonly Power[]
}

async function open({ powers = ALL, powersOfBert = powers }: OpenOptions = {}): Promise<void> {
  const apiUrl = await telegram.listen()
  bot = new ChatBot({
    token: new Secret(TOKEN),
    apiUrl,
    people: new Map([
      [ANNA, new Set(powers)],
      [BERT, new Set(powersOfBert)],
    ]),
    configWords: ['--config=/srv/paper.yaml'],
    logger: {
      log: (_level: string, event: string, fields: object) =>
        logged.push(`${event} ${JSON.stringify(fields)}`),
    } as never,
    run: async (options) => {
      asked.push(options)
      return answer(options.words)
    },
  })
  running = bot.start()
}

beforeEach(() => {
  telegram = new FakeTelegram(TOKEN)
  asked = []
  logged = []
  answer = () => ran([])
})

afterEach(async () => {
  await bot.stop()
  await running
  await telegram.close()
})

test('a question is a command of the program, and its answer comes as short lines', async () => {
  await open()
  answer = () =>
    ran([
      {
        symbol: 'BTCUSDT',
        side: 'long',
        size: '0.01',
        entryPrice: 60_000,
        markPrice: 61_000,
        unrealisedProfit: '10',
        coin: 'USDT',
        liquidation: { distance: 0.42 },
      },
    ])

  telegram.say(ANNA, '/positions')

  expect(await telegram.untilSent(1)).toEqual({
    chat: ANNA,
    text: [
      'BTCUSDT long 0.01: profit 10.00 USDT',
      '  from 60000, now 61000',
      '  liquidation 42.0 % away',
    ].join('\n'),
    buttons: [],
  })
  expect(asked).toMatchObject([
    { words: ['positions', '--json', '--config=/srv/paper.yaml'], by: 'telegram 42' },
  ])
})

test('people who are not listed, and groups, get no answer, and are logged once', async () => {
  await open()

  for (let turn = 0; turn < 5; turn++) telegram.say(STRANGER, '/kill')
  telegram.say(ANNA, '/status', { group: true })
  telegram.press(STRANGER, 'yes 00')
  telegram.say(ANNA, '/orders')
  await telegram.untilSent(1)

  expect(telegram.sent.map(({ chat }) => chat)).toEqual([ANNA])
  expect(asked).toHaveLength(1)
  expect(logged.filter((line) => line.startsWith('chat.stranger'))).toEqual([
    'chat.stranger {"person":99}',
  ])
})

test('an order is done after one confirmation by the same person, once', async () => {
  await open()
  answer = () => ran('obeyed')

  telegram.say(ANNA, '/halt BTCUSDT')
  const question = await telegram.untilSent(1)
  const [yes, no] = question.buttons
  telegram.press(BERT, yes?.data ?? '')
  const denied = await telegram.untilSent(2)
  telegram.press(ANNA, yes?.data ?? '')
  const done = await telegram.untilSent(3)
  telegram.press(ANNA, yes?.data ?? '')
  const again = await telegram.untilSent(4)
  telegram.say(ANNA, '/kill')
  const kill = await telegram.untilSent(5)
  telegram.press(ANNA, kill.buttons[1]?.data ?? '')
  const left = await telegram.untilSent(6)

  expect(question.text).toContain('Really halt BTCUSDT?')
  expect([yes?.text, no?.text]).toEqual(['Yes', 'No'])
  expect(denied.text).toContain('nothing was done')
  expect(done.text).toBe('done: obeyed')
  expect(again.text).toContain('nothing was done')
  expect(left.text).toBe('nothing was done')
  expect(asked.map(({ words, by }) => ({ words, by }))).toEqual([
    {
      words: [
        'restrict',
        'BTCUSDT',
        'halted',
        '--reason=asked for in the chat',
        '--config=/srv/paper.yaml',
      ],
      by: 'telegram 42',
    },
  ])
  expect(logged.at(-1)).toMatch(/^chat\.obeyed /)
})

test('without chat.safer there is no order to ask for, and what was written long ago is not obeyed', async () => {
  await open({ powers: ['look'] })

  telegram.say(ANNA, '/kill')
  const help = await telegram.untilSent(1)
  telegram.say(ANNA, '/status', { ageSeconds: 3600 })
  const late = await telegram.untilSent(2)

  expect(help.text).toMatch(/^not known here: kill\n[^]*\/status/)
  expect(help.text).not.toContain('/kill')
  expect(late.text).toContain('say it again')
  expect(asked).toEqual([])
})

test('a server that is away at the start is called again; a flood is waited out, a long answer cut', async () => {
  telegram.isDown = true
  await open()
  await telegram.until(() => telegram.dropped >= 2)
  telegram.isDown = false
  const orders = Array.from({ length: 200 }, (_, index) => ({
    symbol: `A${index}USDT`.padEnd(200, 'X'),
    action: 'openLong',
    size: '1',
    price: '1',
    state: 'live',
    strategy: 'grid',
  }))
  answer = () => ran(orders)

  telegram.floods = 1
  telegram.say(ANNA, '/orders')
  const cut = await telegram.untilSent(1)

  expect(telegram.refused).toHaveLength(1)
  expect(cut.text.length).toBeGreaterThan(3000)
  expect(cut.text.length).toBeLessThanOrEqual(4096)
})

test('answers that hang keep no order from being done', async () => {
  await open()
  const hanging = Promise.withResolvers<VerbRun>()
  answer = (words) => (words[0] === 'kill' ? ran('clean') : hanging.promise)

  for (let turn = 0; turn < 4; turn++) telegram.say(ANNA, '/status')
  const refused = await telegram.untilSent(1)
  telegram.say(ANNA, '/kill')
  const { buttons } = await telegram.untilSent(2)
  telegram.press(ANNA, buttons[0]?.data ?? '')
  const done = await telegram.untilSent(3)
  hanging.resolve(ran([]))

  expect(refused.text).toContain('ask again')
  expect(done.text).toBe('done: clean')
})

test('remarks reach the phone, but no files of the machine', async () => {
  await open()
  const aside = 'from /srv/state/journal.sqlite; net is realised less fees\nno daemon runs\n'
  answer = () => ({ ...ran([]), aside })

  telegram.say(ANNA, '/profit')

  expect((await telegram.untilSent(1)).text).toBe('nothing was traded\nno daemon runs')
})

test('of several accounts each is answered', async () => {
  await open()
  const order = {
    symbol: 'BTCUSDT',
    action: 'openLong',
    size: '1',
    price: '1',
    state: 'live',
    strategy: 'grid',
  }
  answer = () =>
    ran(`${JSON.stringify([order], undefined, 2)}\n[]\n${JSON.stringify([order], undefined, 2)}\n`)

  telegram.say(ANNA, '/orders')

  const line = 'BTCUSDT, grid:\n  open long 1 at 1'
  expect((await telegram.untilSent(1)).text).toBe([line, 'no order is open', line].join('\n\n'))
})

test('an answer that Telegram lets wait holds up nobody else', async () => {
  await open()
  telegram.floods = 1

  telegram.say(ANNA, 'hello')
  await telegram.until(() => telegram.refused.length === 1)
  telegram.say(BERT, '/orders')

  expect((await telegram.untilSent(1)).chat).toBe(BERT)
  expect((await telegram.untilSent(2)).text).toContain('/status')
})

test('what can add risk is proposed without a button, and a code never stands among the words of a command', async () => {
  await open()
  answer = (words) =>
    ran(words[0] === 'release' ? 'proposal a41f9c: release BTCUSDT' : 'released', 75)

  telegram.say(ANNA, '/release BTCUSDT')
  const proposed = await telegram.untilSent(1)
  telegram.say(ANNA, '/confirm a41f9c')
  const unclear = await telegram.untilSent(2)
  telegram.say(ANNA, '/confirm a41f9c 123456')
  const done = await telegram.untilSent(3)
  telegram.say(STRANGER, '/confirm a41f9c 123456')
  telegram.say(ANNA, '/reload')
  await telegram.untilSent(4)

  expect(proposed).toEqual({ chat: ANNA, text: 'proposal a41f9c: release BTCUSDT', buttons: [] })
  expect(unclear.text).toContain('/confirm ID CODE')
  expect(done.text).toBe('released')
  expect(asked.map(({ words, input }) => ({ words, input }))).toEqual([
    {
      words: ['release', 'BTCUSDT', '--reason=asked for in the chat', '--config=/srv/paper.yaml'],
      input: undefined,
    },
    { words: ['confirm', 'a41f9c', '--config=/srv/paper.yaml'], input: '123456\n' },
    { words: ['reload', '--config=/srv/paper.yaml'], input: undefined },
  ])
  expect(logged.join()).not.toContain('123456')
})

test('a chat that only looks neither proposes nor confirms', async () => {
  await open({ powers: ['look'] })

  telegram.say(ANNA, '/release BTCUSDT')
  telegram.say(ANNA, '/confirm a41f9c 123456')
  telegram.say(ANNA, '/halt BTCUSDT')
  await telegram.untilSent(3)

  expect(asked).toEqual([])
  expect(telegram.sent.map(({ text }) => text).join()).not.toMatch(/\/(?:confirm|release|halt)/)
})

test('each person has powers of their own: one commands and confirms, another only looks', async () => {
  await open({ powersOfBert: ['look'] })
  answer = () => ran('obeyed')

  telegram.say(BERT, '/kill')
  const help = await telegram.untilSent(1)
  telegram.say(BERT, '/confirm a41f9c 123456')
  telegram.say(BERT, '/release BTCUSDT')
  await telegram.untilSent(3)
  const askedByBert = [...asked]
  telegram.say(ANNA, '/kill')
  const { buttons } = await telegram.untilSent(4)
  telegram.press(BERT, buttons[0]?.data ?? '')
  const pressed = await telegram.untilSent(5)
  telegram.press(ANNA, buttons[0]?.data ?? '')
  const done = await telegram.untilSent(6)
  telegram.say(ANNA, '/help')
  const whole = await telegram.untilSent(7)

  expect(help.text).toMatch(/^not known here: kill\n[^]*\/status/)
  expect(help.text).not.toMatch(/\/(?:kill|release|confirm)/)
  expect(askedByBert).toEqual([])
  expect(pressed.text).toContain('nothing was done')
  expect(done.text).toBe('done: obeyed')
  expect(whole.text).toMatch(/\/kill[^]*\/release[^]*\/confirm/)
  expect(asked.map(({ words, by }) => [words[0], by])).toEqual([['kill', 'telegram 42']])
})

test('[SEC1] a stop while Telegram is away ends without an error: one would be printed with the address, and so the token', async () => {
  await open()
  telegram.say(ANNA, '/orders')
  await telegram.untilSent(1)

  telegram.isDown = true
  const stopped = await bot.stop().then(
    () => 'stopped',
    (error: unknown) => String(error),
  )
  telegram.isDown = false

  expect(stopped).toBe('stopped')
})

test('powers of a person are those of the section, unless others are set for that id', () => {
  const people = toPeople({
    people: [ANNA, BERT, STRANGER],
    safer: true,
    propose: false,
    powers: { [BERT]: { safer: false }, [STRANGER]: { propose: true } },
  })

  expect([...people].map(([id, powers]) => [id, [...powers]])).toEqual([
    [ANNA, ['look', 'safer']],
    [BERT, ['look']],
    [STRANGER, ['look', 'safer', 'riskier']],
  ])
})

test('the curve is a picture: a chat takes no SVG', async () => {
  answer = () =>
    ran(
      'at,equity,net,peak\n2026-11-22T00:00:00.000Z,1000,0,1000\n2026-11-22T00:01:00.000Z,,,\n2026-11-22T00:02:00.000Z,1010.5,10.5,1010.5\n',
    )
  await open()
  telegram.floods = 1
  telegram.say(ANNA, '/curve 24h')
  const { text, photo } = await telegram.untilSent(1)

  expect(asked[0]?.words).toEqual([
    'profit',
    '--curve',
    '--csv',
    '--since=24h',
    '--config=/srv/paper.yaml',
  ])
  expect(text).toBe('1010.50 (+1.05 %), lowest 1000.00, highest 1010.50')
  expect(photo?.subarray(1, 4).toString()).toBe('PNG')
  expect([photo?.readUInt32BE(16), photo?.readUInt32BE(20)]).toEqual([1000, 560])
  expect(telegram.refused).toHaveLength(1)
})

test('without a curve yet it says so, and of several accounts each has its picture', async () => {
  const point = 'at,equity,net,peak\n2026-11-22T00:00:00.000Z,5,0,5\n'
  answer = ([, , , since]) => ran(since === '--since=1h' ? 'at,equity,net,peak\n' : point + point)
  await open()
  telegram.say(ANNA, '/curve 1h')
  const none = await telegram.untilSent(1)
  telegram.say(ANNA, '/curve --all')
  const help = await telegram.untilSent(2)
  telegram.say(ANNA, '/curve')
  const second = await telegram.untilSent(4)

  expect(none.text).toContain('no equity is known yet')
  expect(help.text).toMatch(/^\/curve: equity of the last week/)
  expect(second.text).toBe('account 2 of 2: 5.00 (+0.00 %), lowest 5.00, highest 5.00')
  expect(asked).toHaveLength(2)
})

test('a closed trade is a picture with its fills and its stop, and what happened below it', async () => {
  const at = Date.parse('2026-11-22T10:00:00Z')
  const minute = 60_000
  const trade = {
    strategyId: 'trend<b>',
    symbol: 'BTCUSDT',
    side: 'long',
    openedAt: at,
    closedAt: at + 60 * minute,
    entryPrice: '60000',
    exitPrice: '60480',
    net: '4.51',
    coin: 'USDT',
    share: 0.0075,
    fills: 2,
    reason: 'trailing',
  }
  const fills = [
    { at, price: 60_000, isEntry: true },
    { at: at + 60 * minute, price: 60_480, isEntry: false },
  ]
  const prices = Array.from({ length: 80 }, (_, index) => ({
    at: at + (index - 10) * minute,
    price: 60_000 + 300 * Math.sin(index / 9) + index * 6,
  }))
  const journal = { run: 3, sequence: 1234 }
  const course = { trade, journal, fills, stops: [59_700], prices }
  answer = ([, , number]) =>
    number === '--course=9'
      ? { ...ran('null\n', 1), aside: 'fewer than 9 trades were closed\n' }
      : ran(`${JSON.stringify(course, undefined, 2)}\nnull\n`)
  await open()
  telegram.say(ANNA, '/trade')
  const { text, photo } = await telegram.untilSent(1)
  telegram.say(ANNA, '/trade 9')
  const none = await telegram.untilSent(2)
  telegram.say(ANNA, '/trade --course')
  const help = await telegram.untilSent(3)

  expect(asked[0]?.words).toEqual(['trades', '--json', '--course=1', '--config=/srv/paper.yaml'])
  expect(text).toBe(
    '4.51 USDT (0.75 %), trailing: from 60000 (blue) to 60480 (red), 2 fills\njournal record 1234 of run 3',
  )
  expect([photo?.readUInt32BE(16), photo?.readUInt32BE(20)]).toEqual([1000, 560])
  expect(none.text).toBe('fewer than 9 trades were closed')
  expect(help.text).toMatch(/^\/trade: /)
  const svg = drawTrade(JSON.stringify(course))[0]?.svg ?? ''
  expect(svg).toContain('trend&lt;b&gt;')
  const drawn = (colour: string): readonly string[] =>
    [...svg.matchAll(/<path d="[^"]+Z" fill="(#\w+)"/g)]
      .filter(([, of]) => of === colour)
      .map(String)
  expect([drawn('#2c63d6'), drawn('#b4372f')].map(({ length }) => length)).toEqual([1, 1])
  for (const [words, colour] of [
    ['entry 60000', '#2c63d6'],
    ['exit 60480', '#b4372f'],
  ] as const) {
    expect(svg).toMatch(new RegExp(`stroke="${colour}" stroke-width="2" stroke-dasharray`))
    expect(svg).toContain(`>${words}</text>`)
  }
  expect(svg).toContain('>stop</text>')
})

test('an answer that is too long, or a failure, shows no place of a file', async () => {
  await open()
  const from = 'from /tmp/state/paper/journal.sqlite\n'
  answer = () => ({ code: 0, output: '[{"title": "BTC', aside: from, isCut: true })
  telegram.say(ANNA, '/why BTCUSDT')
  const long = await telegram.untilSent(1)
  answer = () => ({
    code: 1,
    output: '[',
    aside: `nothing in /tmp/state/paper/journal.sqlite: see https://a.example/x/y`,
    isCut: false,
  })
  telegram.say(ANNA, '/why ETHUSDT')
  const failed = await telegram.untilSent(2)

  expect(asked[0]?.words).toEqual([
    'explain',
    'BTCUSDT',
    '--json',
    '--limit=8',
    '--config=/srv/paper.yaml',
  ])
  expect(long.text).toBe('the answer is too long for a chat: ask at the command line')
  expect(failed.text).toBe('nothing in journal.sqlite: see https://a.example/x/y')
})

test('a person pauses a strategy, closes a part and withdraws orders after one confirmation', async () => {
  await open()
  telegram.say(ANNA, '/close BTCUSDT 50 %')
  const question = await telegram.untilSent(1)
  telegram.press(ANNA, question.buttons[0]?.data ?? '')
  await telegram.untilSent(2)
  telegram.say(ANNA, '/close BTCUSDT 50')
  const bare = await telegram.untilSent(3)
  const readBy = (name: string, ...words: readonly string[]): unknown => {
    const read = CHAT_ORDERS.find((order) => order.name === name)?.read(words)
    return read && 'words' in read ? read.words : read
  }

  expect(question.text).toMatch(/^Really close 50 % of BTCUSDT, which then only reduces/)
  expect(asked.map(({ words }) => words.slice(0, -2))).toEqual([['close', 'BTCUSDT', '50%']])
  expect(readBy('close', '*')).toEqual(['*', '100%'])
  expect(bare.text).toMatch(/^50 is no share: write it with %, such as 50 %/)
  for (const share of ['0 %', '150 %', '50', 'half', '50 % 3'])
    expect(readBy('close', 'BTCUSDT', ...share.split(' '))).toEqual({
      objection: expect.stringContaining(`${share} is no share`) as string,
    })
  expect(readBy('pause', 'grid-btc')).toEqual(['grid-btc'])
  expect(readBy('cancel', 'key-0001')).toEqual(['key-0001'])
})
