import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../../src')
/** `import … from '…'` and `export … from '…'`, but for types alone: `import { type Dispatcher }` reads the file. */
const IMPORT = /^(?:import|export)(?! type)[^'"]*?from '(?<from>[^']+)'|^import '(?<bare>[^']+)'/gm

/** Everything that a start reads before `run` begins. */
function readAtStart(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  for (const { groups = {} } of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const specifier = groups['from'] ?? groups['bare'] ?? ''
    if (specifier.startsWith('.')) readAtStart(join(dirname(file), specifier), found)
    else if (!specifier.startsWith('node:')) found.add(specifier)
  }
  return found
}

function packagesOf(file: string): readonly string[] {
  return [...readAtStart(join(SOURCES, file))].filter((name) => !existsSync(name)).toSorted()
}

test('a start reads no more packages than it needs: each costs time before the first order, and memory for ever', () => {
  expect(packagesOf('cli/run/run.ts')).toEqual([
    'big.js',
    'bottleneck',
    'commander',
    'dotenv',
    'node-cron',
    'pino',
    'yaml',
    'zod',
  ])
})

test('nor does it import Node’s HTTP, which would load an HTTP client beside ours', () => {
  const importing = [...readAtStart(join(SOURCES, 'cli/run/run.ts'))].filter(
    (file) =>
      existsSync(file) &&
      /^import (?!type)[^'"]*?from 'node:https?'/m.test(readFileSync(file, 'utf8')),
  )
  expect(importing).toEqual([])
})

test('nor does it read anything of what daemons share with others', () => {
  const files = [...readAtStart(join(SOURCES, 'cli/run/run.ts'))]
  expect(files.filter((file) => file.endsWith('daemon/open-daemon.ts'))).toHaveLength(1)
  expect(files.filter((file) => file.includes('limiter/shared/'))).toEqual([])
})

test('nor does the thread of the watchdog, which is there as long as the daemon', () => {
  expect(packagesOf('daemon/watchdog/watchdog-thread.ts')).toEqual([])
})

test('nor does a sweep on one machine read anything of a server', () => {
  const packages = packagesOf('cli/sweep.ts')
  expect(packages).toContain('commander')
  expect(packages.filter((name) => name.startsWith('pg'))).toEqual([])
})
