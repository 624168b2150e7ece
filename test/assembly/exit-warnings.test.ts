import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listExitWarnings } from '../../src/assembly/strategies/exit-warnings.ts'
import { readStrategies } from '../../src/assembly/strategies/strategies.ts'
import { toInstruments } from '../../src/assembly/settings/engine-settings.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'

const ROOT = join(import.meta.dirname, '../..')
const DIP = 'strategies=["strategies/examples/dip.yaml"]'

async function warningsWith(...params: readonly string[]): Promise<readonly string[]> {
  const loaded = loadConfig({ file: 'config/paper.yaml', cwd: ROOT, overrides: [DIP], params })
  const { config, documents } = loaded
  const { strategies } = await readStrategies(config, documents, toInstruments(config))
  return listExitWarnings([{ loaded, strategies }]).map(formatProblem)
}

test('a stop that sizes are counted from, and another one in exits, is warned of', async () => {
  expect(await warningsWith()).toEqual([])
  expect(await warningsWith('dip-btc.stopDistance=0.01')).toEqual([
    expect.stringMatching(
      /dip-btc\.stopDistance: 0\.01, and exits\.stop\.distance is 0\.02: .* a stop loses 2 times of what is meant/,
    ),
  ])
})
