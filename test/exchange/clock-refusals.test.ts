import { describe, expect, test } from 'vitest'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { type Grant } from '../../src/exchange/limiter/grant.ts'
import { type ReceivedRequest, jsonAnswer } from '../support/wire-server.ts'
import { BATCH, closeClientsAfterEach, openClient } from './client-fixture.ts'

closeClientsAfterEach()

const HOUR_MS = 3_600_000
const READ = { productType: 'USDT-FUTURES', symbol: 'BTCUSDT', marginCoin: 'USDT' } as const
const CANCEL = { productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

const signedAt = ({ headers }: ReceivedRequest): number => Number(headers['access-timestamp'])

/** An exchange whose clock is so far ahead of ours, and which refuses what is signed with another time. */
async function openStrict(aheadMs: number, requestTimeOf: (now: number) => unknown = (now) => now) {
  const opened = await openClient()
  opened.server.script = (request, socket) => {
    const now = Date.now() + aheadMs
    const isPublic = request.target.includes('/market/')
    const isTimely = isPublic || Math.abs(signedAt(request) - now) < 10_000
    const refusal = {
      code: '40008',
      msg: 'Request timestamp expired',
      requestTime: requestTimeOf(now),
    }
    const isCancel = request.method === 'POST'
    const data = isCancel ? { successList: [], failureList: [] } : null
    const success = { code: '00000', msg: 'success', requestTime: now, data }
    socket.write(jsonAnswer(isTimely ? success : refusal))
  }
  return opened
}

describe('a refused time', () => {
  test.each([
    ['a number', (now: number) => now],
    ['a string', (now: number) => String(now)],
  ])('is repaired by the refusal itself: its requestTime is %s', async (_, requestTimeOf) => {
    for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
      const { server, client, offset } = await openStrict(aheadMs, requestTimeOf)
      expect(await client.call('singlePosition', READ)).toMatchObject({ kind: 'accepted' })
      expect(await client.call('cancelAllOrders', CANCEL)).toMatchObject({ kind: 'accepted' })
      // The accepted answer of the first told the time for all others.
      expect(server.requests.length).toBe(3)
      expect(Math.abs(offset.offsetMs - aheadMs)).toBeLessThan(1000)
    }
  })

  test('is asked for by one more grant: the limits hold', async () => {
    const granted: string[] = []
    const grant: Grant = {
      endpoint: 'cancelAllOrders',
      release: () => undefined,
      unused: () => undefined,
    }
    const limiter = {
      request: (endpoint: string, _: number, onGranted: (one: Grant) => void) => {
        granted.push(endpoint)
        onGranted(grant)
        return { cancel: () => undefined }
      },
    }
    const { server, client } = await openClient({ limiter })
    server.script = (_, socket) =>
      void socket.write(jsonAnswer({ code: '40008', msg: '', requestTime: Date.now() + HOUR_MS }))
    expect(await client.call('cancelAllOrders', CANCEL)).toMatchObject({ code: '40008' })
    expect([granted, server.requests.length]).toEqual([['cancelAllOrders', 'cancelAllOrders'], 2])
  })

  test('of a refusal without a time is not repeated at once; later calls are signed with our own in turn', async () => {
    const { server, client, offset } = await openStrict(0, () => undefined)
    const now = Date.now()
    for (let sample = 0; sample < 2; sample++)
      offset.observe({ requestTime: now + HOUR_MS, sentAt: now, receivedAt: now }, 'signed')
    const answers = []
    for (let call = 0; call < 3; call++) answers.push(await client.call('cancelAllOrders', CANCEL))
    expect(answers.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'accepted'])
    expect(server.requests.map((one) => Math.round((signedAt(one) - now) / HOUR_MS))).toEqual([
      1, 1, 1, 0,
    ])
  })

  test('[ORD1] of a batch, or of a cancel-all that was recorded with a time, is nothing that the client repeats', async () => {
    const { server, client } = await openStrict(HOUR_MS)
    await client.call('batchPlaceOrder', BATCH)
    await client.call('cancelAllOrders', {
      ...CANCEL,
      requestTime: '1700000000000',
      receiveWindow: '5000',
    })
    expect(server.requests.length).toBe(2)
  })

  test('is no measurement: only what was accepted tells the time', async () => {
    const { server, client, offset } = await openClient()
    server.script = (_, socket) =>
      void socket.write(jsonAnswer({ code: '40008', msg: '', requestTime: Date.now() + HOUR_MS }))
    for (let call = 0; call < 3; call++) await client.call('singlePosition', READ)
    expect([offset.offsetMs, offset.origin]).toEqual([0, 'public'])
  })
})

test('public answers never move the clock that signs', async () => {
  const { server, client, offset } = await openClient()
  let publicAheadMs = 0
  server.script = ({ target }, socket) => {
    const isPublic = target.includes('/market/')
    const requestTime = Date.now() + (isPublic ? publicAheadMs : 0)
    socket.write(jsonAnswer({ code: '00000', msg: '', requestTime, data: isPublic ? [] : null }))
  }
  for (let read = 0; read < 2; read++) await client.call('singlePosition', READ)
  publicAheadMs = HOUR_MS
  for (let read = 0; read < 5; read++) await client.readTickers(new TickerTable(), 'USDT-FUTURES')
  expect(Math.abs(offset.offsetMs)).toBeLessThan(1000)
  expect(offset.apart?.publicMs).toBeGreaterThan(HOUR_MS - 1000)
})
