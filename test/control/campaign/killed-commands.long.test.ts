import { afterAll, expect, test } from 'vitest'
import { killLeftOver } from '../../daemon/intentd-process.ts'
import { runKilledCommands } from './killed-commands.ts'
import type { PlantedLoss } from './planted-loss.ts'

/** It only ends a run that hangs. */
const TIMEOUT_MS = 1_800_000

afterAll(() => killLeftOver())

test(
  '[ORD5] [RSK2] a daemon killed right after its answer, or before it, has obeyed what it called obeyed, and once',
  { timeout: TIMEOUT_MS },
  async () => {
    const { violations, kills, obeyed } = await runKilledCommands({ seed: 'killed-6', kills: 4 })

    expect(violations).toEqual([])
    expect(kills).toBe(4)
    expect(Object.keys(obeyed)).toEqual(expect.arrayContaining(['release', 'restrict']))
  },
)

test.each<readonly [PlantedLoss, string, string]>([
  ['haltNotWritten', 'killed-27', 'the journal does not have it'],
  ['answersForgotten', 'killed-23', 'a later halt was released'],
])('the kills show a planted error: %s', { timeout: TIMEOUT_MS }, async (planted, seed, found) => {
  const { violations } = await runKilledCommands({ seed, kills: 3, planted })

  expect(violations.join('\n')).toContain(found)
})
