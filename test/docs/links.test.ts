import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** The targets of all links of a page that stay in the repository. */
function listTargets(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors of a page, as GitHub derives them from its headings. */
function listAnchors(text: string): readonly string[] {
  return [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

type Read = (path: string) => string | undefined

/** The links of a page that lead nowhere, as they stand there. */
function findBroken(page: string, read: Read): readonly string[] {
  return listTargets(read(page) ?? '').filter((target) => {
    const [file = '', anchor] = target.split('#')
    const text = read(file === '' ? page : normalize(join(dirname(page), file)))
    if (text === undefined) return true
    return anchor !== undefined && !listAnchors(text).includes(anchor)
  })
}

const readHere: Read = (path) => {
  if (!existsSync(path)) return undefined
  return statSync(path).isFile() ? readFileSync(path, 'utf8') : ''
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => !path.includes('/node_modules/') && statSync(path).isFile())
}

const pages = [...readdirSync('.'), ...listFiles('docs')].filter(
  (file) => file.endsWith('.md') || file === 'llms.txt',
)

test('every link of a page leads to a file, and to a heading of it', () => {
  const broken = pages.flatMap((page) =>
    findBroken(page, readHere).map((target) => `${page}: ${target}`),
  )

  expect(pages.length).toBeGreaterThan(20)
  expect(broken).toEqual([])
})

test('every page that a program, a comment or a setting names exists, with the heading it names', () => {
  const files = ['src', 'deploy', 'config', 'bin', 'bench', 'scripts'].flatMap(listFiles)
  const missing = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w-]+\.md(?:#[\w-]+)?/g)].flatMap(([named]) =>
      findBroken('page', (path) => (path === 'page' ? `](${named})` : readHere(path))).map(
        (target) => `${file}: ${target}`,
      ),
    ),
  )

  expect(missing).toEqual([])
})

test('a link to a page or heading that is gone is found', () => {
  const read: Read = (path) =>
    new Map([
      ['docs/a.md', '[b](b.md#what-if) [c](c.md) [b](b.md#gone) [here](#top) [x](https://x.y/z)'],
      ['docs/b.md', '# B\n\n## What, if?\n'],
    ]).get(path)

  expect(findBroken('docs/a.md', read)).toEqual(['c.md', 'b.md#gone', '#top'])
})
