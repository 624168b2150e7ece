import { expect, test } from 'vitest'
import { type Alert, type Urgency } from '../../src/alerts/alert.ts'
import { TargetSender } from '../../src/alerts/delivery/target-sender.ts'
import { type WebhookCall, type WebhookOutcome } from '../../src/alerts/delivery/webhook-client.ts'
import { HiddenTexts, Secret } from '../../src/lib/secret.ts'

const OK: WebhookOutcome = { kind: 'answered', status: 200, text: '', retryAfterMs: undefined }
const REFUSED: WebhookOutcome = { kind: 'failed', reason: 'refuses the connection' }
const answered = (status: number, retryAfterMs?: number): WebhookOutcome => ({
  kind: 'answered',
  status,
  text: '',
  retryAfterMs,
})

/** A sender to a target that answers as it is scripted, and time in seconds. */
function createScene(answer: () => WebhookOutcome = () => OK, least: Urgency = 'info') {
  const calls: { readonly title: string; readonly text: string; readonly second: number }[] = []
  const logged: string[] = []
  let second = 0
  const call = ({ body }: WebhookCall): Promise<WebhookOutcome> => {
    const { title, text } = JSON.parse(body ?? '') as { title: string; text: string }
    calls.push({ title, text, second })
    return Promise.resolve(answer())
  }
  const sender = new TargetSender({
    target: {
      name: 'ops',
      kind: 'json',
      least,
      chat: undefined,
      trades: 'none',
      url: new Secret('https://x'),
      token: undefined,
    },
    client: { call },
    place: { name: 'paper', environment: 'simulator', optionsOf: () => '' },
    hidden: new HiddenTexts(),
    logger: {
      log: (_level, event, fields) => void logged.push(`${event} ${JSON.stringify(fields)}`),
    },
    now: () => second * 1000,
  })
  const pass = async (seconds: number, isQuiet = false): Promise<void> => {
    for (let step = 0; step < seconds; step++) {
      second += 1
      sender.advance(isQuiet)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
  }
  const titles = () => calls.map(({ title }) => title.replace(/^.*: /, ''))
  return { sender, calls, logged, pass, titles }
}

function alertOf(title: string, urgency: Urgency = 'info'): Alert {
  return { event: 'alert.test', key: title, urgency, title, lines: [], at: 0, repeats: 0 }
}

test('the most urgent goes first, of those the oldest; a burst at once and then twenty in any minute at most', async () => {
  const { sender, calls, pass, titles } = createScene()
  for (let index = 0; index < 7; index++) sender.add(alertOf(`i${index}`))
  sender.add(alertOf('w', 'warning'))
  sender.add(alertOf('u', 'urgent'))

  await pass(30)

  expect(titles()).toEqual(['u', 'w', 'i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6'])
  expect(calls.map(({ second }) => second).slice(0, 5)).toEqual([1, 2, 3, 4, 7])
  expect((calls.at(-1)?.second ?? 0) - (calls[5]?.second ?? 0)).toBeGreaterThanOrEqual(6)
})

test('what is less urgent than a target wants is not sent there', async () => {
  const { sender, pass, titles } = createScene(() => OK, 'urgent')
  for (const urgency of ['info', 'warning', 'urgent'] as const)
    sender.add(alertOf(urgency, urgency))

  await pass(10)

  expect(titles()).toEqual(['urgent'])
})

test('in quiet hours only what is urgent goes; the rest follows when they are over', async () => {
  const { sender, pass, titles } = createScene()
  sender.add(alertOf('later'))
  sender.add(alertOf('now', 'urgent'))

  await pass(10, true)
  expect(titles()).toEqual(['now'])

  await pass(3)
  expect(titles()).toEqual(['now', 'later'])
})

test('a failure is tried again with growing pauses for six hours; then it is dropped, and the next message says so', async () => {
  let isUp = false
  const { sender, calls, logged, pass, titles } = createScene(() => (isUp ? OK : REFUSED))
  sender.add(alertOf('one'))

  await pass(6 * 3600 + 400)

  const pauses = calls.map(({ second }, index) => second - (calls[index - 1]?.second ?? 0))
  expect(pauses.slice(0, 12)).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  const tried = calls.length
  // From now on one of its own asks whether the target takes alerts again.
  await pass(1000)
  expect(calls.length - tried).toBeGreaterThan(1)
  isUp = true
  sender.add(alertOf('two'))
  await pass(305)
  expect(titles().slice(-2)).toEqual([expect.stringMatching(/^alerts arrive here again/), 'two'])
  expect(calls.at(-2)?.text).toContain('1 messages before this one were dropped')
  expect(logged).toEqual([
    'alert.failing {"target":"ops","reason":"refuses the connection"}',
    'alert.dropped {"target":"ops","alerts":1}',
    'alert.recovered {"target":"ops"}',
  ])
})

test('an hour without an answer loses nothing of what waits, and what is urgent is tried at once', async () => {
  let isUp = false
  const { sender, pass, titles } = createScene(() => (isUp ? OK : REFUSED))
  for (let index = 0; index < 5; index += 1) sender.add(alertOf(`u${index}`, 'urgent'))
  await pass(3600)
  isUp = true
  sender.add(alertOf('u5', 'urgent'))
  await pass(2)
  expect(titles().at(-1)).toMatch(/^u/)
  await pass(60)

  expect(new Set(titles().slice(-6))).toEqual(new Set(['u0', 'u1', 'u2', 'u3', 'u4', 'u5']))
})

test('urgent alerts in an outage are tried at once, and do not make the pause after it longer', async () => {
  let isUp = false
  const { sender, calls, pass, titles } = createScene(() => (isUp ? OK : REFUSED))
  for (let second = 0; second < 12; second++) {
    sender.add(alertOf(`u${second}`, 'urgent'))
    await pass(1)
  }
  // Scheduled in seconds 1, 2, 4 and, for want of the rate, 11; the others came early.
  expect(calls.map(({ second }) => second)).toEqual([1, 2, 3, 4, 7, 11])
  await pass(18)
  isUp = true
  const tried = calls.length
  await pass(50)

  // 19 and 35 are scheduled: the early tries lengthened no pause.
  expect(calls[tried]?.second).toBe(35)
  expect(new Set(titles().slice(tried))).toEqual(
    new Set(Array.from({ length: 12 }, (_, index) => `u${index}`)),
  )
})

test('429 waits for as long as it says, up to a quarter of an hour', async () => {
  const answers = [answered(429, 60_000), answered(429, 86_400_000), OK]
  const { sender, calls, logged, pass } = createScene(() => answers.shift() ?? OK)
  sender.add(alertOf('one'))

  await pass(1000)

  expect(calls.map(({ second }) => second)).toEqual([1, 61, 961])
  expect(logged.at(-1)).toBe('alert.recovered {"target":"ops"}')
})

test('an urgent alert is tried five seconds after a 429, however long it asks for, and once', async () => {
  const answers = [answered(429, 60_000), answered(429, 60_000), OK, OK]
  const { sender, calls, pass, titles } = createScene(() => answers.shift() ?? OK)
  sender.add(alertOf('one'))
  await pass(2)
  sender.add(alertOf('two', 'urgent'))
  await pass(100)

  // The second refusal, in second 6, asks anew.
  expect(calls.map(({ second }) => second)).toEqual([1, 6, 66, 67])
  expect(titles()).toEqual(['one', 'two', 'two', 'one'])
})

test('an early try that finds no connection does not end the wait that was asked for', async () => {
  const answers = [answered(429, 60_000), REFUSED, OK]
  const { sender, calls, pass } = createScene(() => answers.shift() ?? OK)
  sender.add(alertOf('one'))
  await pass(2)
  sender.add(alertOf('two', 'urgent'))
  await pass(100)

  expect(calls.map(({ second }) => second)).toEqual([1, 6, 61, 62])
})

test.each([301, 400, 401, 404, 410])(
  '%i stays wrong: the alert is dropped, and the next one is tried',
  async (status) => {
    const { sender, pass, titles } = createScene(() => answered(status))
    sender.add(alertOf('one'))
    sender.add(alertOf('two'))

    await pass(10)

    expect(titles()).toEqual(['one', 'two'])
  },
)

test('[BND1] of a hundred thousand a hundred wait: the oldest of the least urgent are dropped, and that is said', async () => {
  let answer: WebhookOutcome = REFUSED
  const { sender, logged, pass, titles } = createScene(() => answer)
  sender.add(alertOf('urgent', 'urgent'))
  for (let index = 0; index < 100_000; index++) sender.add(alertOf(`${index}`))

  answer = OK
  await pass(1000)

  expect(titles()).toHaveLength(100)
  expect(titles().slice(0, 2)).toEqual(['urgent', '99901'])
  expect(logged).toEqual(['alert.dropped {"target":"ops","alerts":99901}'])
})

test('at the end everything goes at once; what is not taken is counted as lost', async () => {
  let taken = 3
  const { sender, titles } = createScene(() => (taken-- > 0 ? OK : REFUSED))
  for (let index = 0; index < 10; index++) sender.add(alertOf(`${index}`))

  const lost = await sender.drain(false, () => false)

  expect(titles()).toEqual(['0', '1', '2', '3'])
  expect(lost).toBe(7)
})

test('a target that refused the last alert for good is asked again by itself until it takes one', async () => {
  let isMended = false
  const { sender, pass, titles, logged } = createScene(() => (isMended ? OK : answered(404)))
  sender.add(alertOf('lost', 'urgent'))
  await pass(2)
  expect(sender.failing).toMatchObject({
    target: 'ops',
    since: 1000,
    reason: expect.stringContaining('404'),
  })

  await pass(900)
  expect(titles()).toHaveLength(4)
  isMended = true
  await pass(310)

  expect(titles().at(-1)).toMatch(/^alerts arrive here again; none did since/)
  expect(sender.failing).toBeUndefined()
  expect(logged.at(-1)).toMatch(/^alert.recovered/)
  const all = titles().length
  await pass(600)
  expect(titles()).toHaveLength(all)
})
