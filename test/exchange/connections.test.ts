import { expect, test } from 'vitest'
import { Transport } from '../../src/exchange/client/transport.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { findPort } from '../support/free-port.ts'

/** More than connections may be open at a time, and than wait for one. */
const CALLS = 40

test('where no connection can be made, every call ends as not sent, also those that waited for another', async () => {
  const baseUrl = `http://127.0.0.1:${await findPort()}`
  const transport = new Transport({
    baseUrl,
    clock: systemClock,
    timers: systemTimers,
    answerBytesMax: 1e3,
  })
  const request = {
    method: 'GET' as const,
    target: '/',
    headers: [],
    body: '',
    timeoutMs: 6e4,
    answerBytesMax: 1e3,
    read: () => undefined,
  }

  const outcomes = await Promise.all(Array.from({ length: CALLS }, () => transport.send(request)))
  await transport.close()

  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['notSent']))
  expect(outcomes).toHaveLength(CALLS)
})
