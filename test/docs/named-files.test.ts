import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Files that a reader is told to make. */
const OF_READERS = new Set([
  'strategies/day-dip.ts',
  'strategies/NAME.ts',
  'test/strategies/NAME.test.ts',
])

const NAMED = /`([\w.-]+(?:\/[\w.-]+)+\.ts)`/g

/** The source files that a page names and that do not exist, as they stand there: from the root or from a folder of it. */
function findMissing(page: string, files: readonly string[]): readonly string[] {
  return [...page.matchAll(NAMED)]
    .map(([, path = '']) => path)
    .filter(
      (path) => !OF_READERS.has(path) && !files.some((file) => `/${file}`.endsWith(`/${path}`)),
    )
}

const FOLDERS = ['src', 'test', 'strategies', 'bench', 'scripts', 'conformance/cases']

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path}`,
  )
}

test('every source file that a page names exists', () => {
  const files = FOLDERS.flatMap(listFiles)
  const pages = [...readdirSync('.'), ...listFiles('docs')].filter(
    (file) => file.endsWith('.md') && file !== 'CHANGELOG.md',
  )
  const missing = pages.flatMap((page) =>
    findMissing(readFileSync(page, 'utf8'), files).map((path) => `${page}: ${path}`),
  )

  expect(pages.length).toBeGreaterThan(20)
  expect(missing, 'write where the file is now, or take its name out').toEqual([])
})

test('a file that was joined to another one is found', () => {
  const page = 'see `lib/clock.ts`, `src/lib/clock.ts` and `lib/steady-clock.ts`'

  expect(findMissing(page, ['src/lib/clock.ts'])).toEqual(['lib/steady-clock.ts'])
})
