// `npm test` runs the short share, `npm run test:all` both, `npm run test:whole` also all cases of
// tests that otherwise take a part.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const IS_WHOLE = process.env['TEST_SHARE'] === 'whole'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'test')

const STARTERS = ['node:child_process', 'playwright-core', 'src/simulator/start-simulator.ts']

const LONG_NAME = /\.long\.test\.ts$/

/**
 * One test of each kind of program runs in the short share too, so that `npm test` notices general
 * breakage.
 */
export const SAMPLES: Readonly<Record<string, string>> = {
  'test/daemon/run.test.ts': 'the daemon in a process',
  'test/dashboard/tab-memory.test.ts': 'the dashboard in a browser',
  'test/journal/postgres/lease.test.ts': 'a journal on a server',
  'test/simulator/wire/start-simulator.test.ts': 'the exchange behind a port',
  'test/tidy.test.ts': 'git, which lists the files',
}

/** Imports of files and packages; type imports do not count. */
const IMPORT =
  /(?:^|\n)(?:import|export) (?!type )(?:[^'";]*? from )?'([^']+)'|\bimport\('([^']+)'\)|\bnew URL\(\s*'([^']+\.ts)'/g

/** Paths from the root of the repository. */
export function listShares(): {
  readonly short: readonly string[]
  readonly long: readonly string[]
} {
  const tests = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map((path) => join('test', path).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.test.ts'))
    .toSorted()
  return { short: tests.filter((path) => !isLong(path)), long: tests.filter(isLong) }
}

/** A test is long if it starts programs and is no sample, or by its name. */
export function isLong(path: string): boolean {
  return LONG_NAME.test(path) || (!(path in SAMPLES) && startsPrograms(path))
}

/** The file, or one of test/ that it imports, can start a program. */
export function startsPrograms(path: string): boolean {
  const found = [join(ROOT, path)]
  for (const file of found) {
    for (const [, plain, late, thread] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const specifier = plain ?? late ?? thread ?? ''
      const target = specifier.startsWith('.')
        ? relative(ROOT, join(dirname(file), specifier)).replaceAll('\\', '/')
        : specifier
      if (STARTERS.includes(target)) return true
      const next = join(ROOT, target)
      if (target.startsWith('test/') && !found.includes(next) && existsSync(next)) found.push(next)
    }
  }
  return false
}

/** Every n-th one from the first; all of them in `npm run test:whole`. */
export function shareOf<T>(whole: readonly T[], nth: number): readonly T[] {
  return IS_WHOLE ? whole : whole.filter((_, index) => index % nth === 0)
}
