import { afterAll, describe, expect, test } from 'vitest'
import { killLeftOver } from '../daemon/intentd-process.ts'
import { shareOf } from '../support/share.ts'
import { type CrashCase, listCases, nameCase, runCase } from './crash-case.ts'
import { type Phase, POINTS } from './points.ts'

afterAll(() => killLeftOver())

/**
 * Where a wrong order of things costs money; `npm run crash` has all of them. The sample of every run holds one that is
 * counted from a line of the log on, which a change of how the log is written would blind.
 */
const WHOLE: readonly (readonly [Phase, string])[] = [
  ['trading', 'journal.commit.send.before'],
  ['trading', 'file.rename.journal.sqlite.mark.new.before'],
  ['trading', 'journal.commit.send.after'],
  ['trading', 'wire.batch-place-order.answered'],
  ['stopping', 'journal.commit.prune.before'],
  ['trading', 'wire.batch-place-order.sent'],
  ['trading', 'wire.cancel-all-orders.sent'],
  ['flattening', 'journal.commit.send.after'],
  ['recovering', 'journal.commit.boot.after'],
  ['recovering', 'wire.cancel-all-orders.answered'],
  ['releasing', 'file.rm.KILL.after'],
]
const SAMPLE = shareOf(WHOLE, 4)

const cases = listCases(1)

/** A sample is to end soon: the later occurrences of a point are the command's. */
const TIMES_MAX = 2

/** And those in which little is lost, and little has to be waited for. */
const SCENARIOS_OF_SAMPLE: readonly string[] = ['normal', 'partial']

/** Each in another reading and mode. */
function pick([phase, name]: readonly [Phase, string], index: number): CrashCase {
  const here = cases.filter(
    ({ point, scenario }) =>
      point.phase === phase && point.name === name && SCENARIOS_OF_SAMPLE.includes(scenario),
  )
  const picked = here[index % here.length]
  if (!picked) throw new Error(`there is no point ${phase} ${name}`)
  return { ...picked, times: Math.min(picked.times, TIMES_MAX) }
}

describe('[ORD1] [ORD2] [ORD4] [ORD5] [RSK2] [DET2] killed at a named point, no order is doubled and none lost', () => {
  test.concurrent.each(
    SAMPLE.map((sample, index) => [nameCase(pick(sample, index)), index] as const),
  )('%s', async (_, index) => {
    const report = await runCase(pick(SAMPLE[index] ?? ['trading', ''], index))

    expect(report.differences).toEqual([])
    expect(report.hits).toBe(report.case.point.phase === 'recovering' ? 2 : 1)
    expect(report.orders).toBeGreaterThan(0)
  })
})

test('there are at least sixty named points, each in every idempotency reading and position mode', () => {
  const names = POINTS.map(({ phase, name }) => `${phase} ${name}`)
  const combinations = Map.groupBy(cases, ({ point }) => point)

  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(60)
  for (const [{ name }, each] of combinations) {
    expect(new Set(each.map(({ reading, mode }) => `${reading} ${mode}`)).size, name).toBe(6)
  }
})
