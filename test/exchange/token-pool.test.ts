import { afterEach, expect, test, vi } from 'vitest'
import { systemTimers } from '../../src/lib/timers.ts'
import { BottleneckPool } from '../../src/exchange/limiter/call-window.ts'

afterEach(() => void vi.restoreAllMocks())

test('[LIM2] a machine clock that is set back does not hold tokens up', async () => {
  const wall = Date.now()
  const now = vi.spyOn(Date, 'now').mockReturnValue(wall)
  let notify: () => void = () => undefined
  const pool = new BottleneckPool({
    tokens: 2,
    stockMin: 1,
    onStock: () => notify(),
    timers: systemTimers,
  })
  const stocked = (): Promise<void> =>
    new Promise((resolve) => {
      notify = resolve
    })
  expect(pool.stock).toBe(1)

  now.mockReturnValue(wall - 300_000)
  const next = stocked()
  pool.take()
  await next
  const returned = stocked()
  pool.take()
  pool.giveBack()
  await returned

  expect(pool.stock).toBe(1)
  await pool.stop()
})

test('[LIM2] what the stock lacks is fetched at once, however long a turn of the loop takes', async () => {
  const pool = new BottleneckPool({
    tokens: 100,
    stockMin: 32,
    onStock: () => undefined,
    timers: systemTimers,
  })
  for (let taken = 0; taken < 32; taken++) pool.take()
  let turns = 0
  for (; pool.stock < 32 && turns < 32; turns++) {
    const startedAt = performance.now()
    while (performance.now() - startedAt < 5) Math.random()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }

  // A job takes three turns of a timer; a job a token would take 32 times as many.
  expect([pool.stock, turns < 32]).toEqual([32, true])
  for (let taken = 0; taken < 32; taken++) pool.take()
  await pool.stop()
})

test('[LIM2] with an empty reservoir each token that is given back comes into stock', async () => {
  let notify: () => void = () => undefined
  const pool = new BottleneckPool({
    tokens: 4,
    stockMin: 4,
    onStock: () => notify(),
    timers: systemTimers,
  })
  for (let taken = 0; taken < 4; taken++) pool.take()
  for (const back of [1, 3]) {
    const before = pool.stock
    for (let given = 0; given < back; given++) pool.giveBack()
    while (pool.stock < before + back) await new Promise<void>((resolve) => (notify = resolve))
  }

  expect(pool.stock).toBe(4)
  expect(() => {
    for (let taken = 0; taken < 5; taken++) pool.take()
  }).toThrow('no token')
  await pool.stop()
})
