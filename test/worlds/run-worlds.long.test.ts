import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('the timeline of a world of the wire is printed', { timeout: 120_000 }, () => {
  const script = join(import.meta.dirname, 'run-worlds.ts')
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [script, '--wire', '--seed', 'wire-1', '--trace'],
    { encoding: 'utf8' },
  )

  expect(stderr).toBe('')
  expect(stdout).toMatch(/batch 1 leaves [^]*\n0 violations, \d+ faults/)
  expect(status).toBe(0)
})
