import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type ConformedExchange, type Label } from '../exchange.ts'
import { at } from '../read.ts'
import { type Report } from '../report.ts'

const PATH = '/swap/api/test'
const TEN_MINUTES_MS = 600_000

interface Signed {
  readonly query: Readonly<Record<string, string>>
  readonly body: string
  readonly key: string
  readonly secret: string
  readonly timestamp: number
}

/** Scheme B, written from the document alone: a flat object, keys in order, HMAC-SHA256, base64. */
function sign({ query, body, key, secret, timestamp }: Signed): string {
  const flat: [string, string][] = [
    ['apiPath', PATH],
    ['body', body],
    ['x-api-key', key],
    ['x-api-timestamp', String(timestamp)],
    ...Object.entries(query),
  ]
  flat.sort(([left], [right]) => (left < right ? -1 : 1))
  const text = `{${flat.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
  return createHmac('sha256', secret).update(text).digest('base64')
}

/** What is sent otherwise than it was signed. */
interface Sent {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signature?: string
}

/** Signs and sends requests of one account to the example path. */
export class GatewayClient {
  readonly #exchange: ConformedExchange
  readonly #label: Label

  constructor(exchange: ConformedExchange, label: Label) {
    this.#exchange = exchange
    this.#label = label
  }

  signed(): Signed {
    const { gateway } = this.#exchange.account(this.#label)
    assert.ok(gateway)
    return {
      query: { symbol: 'BTCUSDT', amount: '1.5' },
      body: '{ "b": 1, "a": [2, "zwei"] }',
      key: gateway.key,
      secret: gateway.secret,
      timestamp: this.#exchange.clock.now(),
    }
  }

  async send(request: Signed, sent: Sent = {}) {
    const query = new URLSearchParams(sent.query ?? request.query)
    const answer = await fetch(`${this.#exchange.baseUrl}${PATH}?${query.toString()}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': request.key,
        'x-api-timestamp': String(request.timestamp),
        'x-api-signature': sent.signature ?? sign(request),
      },
      body: sent.body ?? request.body,
    })
    return { status: answer.status, body: await answer.json() }
  }
}

/** The signed gateway: no public client knows it, so the signer is this file's own. */
export async function tryGateway(report: Report, exchange: ConformedExchange): Promise<void> {
  const client = new GatewayClient(exchange, 'oneWay')
  const signed = () => client.signed()
  const send = (...request: Parameters<GatewayClient['send']>) => client.send(...request)
  const expectStatus = async (status: number, ...request: Parameters<GatewayClient['send']>) => {
    const answer = await send(...request)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    return `HTTP ${status}`
  }

  await report.try('gateway: a signed request', async () => {
    const { status, body } = await send(signed())
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(at(body, 'code'), '00000')
    return 'HTTP 200; body signed as its raw text, not sorted'
  })
  await report.try('gateway: values that are percent-encoded', () =>
    expectStatus(200, { ...signed(), query: { note: 'a b&c=ü', second: '+/%' } }),
  )
  await report.try('gateway: names that look like numbers', () =>
    expectStatus(200, { ...signed(), query: { '10': 'ten', '9': 'nine' } }),
  )
  await report.try('gateway: names in capitals, sorted by their letters', () =>
    expectStatus(200, { ...signed(), query: { Zeta: '1', alpha: '2' } }),
  )
  await report.try('gateway: tampered body', () =>
    expectStatus(403, signed(), { body: '{ "b": 2, "a": [2, "zwei"] }' }),
  )
  await report.try('gateway: body with other spaces', () =>
    expectStatus(403, signed(), { body: '{"b":1,"a":[2,"zwei"]}' }),
  )
  await report.try('gateway: tampered query', () =>
    expectStatus(403, signed(), { query: { symbol: 'BTCUSDT', amount: '15' } }),
  )
  await report.try('gateway: signature of another secret', () =>
    expectStatus(403, signed(), { signature: sign({ ...signed(), secret: 'guessed' }) }),
  )
  await report.try('gateway: a client that is not on the whitelist', () =>
    expectStatus(403, new GatewayClient(exchange, 'outsider').signed()),
  )
  await report.try('gateway: a key that nobody has', () =>
    expectStatus(403, { ...signed(), key: 'nobody' }),
  )
  for (const sign_ of [-1, 1]) {
    const way = sign_ < 0 ? 'behind' : 'ahead'
    await report.try(`gateway: a clock ten minutes ${way}`, async () => {
      const near = {
        ...signed(),
        timestamp: exchange.clock.now() + sign_ * (TEN_MINUTES_MS - 2000),
      }
      await expectStatus(200, near)
      const far = { ...signed(), timestamp: exchange.clock.now() + sign_ * (TEN_MINUTES_MS + 2000) }
      const { status } = await send(far)
      assert.ok(status === 400 || status === 403, `HTTP ${status}`)
      return `2 s less: HTTP 200; 2 s more: HTTP ${status}`
    })
  }
}
