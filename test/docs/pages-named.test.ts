import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

test.each(['README.md', 'llms.txt'])('%s names every page of docs/', (list) => {
  const text = readFileSync(join(ROOT, list), 'utf8')
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))

  expect(
    pages.filter((page) => !text.includes(`](docs/${page})`)),
    `link each of these pages in ${list}`,
  ).toEqual([])
})

test('the README is read in a few minutes: at most a thousand words', () => {
  const words = readFileSync(join(ROOT, 'README.md'), 'utf8').trim().split(/\s+/)

  expect(words.length, 'shorten the README, or move a part to a page of docs/').toBeLessThanOrEqual(
    1000,
  )
})
