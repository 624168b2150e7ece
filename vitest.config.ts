import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Threads and processes of the tests take what was compiled before: a quarter of the time of a thread of worlds.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'compile')

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Node's own loader, as in production: what Node refuses to strip fails here too.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    // One more than the usual two cores: daemons that are started wait a good deal.
    maxWorkers: 3,
    // Files share a process and its modules, which are read once: each puts back what it changes there.
    isolate: false,
    // No test depends on how fast the machine is: these only end one that hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
    setupFiles: ['./test/support/open-resources.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
})
