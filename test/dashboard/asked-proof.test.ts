import { createHmac } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'

const TOKEN = 't'.repeat(40)
const PAGE = new URL('../../src/dashboard/page/api.js', import.meta.url).href

interface Api {
  command(asked: object): Promise<unknown>
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

async function openApi(refusals: number): Promise<{ api: Api; asked: string[] }> {
  const asked: string[] = []
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  vi.stubGlobal('sessionStorage', { getItem: () => TOKEN })
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path.replace(/\?.*/, ''))
    if (!path.startsWith('/v1/proof')) return Promise.resolve(Response.json({ isObeyed: true }))
    if (asked.length <= refusals)
      return Promise.resolve(Response.json({ error: 'too many' }, { status: 429 }))
    const nonce = new URLSearchParams(path.split('?')[1]).get('nonce')
    const proof = createHmac('sha256', TOKEN).update(`intentd proof ${nonce}`).digest('hex')
    return Promise.resolve(Response.json({ proofs: [proof] }))
  })
  return { api: (await import(`${PAGE}?${refusals}`)) as Api, asked }
}

test('a proof that is refused for its rate is asked for again, and the kill is sent', async () => {
  const { api, asked } = await openApi(2)
  const done = api.command({ requestId: 'request-1', order: { kind: 'kill' }, reason: 'odd' })
  await vi.advanceTimersByTimeAsync(5000)
  expect(await done).toEqual({ isObeyed: true })
  expect(asked).toEqual(['/v1/proof', '/v1/proof', '/v1/proof', '/v1/commands'])
})

test('a daemon that has too much to answer is not called another program', async () => {
  const { api, asked } = await openApi(9)
  const done = api.command({ requestId: 'request-1', order: { kind: 'kill' }, reason: 'odd' })
  const said = expect(done).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('too much to answer') as string,
  })
  await vi.advanceTimersByTimeAsync(5000)
  await said
  expect(asked).toEqual(Array.from({ length: 5 }, () => '/v1/proof'))
})
