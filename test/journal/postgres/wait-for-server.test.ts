import { expect, test } from 'vitest'
import { type StandbyState, waitForServer } from '../../../src/journal/postgres/follow.ts'
import { Failure } from '../../../src/lib/failure.ts'

/** Somebody who opens a journal while its server says this, one after the other. */
function openWhile(answers: readonly unknown[]) {
  const states: StandbyState[] = []
  const waiting = [...answers]
  const opened = waitForServer(
    () => {
      const answer = waiting.shift()
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    { onState: (state) => states.push(state), pause: () => Promise.resolve() },
  )
  return { opened, states }
}

test('a standby that starts while its server is away waits for it, and says so', async () => {
  const away = new Error('connect ECONNREFUSED')
  const { opened, states } = openWhile([away, away, 'open'])

  expect(await opened).toBe('open')
  expect(states).toEqual([
    expect.objectContaining({ holder: '', trouble: 'connect ECONNREFUSED' }),
    expect.objectContaining({ trouble: 'connect ECONNREFUSED' }),
  ])
})

test.each([
  new Failure({ code: 'JOURNAL_SERVER_OLD', sentence: 'the server is too old' }),
  new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
])('what another try does not mend ends it: %s', async (error) => {
  const { opened, states } = openWhile([error, 'open'])

  await expect(opened).rejects.toBe(error)
  expect(states).toEqual([])
})

test('a standby that is stopped while it waits tries no more', async () => {
  const stopped = new Error('stopped')
  const opened = waitForServer(() => Promise.reject(new Error('connect ECONNREFUSED')), {
    onState: () => undefined,
    pause: () => Promise.reject(stopped),
  })

  await expect(opened).rejects.toBe(stopped)
})
