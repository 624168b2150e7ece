import { expect, test } from 'vitest'
import { ArrivalBounds } from '../../src/exchange/limiter/arrival-bounds.ts'

const DAY_MS = 86_400_000

test('[LIM1] after days without a call the first is not said to have been taken before it was', () => {
  const bounds = new ArrivalBounds()
  for (let call = 0; call < 20; call++) {
    const sentAt = 1000 * call
    bounds.observe({ sentAt, requestTime: sentAt + 10, receivedAt: sentAt + 20 })
  }

  const sentAt = 3 * DAY_MS
  const takenAt = bounds.observe({ sentAt, requestTime: sentAt + 28, receivedAt: sentAt + 31 })

  expect(takenAt).toBeGreaterThanOrEqual(sentAt + 28)
})
