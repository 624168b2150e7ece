import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { PortFront } from '../../src/control/front/port-front.ts'
import { PAGE_PATHS } from '../../src/dashboard/page-files.ts'

const TOKEN = 'canary-of-a-token-that-no-answer-may-hold'
const COMPRESSED_BYTES_MAX = 250_000

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: number
}

const fronts: PortFront[] = []
afterEach(async () => {
  for (const front of fronts.splice(0)) await front.stop()
})

/** A port whose program is asked nothing: the files are answered without it. */
class PageBench {
  #port = 0

  async open(): Promise<this> {
    const front = new PortFront({
      host: '127.0.0.1',
      port: 0,
      tokens: { full: TOKEN, read: `${TOKEN}-read` },
      monotonic: () => 0,
      post: ({ kind }) => expect(kind).toBe('refused'),
      onBroken: (reason) => expect.fail(reason),
    })
    fronts.push(front)
    this.#port = await front.start()
    return this
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
    const sent = request({ host: '127.0.0.1', port: this.#port, path, headers, agent: false })
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const body = await buffer(answer)
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: body.toString(),
      bytes: body.length,
    }
  }
}

describe('the files of the dashboard', () => {
  test('are served without a token, and hold none', async () => {
    const bench = await new PageBench().open()
    for (const path of PAGE_PATHS) {
      const answer = await bench.get(path)
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.text).not.toContain(TOKEN)
    }
  })

  test.each([
    '/index.html',
    '/screens/../api.js%00',
    '/..%2fpackage.json',
    '/vendor/package.json',
    '/screens/',
  ])('are a closed list: %s is not one of them', async (path) => {
    expect((await (await new PageBench().open()).get(path)).status).toBe(401)
  })

  test('come under a policy that runs no script but these', async () => {
    const bench = await new PageBench().open()
    const page = await bench.get('/')
    const policy = String(page.headers['content-security-policy'])
    const [, importMap = ''] = /<script type="importmap">(.*?)<\/script>/.exec(page.text) ?? []
    const hash = createHash('sha256').update(importMap).digest('base64')

    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        `script-src 'self' 'sha256-${hash}'`,
        "connect-src 'self'",
        "require-trusted-types-for 'script'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    for (const path of Object.values((JSON.parse(importMap) as { imports: object }).imports))
      expect(PAGE_PATHS).toContain(path)
  })

  test('weigh less than 250 kB, and nothing where they are as they were', async () => {
    const bench = await new PageBench().open()
    let bytes = 0
    for (const path of PAGE_PATHS) {
      const packed = await bench.get(path, { 'accept-encoding': 'gzip' })
      bytes += packed.bytes
      expect(packed.headers['content-encoding']).toBe('gzip')
      const again = await bench.get(path, { 'if-none-match': packed.headers['etag'] ?? '' })
      expect([again.status, again.text]).toEqual([304, ''])
    }
    expect(bytes).toBeLessThan(COMPRESSED_BYTES_MAX)
  })
})
