import { expect, test } from 'vitest'
import { IS_WHOLE } from '../../support/share.ts'
import { runCampaign } from './adversary.ts'

/** A hundred thousand take a minute of a processor. */
const STEPS = IS_WHOLE ? 100_000 : 10_000

/** It only ends a run that hangs. */
const TIMEOUT_MS = 3_600_000

test(
  `[SEC3] whatever so many tool calls, messages and requests try: ${STEPS}, risk is added only with a valid code, and no answer has a secret`,
  { timeout: TIMEOUT_MS },
  async () => {
    const { violations, leaks, confirmed } = await runCampaign('powers, long', { steps: STEPS })

    expect(violations).toEqual([])
    expect(leaks).toEqual([])
    expect(confirmed).toBeGreaterThan(100)
  },
)
