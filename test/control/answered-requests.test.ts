import { expect, test } from 'vitest'
import {
  AnsweredRequests,
  type AnsweredRequest,
  WRITTEN_WITHIN_MS,
} from '../../src/control/answered-requests.ts'
import type { ControlAnswer, ControlRequest } from '../../src/control/commands.ts'
import { ManualTime } from '../support/manual-time.ts'

const HALT: ControlRequest = {
  requestId: 'request-1',
  reason: 'odd prices',
  by: 'anna',
  order: { kind: 'restrict', scope: '*', mode: 'halted' },
}
const OBEYED: ControlAnswer = {
  requestId: 'request-1',
  isObeyed: true,
  text: '* is held halted',
  held: [],
  lifted: [],
  stillHeld: {},
}

const BROKEN: ControlAnswer = {
  ...OBEYED,
  isObeyed: false,
  isUncertain: true,
  text: 'not confirmed: the run ended',
}
const DROPPED: ControlAnswer = { ...OBEYED, isObeyed: false, text: 'not done: it was dropped' }

/** Each command is written when the test says so. */
function openScene() {
  const time = new ManualTime(1_767_225_600_000)
  const saved: (readonly AnsweredRequest[])[] = []
  const answered = new AnsweredRequests({
    store: { load: () => [], save: (answers) => saved.push(answers) },
    now: () => time.now(),
    timers: time,
  })
  const written: ((answer: ControlAnswer) => void)[] = []
  const send = (request: ControlRequest = HALT) =>
    answered.once(request, () => {
      const record = Promise.withResolvers<ControlAnswer>()
      written.push(record.resolve)
      return { answer: OBEYED, written: record.promise, unwritten: 'it acts here' }
    })
  return { time, saved, written, send }
}

test('[RSK2] a command is answered as obeyed, and its answer kept, when its record is durable', async () => {
  const { saved, written, send } = openScene()
  const answers: unknown[] = []
  const first = send().then((answer) => answers.push(answer))
  const again = send().then((answer) => answers.push(answer))
  await new Promise((resolve) => setImmediate(resolve))
  expect([answers, saved, written.length]).toEqual([[], [], 1])

  written[0]?.(OBEYED)
  await Promise.all([first, again])

  const repeated = { ...OBEYED, text: `sent again; when it came first: ${OBEYED.text}` }
  expect(answers).toEqual([OBEYED, repeated])
  expect(saved).toMatchObject([[{ answer: OBEYED }]])
  expect(await send()).toEqual(repeated)
  expect(written).toHaveLength(1)
})

test('[RSK2] one whose record is not durable in time is answered as uncertain, and known when it is', async () => {
  const { time, saved, written, send } = openScene()
  const first = send()
  await time.pass(WRITTEN_WITHIN_MS)

  expect(await first).toMatchObject({
    isObeyed: false,
    isUncertain: true,
    text: expect.stringMatching(/^not confirmed: .* does not have it yet; it acts here$/),
  })
  expect(saved).toEqual([])
  expect(await send({ ...HALT, reason: 'another' })).toBe('other')
  const again = send()
  written[0]?.(OBEYED)
  expect(await again).toMatchObject({ isObeyed: true })
  expect(saved).toHaveLength(1)
  expect(written).toHaveLength(1)
})

test('[RSK2] one whose run broke down first is answered as uncertain, and obeyed anew when it is repeated', async () => {
  const { saved, written, send } = openScene()
  const first = send()
  written[0]?.(BROKEN)

  expect(await first).toEqual(BROKEN)
  expect(saved).toEqual([])
  const again = send()
  written[1]?.(OBEYED)
  expect(await again).toEqual(OBEYED)
})

test('[ORD7] one that was dropped before its record was durable is answered as that, also when it is repeated', async () => {
  const { saved, written, send } = openScene()
  const first = send()
  written[0]?.(DROPPED)

  expect(await first).toEqual(DROPPED)
  const repeated = { ...DROPPED, text: `sent again; when it came first: ${DROPPED.text}` }
  expect(await send()).toEqual(repeated)
  expect(written).toHaveLength(1)
  expect(saved).toMatchObject([[{ answer: DROPPED }]])
})
