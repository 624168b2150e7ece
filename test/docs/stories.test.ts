import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Step {
  /** Below `src/`. */
  readonly file: string
  readonly functions: readonly string[]
}

/** The rows of the tables whose second column is `file` `function`; one without a file goes on in the file above. */
function stepsOf(page: string): readonly Step[] {
  const steps: Step[] = []
  for (const [, column = ''] of page.matchAll(/^\|[^|]*\|((?: `[^`|]+`)+) \|/gm)) {
    const names = [...column.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const named = names.find((name) => name.endsWith('.ts'))
    const file = named ?? steps.at(-1)?.file ?? 'the first row names no file'
    steps.push({ file, functions: names.filter((name) => name !== named) })
  }
  return steps
}

/** A function, a constant or a method with this name is declared. Methods begin a line of a class. */
function declares(source: string, name: string): boolean {
  const ofModule = `(?:function\\*? |const )${name}(?:<[^(]*>)?(?:\\(| = )`
  const ofClass = `^ {2}(?:async |static |get )*${name}(?:<[^(]*>)?(?:\\((?:.*[{(])?$| = )`
  return new RegExp(`${ofModule}|${ofClass}`, 'm').test(source)
}

test('every function of the stories is in the file that the page names', () => {
  const steps = stepsOf(readFileSync('docs/path-of-a-price.md', 'utf8'))
  const missing = steps.flatMap(({ file, functions }) => {
    const source = readFileSync(`src/${file}`, 'utf8')
    return functions.filter((name) => !declares(source, name)).map((name) => `${file}: ${name}`)
  })

  expect(steps.length).toBeGreaterThan(60)
  expect(steps.filter(({ functions }) => functions.length === 0)).toEqual([])
  expect(missing, 'name the function as it is called now').toEqual([])
})

test('a function that was renamed is found', () => {
  const [first, second] = stepsOf('| a | `x/y.ts` `one` | . |\n| | `two` | . |\n')

  expect(first).toEqual({ file: 'x/y.ts', functions: ['one'] })
  expect(second).toEqual({ file: 'x/y.ts', functions: ['two'] })
  expect(declares('export function one(): void {}\nclass A {\n  #two(): void {}\n}', 'one')).toBe(
    true,
  )
  expect(declares('class A {\n  #two(): void {\n  }\n}', '#two')).toBe(true)
  expect(declares('export function one(): void {\n  two()\n}', 'two')).toBe(false)
})
