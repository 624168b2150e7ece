import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Node's own loader, as in production: what Node refuses to strip fails here too.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 10_000,
    hookTimeout: 10_000,
    teardownTimeout: 5_000,
    setupFiles: ['./test/support/open-resources.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
})
