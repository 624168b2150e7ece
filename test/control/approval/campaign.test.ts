import { expect, test } from 'vitest'
import { type PlantedError, runCampaign } from './adversary.ts'

test('[SEC3] whatever 2,000 tool calls, messages and requests try, risk is added only with a valid code, and no answer has a secret', async () => {
  const { violations, leaks, confirmed, proposed } = await runCampaign('powers', { steps: 2000 })

  expect(violations).toEqual([])
  expect(leaks).toEqual([])
  expect(confirmed).toBeGreaterThan(20)
  expect(proposed).toBeGreaterThan(50)
})

test.each<PlantedError>(['codeTwice', 'neverExpires', 'planUnread', 'agentConfirms', 'portObeys'])(
  'the campaign notices a planted error: %s',
  async (planted) => {
    const { violations } = await runCampaign('planted', { steps: 5000, planted })

    expect(violations.length).toBeGreaterThan(0)
  },
)
