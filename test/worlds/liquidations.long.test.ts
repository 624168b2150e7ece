import { expect, test } from 'vitest'
import { LIQUIDATIONS, planLiquidation } from '../support/liquidations/liquidation-plan.ts'
import { addTallies, NO_WORLDS, tallyWorld } from '../support/liquidations/liquidation-tally.ts'
import { runLiquidationWorld } from '../support/liquidations/liquidation-world.ts'
import { MUTANTS } from './mutants.ts'
import { WorldThread } from './world-thread.ts'

const WORLDS = 40
/** It is no promise about speed: it ends a campaign that hangs, on the slowest machine too. */
const PATIENCE_MS = 3_600_000

const numbers = Array.from({ length: WORLDS }, (_, index) => index + 1)

test(
  `in ${WORLDS} worlds no move within the budget liquidates, and each price of a liquidation is known to a tick`,
  {
    timeout: PATIENCE_MS,
  },
  () => {
    const tally = numbers.map(tallyWorld).reduce(addTallies, NO_WORLDS)

    expect(tally.failures).toEqual([])
    expect(tally).toMatchObject({ worlds: WORLDS, liquidatedOn: 0 })
    expect(tally.liquidatedOff).toBeGreaterThanOrEqual(WORLDS / 10)
    expect(tally.compared).toBeGreaterThan(5 * WORLDS)
    expect(tally.foretold).toBeGreaterThan(0)
    expect(tally.silent.worlds).toBe(WORLDS / 10)
  },
)

/** Found by campaigns. */
const FAILED_ONCE = [
  // A short was turned within two seconds of a payment, which no reading showed.
  48_507,
  // A payment that a waiting reading showed moved the liquidation of the other instrument.
  47_862,
]

test('worlds that failed once hold', { timeout: PATIENCE_MS }, () => {
  const tally = FAILED_ONCE.map(tallyWorld).reduce(addTallies, NO_WORLDS)

  expect(tally.failures).toEqual([])
  expect(tally).toMatchObject({ worlds: FAILED_ONCE.length, liquidatedOn: 0 })
})

test(
  'a budget of a fifth of the moves that come saves not all of them',
  { timeout: PATIENCE_MS },
  () => {
    const liquidated = numbers
      .slice(0, 16)
      .map((number) => planLiquidation(`${LIQUIDATIONS}${number}`))
      .filter((plan) => runLiquidationWorld(plan, plan.move / 5).liquidations > 0)

    expect(liquidated.length).toBeGreaterThan(0)
  },
)

/** The first world that notices each error, as `npm run fuzz -- --mutants NAME` finds it. */
const NOTICED_IN: Readonly<Record<string, number>> = {
  'worst-case-without-what-rests': 28,
  'worst-case-of-one-alone': 28,
  'worst-case-without-maintenance': 31,
  'payment-that-ended-unread': 48_507,
}

test.each(MUTANTS.filter(({ liquidates }) => liquidates))(
  'a world is liquidated with $name',
  { timeout: PATIENCE_MS },
  async (mutant) => {
    const thread = new WorldThread({ mutant })
    const seeds = [`${LIQUIDATIONS}${NOTICED_IN[mutant.name]}`]
    const { summary } = await thread.perform<'run'>({ kind: 'run', seeds })
    await thread.stop()

    expect(summary.failures).toMatchObject([{ violation: { id: 'LIQUIDATED' } }])
  },
)
