import { expect, test } from 'vitest'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { envelope } from '../../../src/protocol/envelope.ts'
import { bytesOf, type ReceivedRequest } from '../../../src/simulator/wire/wire-request.ts'
import { ALICE } from './fake-core.ts'
import { GOOD_REQUESTS, signedRequest } from './signed-request.ts'
import { WireBench } from './wire-bench.ts'

const VALUES: readonly unknown[] = [
  null,
  '',
  'null',
  'NaN',
  '1e999',
  '-1',
  '0x10',
  0,
  1.5,
  true,
  [],
  {},
  [[]],
  [null],
  '\u0000',
  '%',
  '&',
  'é',
  '__proto__',
  'a'.repeat(500),
  { constructor: { prototype: 1 } },
  '../..',
  '<script>',
]

const SCRAPS = [
  '%',
  '%zz',
  '&&',
  '=',
  '?',
  '{',
  '}',
  ']',
  '"',
  '\u0000',
  '\ufeff',
  '__proto__=1',
  'symbol=1&symbol=2',
  '+',
  ';',
]

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.integer(items.length)] as Item

/** A value of the body replaced, removed or added, at any depth. */
function mutateBody(random: Random, body: unknown): unknown {
  if (Array.isArray(body)) {
    const items: unknown[] = [...body]
    items[random.integer(items.length + 1)] =
      random.integer(2) === 0 ? pick(random, VALUES) : mutateBody(random, items[0])
    return items
  }
  if (typeof body !== 'object' || body === null || random.integer(5) === 0)
    return pick(random, VALUES)
  const name = pick(random, [...Object.keys(body), '__proto__', 'extra', 'clientOid'])
  const value = (body as Record<string, unknown>)[name]
  return { ...body, [name]: mutateBody(random, value) }
}

function insertScrap(random: Random, text: string): string {
  const at = random.integer(text.length + 1)
  return text.slice(0, at) + pick(random, SCRAPS) + text.slice(at + random.integer(3))
}

/** A good request, broken in one way, and then signed as its author would; or not. */
function breakRequest(random: Random, at: number): ReceivedRequest {
  const good = { ...pick(random, GOOD_REQUESTS), at }
  switch (random.integer(4)) {
    case 0:
      return signedRequest(ALICE, { ...good, body: mutateBody(random, good.body) })
    case 1:
      return signedRequest(ALICE, { ...good, query: insertScrap(random, good.query ?? '') })
    case 2:
      return signedRequest(ALICE, {
        ...good,
        body: insertScrap(random, JSON.stringify(good.body ?? {})),
      })
    default: {
      const request = signedRequest(ALICE, good)
      const name = pick(random, [...Object.keys(request.headers), 'x'])
      return {
        ...request,
        headers: { ...request.headers, [name]: insertScrap(random, request.headers[name] ?? '') },
      }
    }
  }
}

test('whatever comes over the wire gets an envelope, and never an exception', () => {
  const bench = new WireBench()
  const seed = 'garbage 1'
  const random = createRandom(seed)

  for (let round = 0; round < 20_000; round++) {
    bench.now += 1100
    const request = breakRequest(random, bench.now)
    const response = bench.wire.handle(request)
    const parsed = envelope.safeParse(JSON.parse(bytesOf(response).toString()))
    const where = `${seed}, round ${round}: ${request.method} ${request.path}?${request.query} ${request.body}`
    expect(parsed.success, where).toBe(true)
    expect(response.status === 200, where).toBe(parsed.data?.code === '00000')
  }
  expect(bench.events.filter(({ kind }) => kind === 'handlerFailed')).toEqual([])
  const prototype: object = {}
  expect(Object.keys(Object.getPrototypeOf(prototype) as object)).toEqual([])
})
