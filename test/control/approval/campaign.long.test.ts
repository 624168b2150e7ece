import { expect, test } from 'vitest'
import { runCampaign } from './adversary.ts'

/** A hundred thousand have been run, too: that takes a quarter of an hour. */
const STEPS = 10_000

/** It only ends a run that hangs. */
const TIMEOUT_MS = 3_600_000

test(
  '[SEC3] whatever ten thousand tool calls, messages and requests try, risk is added only with a valid code, and no answer has a secret',
  { timeout: TIMEOUT_MS },
  async () => {
    const { violations, leaks, confirmed } = await runCampaign('powers, long', { steps: STEPS })

    expect(violations).toEqual([])
    expect(leaks).toEqual([])
    expect(confirmed).toBeGreaterThan(100)
  },
)
