import { expect, test } from 'vitest'
import { figuresOf, readKeptFigures } from './kept-figures.ts'
import { markFunctions } from './mark-functions.ts'
import { takeWalks } from './take-walks.ts'
import { WalkLog } from './walk-log.ts'
import { filesOf } from './walks.ts'

/**
 * The same program differs by so much from run to run, by what else it did meanwhile: a price
 * entered 78 to 80 files, and 479 to 523 functions.
 */
const SCATTER = { files: 1.03, functions: 1.06 }

test(
  'no story becomes longer than docs/path-of-a-price.md says',
  { timeout: 300_000 },
  async () => {
    const measured = (await takeWalks()).map(figuresOf)
    const kept = readKeptFigures()
    expect(measured.map(({ title }) => title)).toEqual(kept.map(({ title }) => title))
    const longer = measured.filter(({ files, functions }, index) => {
      const story = kept[index]
      return (
        files > SCATTER.files * (story?.files ?? 0) ||
        functions > SCATTER.functions * (story?.functions ?? 0)
      )
    })
    expect(
      longer,
      'shorten it, or say in the commit why it is longer: npm run walk -- --keep',
    ).toEqual([])
  },
)

test('each function is marked, whatever its form', () => {
  const names: string[] = []
  const source = [
    'function named(one: number): number { return one }',
    'const arrow = (one: number) => (two: number) => one + two',
    'const object = { method() { return arrow(1)(2) }, async later() { return named(3) } }',
    'class Counter { #count = 0; get count(): number { return this.#count } }',
    'export const empty = () => {}',
    'return [named(1), object.method(), new Counter().count, empty()]',
  ].join('\n')
  const marked = markFunctions(
    'a.ts',
    source.replace('export ', '').replace('return [', 'result = ['),
    names,
  )
  expect(names.map((name) => name.slice('a.ts:'.length))).toEqual([
    'named',
    'arrow',
    'callback',
    'method',
    'later',
    'count',
    'empty',
  ])
  expect(marked.match(/__entered\(\d+\)/g)).toHaveLength(names.length)
  expect(marked.match(/__left\(\d+/g)).toHaveLength(names.length - 1)
})

test('a log is cut from a call to its return, without the simulator', () => {
  const log = new WalkLog(
    ['a.ts:f', 'b.ts:g', 'simulator/c.ts:h', 'a.ts:k'],
    Int32Array.of(1, 2, 1, -1, 3, -3, -2, -1, 4),
  )
  const [from = -1] = log.entriesOf('a.ts:f')
  expect(log.returnOf(from)).toBe(7)
  const functions = log.functionsBetween(from, log.returnOf(from))
  expect(functions).toEqual(['a.ts:f', 'b.ts:g'])
  expect(filesOf({ title: '', functions })).toEqual(['a.ts', 'b.ts'])
  expect(() => log.entriesOf('a.ts:gone')).toThrow('renamed')
})
