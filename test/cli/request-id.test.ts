import { expect, test } from 'vitest'
import { newRequestId } from '../../src/cli/operator/request-id.ts'
import {
  AnsweredRequests,
  REQUESTS_KEPT_MAX,
  type AnsweredRequest,
} from '../../src/control/answered-requests.ts'
import type { RequestedCommand } from '../../src/control/powers.ts'
import { systemClock } from '../../src/lib/clock.ts'

const HOUR_MS = 3_600_000

/** The last hundred commands were answered so long from now. */
function answeredIn(ms: number): AnsweredRequests {
  const answeredAt = systemClock.now() + ms
  const nothing = { isObeyed: true, text: '', held: [], lifted: [], stillHeld: {} }
  const answers = Array.from({ length: REQUESTS_KEPT_MAX }, (_, index): AnsweredRequest => ({
    digest: 'other',
    answer: { requestId: `answered-${index}`, ...nothing },
    isKept: true,
    answeredAt,
  }))
  return new AnsweredRequests({ store: { load: () => answers, save: () => undefined } })
}

test('an id of the command line carries its time, by which one that may be forgotten is outdated', () => {
  const order: RequestedCommand = { kind: 'release', scope: 'BTCUSDT' }
  const request = { requestId: newRequestId(), reason: 'checked', by: 'anna', order }

  expect(answeredIn(-HOUR_MS).recall(request)).toBe('unknown')
  expect(answeredIn(HOUR_MS).recall(request)).toBe('outdated')
  expect(newRequestId()).not.toBe(newRequestId())
})
