import { expect, test } from 'vitest'
import { BackgroundReadings } from '../../src/daemon/explain/background-readings.ts'

test('what cannot be read is said, and more than eight readings at a time are turned away', async () => {
  const readings = new BackgroundReadings({
    config: {
      account: {},
      instruments: {},
    } as never,
    journal: '/there/is/no/journal.sqlite',
    backtests: '/there/is/no/folder',
  })
  try {
    expect(await readings.ask({ kind: 'backtests' })).toEqual([])
    const answers = await Promise.allSettled(
      Array.from({ length: 9 }, () =>
        readings.ask({ kind: 'explain', query: { subject: 'a-key' } }),
      ),
    )
    const reasons = answers.map((answer) =>
      answer.status === 'rejected' ? String(answer.reason) : 'answered',
    )
    expect(reasons.filter((reason) => reason.includes('too much is asked for'))).toHaveLength(1)
    expect(reasons.filter((reason) => reason.includes('the journal was not read'))).toHaveLength(9)
  } finally {
    readings.stop()
  }
})
