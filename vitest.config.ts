import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { listShares } from './test/support/share.ts'

// Threads and processes of the tests take what was compiled before: a quarter of the time of a thread of worlds.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'compile')

/** Short files that take long: the last file of a run should not be one of them. The others go by their length. */
const SLOW = [
  'control/control-process',
  'install/package',
  'cli/sweep',
  'isolation/isolated-runner',
  'cli/reload',
  'worlds/worlds',
  'worlds/liquidations',
  'worlds/copies',
  'daemon/ten-accounts',
  'daemon/run.test',
  'simulator/random-calls',
  'cli/check-bias',
  'crash/crash',
  'daemon/full-disk',
  'regress/kept-',
  'daemon/changed-grids',
  'cli/process-end',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      SLOW.some((name) => moduleId.includes(name))
    const sorted = await super.sort(files)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

/** The long one starts processes, servers and browsers: test/support/share.ts has the rule. */
const { short, long } = listShares()

export default defineConfig({
  test: {
    // `npm test` runs the short share, `npm run test:all` both.
    projects: [
      { extends: true, test: { name: 'short', include: [...short] } },
      { extends: true, test: { name: 'long', include: [...long] } },
    ],
    // Node's own loader, as in production: what Node refuses to strip fails here too.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    // Two more than the usual two cores: daemons that are started wait a good deal, and three left a third of them idle.
    maxWorkers: 4,
    // Files share a process and its modules, which are read once: each puts back what it changes there.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // No test depends on how fast the machine is: these only end one that hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
    setupFiles: ['./src/strategy/install-contract.ts', './test/support/open-resources.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
})
