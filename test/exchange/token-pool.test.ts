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
