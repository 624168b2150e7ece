import { expect, test } from 'vitest'
import { describeDifference } from '../../src/sweep/recipe-difference.ts'

const RECIPE = {
  version: '0.1.0',
  node: 'v24.1.0',
  seed: 1,
  sha256: {
    program: 'aa'.repeat(32),
    strategies: { grid: 'bb'.repeat(32) },
    prices: { BTCUSDT: 'cc'.repeat(32) },
  },
}
const compare = (other: object): string | undefined =>
  describeDifference(JSON.stringify(RECIPE), JSON.stringify({ ...RECIPE, ...other }))

test.each([
  ['the same', {}, undefined],
  [
    'another version, whose files are others too',
    { version: '0.2.0', sha256: {} },
    'version is "0.2.0" here, "0.1.0" there',
  ],
  ['another Node', { node: 'v24.2.0' }, 'node is "v24.2.0" here, "v24.1.0" there'],
  [
    'other prices and strategies',
    { sha256: { ...RECIPE.sha256, strategies: { grid: 'dd'.repeat(32) }, prices: {} } },
    'sha256.strategies.grid is "ddddddddddd… here, "bbbbbbbbbbb… there; sha256.prices.BTCUSDT is missing here, "ccccccccccc… there',
  ],
  ['another seed', { seed: 2 }, 'seed is 2 here, 1 there'],
])('%s', (_what, other, words) => expect(compare(other)).toBe(words))
