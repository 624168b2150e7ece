import { expect, test } from 'vitest'
import { type SignalAnswer, SignalGuard } from '../../../src/control/signals/signal-guard.ts'
import {
  SignalGate,
  type SignalOutcome,
  type SignalRule,
} from '../../../src/control/signals/signal-gate.ts'
import type { Signal } from '../../../src/domain/signal.ts'
import { Secret } from '../../../src/lib/secret.ts'

const SECRET = 'canary-e27f5ab90c31'
const NOW = Date.UTC(2026, 0, 2, 12)

const TV: SignalRule = {
  name: 'tv',
  secret: new Secret(SECRET),
  secretField: 'key',
  windowMs: 60_000,
  perMinute: 6,
  fields: {
    action: { type: 'oneOf', values: ['long', 'short'], optional: false },
    note: { type: 'text', lengthMax: 40, optional: true },
  },
}
const HEAD: SignalRule = {
  ...TV,
  name: 'head',
  secretField: undefined,
  secret: new Secret('x'.repeat(20)),
}

class GateBench {
  now = NOW
  outcome: SignalOutcome = 'taken'
  readonly taken: Signal[] = []
  readonly answered: (readonly [string | undefined, string, string])[] = []
  readonly guard: SignalGuard
  readonly #gate: SignalGate

  constructor(...rules: readonly SignalRule[]) {
    this.guard = new SignalGuard({
      keys: rules,
      monotonic: () => this.now,
      onAnswered: (...fact) => this.answered.push(fact),
    })
    this.#gate = new SignalGate({
      rules,
      now: () => this.now,
      take: (signal) => {
        this.taken.push(signal)
        return Promise.resolve(this.outcome)
      },
      onAnswered: (...fact) => this.answered.push(fact),
    })
  }

  async send(
    body: unknown,
    { name = 'tv', shown }: { readonly name?: string; readonly shown?: string } = {},
  ): Promise<SignalAnswer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.sendBytes(Buffer.from(text), { name, ...(shown !== undefined && { shown }) })
  }

  async sendBytes(
    bytes: Uint8Array,
    { name, shown }: { readonly name: string; readonly shown?: string },
  ): Promise<SignalAnswer> {
    const admission = this.guard.admit(name, shown)
    if (admission.kind === 'closed') return admission.answer
    const proved = this.guard.prove(admission, bytes)
    return proved.kind === 'closed' ? proved.answer : this.#gate.answer(proved.signal)
  }
}

const long = { action: 'long' }
const WRONG = { status: 401, body: { error: 'no such signal, or another secret' } }

test('a signal is taken by the secret in the head or in the body, and carries no trace of it', async () => {
  const bench = new GateBench(TV)
  expect(await bench.send(long, { shown: SECRET })).toMatchObject({ status: 200 })
  expect(await bench.send({ action: 'short', key: SECRET })).toMatchObject({ status: 200 })
  expect(bench.taken.map(({ feed, value }) => [feed, value])).toEqual([
    ['signal:tv', { action: 'long' }],
    ['signal:tv', { action: 'short' }],
  ])
  expect(JSON.stringify([bench.taken, bench.answered])).not.toContain(SECRET)
})

test('[SEC1] a secret in another field is refused, so it is not journaled with it', async () => {
  const bench = new GateBench(TV, { ...TV, name: 'named', idField: 'id' })
  const shown = { shown: SECRET }
  for (const answer of [
    await bench.send({ ...long, note: `so ${SECRET}` }, shown),
    await bench.send({ ...long, id: SECRET }, { name: 'named', ...shown }),
    await bench.send({ ...long, [SECRET]: 1 }, shown),
  ])
    expect(answer.status).toBe(400)
  expect(bench.taken).toEqual([])
  expect(JSON.stringify(bench.answered)).not.toContain(SECRET)
})

test('[SEC2] no answer tells an unknown name, a wrong secret, a missing one and a broken body apart', async () => {
  const bench = new GateBench(TV, HEAD)
  const answers = [
    await bench.send(long, { name: 'other', shown: SECRET }),
    await bench.send(long, { name: 'other' }),
    await bench.send({ ...long, key: SECRET }, { name: 'head' }),
    await bench.send(long, { name: 'head', shown: SECRET }),
    await bench.send(long, { shown: `${SECRET}x` }),
    await bench.send({ ...long, key: [SECRET] }),
    await bench.send({ ...long, key: '' }),
    await bench.send('{', { name: 'other' }),
    await bench.send('{'),
    await bench.send('x'.repeat(5000)),
  ]
  for (const answer of answers) expect(answer).toEqual(WRONG)
  expect(new Set(bench.answered.map(([name]) => name))).toEqual(new Set([undefined]))
})

const BROKEN = [
  '{"action":"long","action":"short"}',
  '{"action":"long","\\u0061ction":"short"}',
  '{"action":"long","__proto__":{"action":"short"}}',
  '{"action":{"deep":1}}',
  `{"action":${'['.repeat(2000)}`,
  '[{"action":"long"}]',
  '"long"',
  '{"action":NaN}',
  '{"action":"long"} '.padEnd(5000),
  '{"action":"lo\u{0}ng"}',
  '',
]

test('a body that is no object of one level with each name once is refused to who has the secret', async () => {
  const bench = new GateBench({ ...TV, perMinute: 600 })
  for (const body of BROKEN) {
    const { status } = await bench.send(body, { shown: SECRET })
    expect([body.slice(0, 40), status]).toEqual([body.slice(0, 40), 400])
  }
  expect(bench.taken).toEqual([])
})

test('bytes that are no text are refused', async () => {
  const bench = new GateBench(TV)
  const bytes = Buffer.concat([
    Buffer.from('{"action":"long","note":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ])
  expect(await bench.sendBytes(bytes, { name: 'tv', shown: SECRET })).toMatchObject({ status: 400 })
})

test('more than the rate is refused before a body is read, and only for this signal', async () => {
  const bench = new GateBench(TV, HEAD)
  for (let index = 0; index < 6; index++) expect(bench.guard.admit('tv', SECRET).kind).toBe('open')
  expect(bench.guard.admit('tv', SECRET)).toMatchObject({
    kind: 'closed',
    answer: { status: 429, retryAfter: 10 },
  })
  expect(bench.guard.admit('head', 'x'.repeat(20)).kind).toBe('open')
  bench.now += 10_000
  expect(bench.guard.admit('tv', SECRET).kind).toBe('open')
  expect(bench.guard.admit('tv', SECRET).kind).toBe('closed')
})

test('a flood without the secret is refused by the head, and takes nothing from who shows it there', () => {
  const bench = new GateBench(TV, HEAD)
  const kinds = Array.from({ length: 1000 }, () => bench.guard.admit('tv', 'guess').kind)
  // 60 of every sender, and the rate of the signal that has its secret in the body.
  expect(kinds.filter((kind) => kind === 'open')).toHaveLength(66)
  expect(bench.guard.admit('tv', SECRET).kind).toBe('open')
})

test('a time ahead of our clock says how far ahead it may be', async () => {
  const bench = new GateBench({ ...TV, timeField: 'time' })
  const ahead = (ms: number) => bench.send({ ...long, time: NOW + ms }, { shown: SECRET })
  expect(await ahead(60_001)).toMatchObject({
    status: 400,
    body: { error: 'time is more than 60000 ms ahead of our clock' },
  })
  expect(await ahead(60_000)).toMatchObject({ status: 200 })
})

test('the same contents are one signal, and with a time or an id of its own another', async () => {
  const bench = new GateBench(
    TV,
    { ...TV, name: 'timed', timeField: 'time' },
    { ...TV, name: 'named', idField: 'id', perMinute: 600 },
  )
  const idOf = async (name: string, extra: object): Promise<unknown> => {
    const answer = await bench.send({ ...long, ...extra }, { name, shown: SECRET })
    return answer.body['id'] ?? answer.body['error']
  }
  expect(await idOf('tv', {})).toBe(await idOf('tv', { key: SECRET }))
  expect(await idOf('timed', { time: NOW })).not.toBe(await idOf('timed', { time: NOW - 1 }))
  expect(await idOf('named', { id: 'a-1' })).toBe('a-1')
  expect(await idOf('named', { id: 17 })).toBe('17')
  for (const id of ['', 'x'.repeat(65), 'a b', 1.5, null])
    expect(await idOf('named', { id })).toMatch(/^id is no id/)
  expect(await idOf('named', {})).toBe(
    'id is missing: it names the signal, so that it is taken once (idField); send 1 to 64 letters, digits, _ . : -',
  )

  bench.outcome = 'repeated'
  expect(await bench.send(long, { shown: SECRET })).toMatchObject({
    status: 200,
    body: { result: 'already known' },
  })
  bench.outcome = undefined
  expect(await bench.send(long, { shown: SECRET })).toMatchObject({ status: 503 })
})

test('a time outside the window is refused, however it is written', async () => {
  const bench = new GateBench({ ...TV, timeField: 'time', perMinute: 600 })
  const statusOf = async (time: unknown): Promise<number> =>
    (await bench.send({ ...long, time }, { shown: SECRET })).status
  const iso = (at: number): string => new Date(at).toISOString()
  for (const time of [NOW, NOW / 1000, String(NOW), iso(NOW - 60_000), iso(NOW + 60_000)])
    expect(await statusOf(time)).toBe(200)
  for (const time of [iso(NOW - 60_001), NOW + 60_001, 'now', '2026-01-02', {}, null, 1e300, -1])
    expect(await statusOf(time)).toBe(400)
})

test('a missing time, and one that is none, are answered with what to send', async () => {
  const bench = new GateBench({ ...TV, timeField: 'time', perMinute: 600 })
  const sent = async (body: object) => bench.send(body, { shown: SECRET })
  const form = 'Unix seconds or ms, or ISO 8601 with its zone, such as 2026-01-02T12:00:00Z'
  expect(await sent(long)).toEqual({
    status: 400,
    body: {
      error: `time is missing: it says when the signal was sent (timeField); send ${form}`,
    },
  })
  for (const time of ['now', '2026-02-30T12:00:00Z'])
    expect(await sent({ ...long, time })).toMatchObject({
      body: { error: `time is no time: write ${form}` },
    })
})

test('a signal that was sent before one that is taken is refused, and its sender is told why', async () => {
  const bench = new GateBench({ ...TV, timeField: 'time' })
  bench.outcome = 'outdated'
  const answer = await bench.send({ key: SECRET, action: 'long', time: NOW - 20_000 })
  expect(bench.taken).toMatchObject([{ sentAt: NOW - 20_000 }])
  expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('later') } })
  expect(bench.answered).toMatchObject([['tv', 'refused', expect.any(String)]])
})
