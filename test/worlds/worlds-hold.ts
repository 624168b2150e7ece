import { expect } from 'vitest'
import { runCampaign } from './campaign.ts'
import type { CampaignSummary } from './campaign-summary.ts'

/** Always the same worlds, so that a commit is what makes them fail; WORLDS_SEED=$RANDOM npm test runs others. */
const FIRST_SEED = process.env['WORLDS_SEED'] ?? '1'

/** The others of the files that vitest runs at once are busy too. */
const WORKERS = 2

/** Whether what worlds come to can be compared with what was kept: other seeds come to something else. */
export const IS_KEPT_SEED = FIRST_SEED === '1'

/** Runs so many worlds of the kind that seeds with this prefix have. @returns what they came to. */
export async function expectWorldsHold(kind: {
  readonly prefix: string
  readonly worlds: number
}): Promise<CampaignSummary> {
  const summary = await runCampaign({
    worlds: kind.worlds,
    firstSeed: `${kind.prefix}${FIRST_SEED}`,
    workers: WORKERS,
    failuresMax: Number.POSITIVE_INFINITY,
  })

  const failures = summary.failures.map(({ seed, violation }) => ({
    again: `npm run fuzz -- --seed ${seed} --worlds 1`,
    violation: `${violation.id} ${violation.detail}`,
  }))
  expect(failures).toEqual([])
  expect(summary.worlds).toBe(kind.worlds)
  return summary
}
