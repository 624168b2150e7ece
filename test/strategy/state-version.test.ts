import { expect, test } from 'vitest'
import { defineStrategy, z } from '../../src/strategy/contract.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { madeInstrument, madeSnapshot } from '../support/market-moment.ts'

const clock = { now: () => 0, monotonic: () => 0 }

interface Counted {
  readonly count: number
}

function counterOf(state?: {
  readonly version: number
  migrate?(old: unknown, version: number): Counted
}): Strategy {
  return defineStrategy({
    name: 'counter',
    params: z.strictObject({}),
    ...(state && { state }),
    initialState: (): Counted => ({ count: 0 }),
    decide: (_, { state: { count } }) => ({
      intents: [],
      state: { count: count + 1 },
    }),
  })
}

/** What is stored after one decision on what was stored before. */
function decideOn(strategy: Strategy, stateText?: string): string {
  const runner = new StrategyRunner({
    strategyId: 'c',
    strategy,
    params: {},
    instruments: [madeInstrument()],
    stateText,
    clock,
  })
  const decided = runner.decide(madeSnapshot([{}]))
  if (decided.kind !== 'decided') throw new Error(decided.message)
  // What the core writes down is what the runner says.
  expect(JSON.stringify(decided.state)).toBe(runner.stateText)
  return runner.stateText
}

const renamed = counterOf({
  version: 2,
  migrate: (old, version) => ({ count: (old as { total: number }).total * 10 + version }),
})

test('a state without a version is stored as ever', () => {
  expect(decideOn(counterOf(), '{"count":5}')).toBe('{"count":6}')
})

test('a state with a version is stored with it, and read again', () => {
  const stored = decideOn(renamed)
  expect(stored).toBe('{"stateVersion":2,"state":{"count":1}}')
  expect(decideOn(renamed, stored)).toBe('{"stateVersion":2,"state":{"count":2}}')
})

test('one of before is migrated', () => {
  expect(decideOn(renamed, '{"total":4}')).toBe('{"stateVersion":2,"state":{"count":42}}')
})

test.each([
  [
    'one of another version without a migration',
    counterOf({ version: 3 }),
    '{"stateVersion":2,"state":{"count":1}}',
  ],
  [
    'one of a later version, by a strategy that declares none',
    counterOf(),
    '{"stateVersion":2,"state":{"count":1}}',
  ],
  ['one whose migration throws', renamed, 'null'],
])('%s is refused', (_, strategy, stateText) => {
  expect(() => decideOn(strategy, stateText)).toThrow('STRATEGY_STATE_VERSION')
})
