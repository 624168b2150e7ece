import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { ConfigError, formatProblem, type Problem } from '../../src/config/yaml/problem.ts'
import { IS_WHOLE, shareOf } from '../support/share.ts'
import { FILES, Workspace } from './workspace.ts'

/** Deterministic: every setting of the shipped files, broken in every way, one at a time. */

let workspace: Workspace
beforeAll(() => {
  workspace = new Workspace()
  workspace.fill({ ...FILES, ...SHIPPED, 'config/main.yaml': SHIPPED['config/paper.yaml'] })
})
afterAll(() => workspace.remove())

const shipped = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')

const SHIPPED = {
  'config/paper.yaml': shipped('config/paper.yaml'),
  'config/simulator.yaml': shipped('config/simulator.yaml'),
  'config/strategies/grid-btc.yaml': shipped('config/strategies/grid-btc.yaml'),
  'config/strategies/grid-eth.yaml': shipped('config/strategies/grid-eth.yaml'),
  'config/strategies/trend-btc.yaml': shipped('config/strategies/trend-btc.yaml'),
  'config/strategies/trend-eth.yaml': shipped('config/strategies/trend-eth.yaml'),
}

type Path = readonly (string | number)[]
type Plain = Readonly<Record<string, unknown>>

const readDaemon = (): readonly Problem[] => workspace.read().problems

function readSimulator(): readonly Problem[] {
  try {
    loadSimulatorConfig({ file: 'config/simulator.yaml', cwd: workspace.directory })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const TARGETS = [
  { shippedFile: 'config/paper.yaml', file: 'config/main.yaml', read: readDaemon },
  { shippedFile: 'config/simulator.yaml', file: 'config/simulator.yaml', read: readSimulator },
  {
    shippedFile: 'config/strategies/grid-btc.yaml',
    file: 'config/strategies/grid-btc.yaml',
    read: readDaemon,
  },
] as const

/** What each setting becomes. YAML has more ways of being wrong than JSON: .nan, .inf, dates, long digits. */
const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  'abc',
  '',
  'x'.repeat(5000),
  '\u0000\u001b[31m\n',
  -1,
  0,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.MAX_VALUE,
  10n ** 40n,
  [],
  [null],
  {},
  { a: { b: [1] } },
  { __proto__key: 1, constructor: { prototype: 1 }, toString: 1 },
]

const VALUES = WRONG_VALUES.length

test.each(TARGETS)(
  '[CFG1] any setting of $shippedFile with any wrong value loads or is reported with its place',
  (target) => {
    const { shippedFile, file, read } = target
    const whole: Plain = parse(SHIPPED[shippedFile])
    let reported = 0
    for (const [index, path] of pathsOf(whole).entries()) {
      for (const value of shareOf(
        [...WRONG_VALUES.slice(index % VALUES), ...WRONG_VALUES.slice(0, index % VALUES)],
        VALUES,
      )) {
        workspace.write(file, stringify(withValue(whole, path, value)))

        const problems = read()

        expectPlaces(problems, `${path.join('.')} = ${inspect(value).slice(0, 20)}`)
        if (problems.length > 0) reported += 1
      }
    }
    workspace.write(file, SHIPPED[shippedFile])

    expect(reported).toBeGreaterThan(5)
  },
)

test.each(TARGETS)(
  '[CFG1] any setting of $shippedFile may be left out, or is reported as missing',
  (target) => {
    const { shippedFile, file, read } = target
    const whole: Plain = parse(SHIPPED[shippedFile])
    for (const path of pathsOf(whole)) {
      workspace.write(file, stringify(withValue(whole, path, LEFT_OUT)))

      expectPlaces(read(), `without ${path.join('.')}`)
    }
    workspace.write(file, SHIPPED[shippedFile])
  },
)

test.each(TARGETS)(
  '[CFG1] an unknown key anywhere in $shippedFile is reported with its place',
  (target) => {
    const { shippedFile, file, read } = target
    const whole: Plain = parse(SHIPPED[shippedFile])
    const mappings = pathsOf(whole).filter((path) => isMapping(valueAt(whole, path)))
    for (const path of [[], ...mappings]) {
      // The params are checked by the strategy's own schema, later.
      if (path[0] === 'params') continue
      workspace.write(file, stringify(withValue(whole, [...path, 'zzz'], 1)))

      const problems = read()

      expectPlaces(problems, `${path.join('.')}.zzz`)
      expect(problems.map((problem) => problem.path)).toContain([...path, 'zzz'].join('.'))
    }
    workspace.write(file, SHIPPED[shippedFile])
  },
)

test.each(TARGETS)(
  '[CFG1] $shippedFile cut off or mistyped anywhere loads or is reported with its place',
  (target) => {
    const { shippedFile, file, read } = target
    const text = SHIPPED[shippedFile]
    const marks = [
      ':',
      '{',
      '}',
      '[',
      '*',
      '&',
      '!',
      '"',
      "'",
      '\t',
      '#',
      '-',
      '%',
      '@',
      '\n',
      '\u0000',
      '|',
      '?',
      '<<: ',
    ]
    const step = IS_WHOLE ? 3 : 17
    for (let at = 0; at < text.length; at += step) {
      const mark = marks[(at / step) % marks.length] ?? ':'
      for (const broken of [text.slice(0, at), text.slice(0, at) + mark + text.slice(at + 1)]) {
        workspace.write(file, broken)

        expectPlaces(read(), JSON.stringify(broken.slice(Math.max(0, at - 20), at + 5)))
      }
    }
    workspace.write(file, text)
  },
)

function expectPlaces(problems: readonly Problem[], what: string): void {
  for (const problem of problems) {
    const line = formatProblem(problem)
    // What is thrown by mistake comes here as a failure of the test; what is printed must have a place.
    expect(line, what).toMatch(/^config\/[\w./-]+\.yaml:\d+:\d+[: ]/)
    expect(line.length, what).toBeLessThan(600)
    expect(line, what).not.toMatch(/\p{Cc}/u)
  }
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return keys.flatMap((key) => [
    [...path, key],
    ...pathsOf(Reflect.get(value, key), [...path, key]),
  ])
}

const isMapping = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const valueAt = (whole: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    whole,
  )

const LEFT_OUT = Symbol('left out')

function withValue(whole: Plain, path: Path, value: unknown): Plain {
  const copy = structuredClone(whole)
  const parent = valueAt(copy, path.slice(0, -1))
  const key = path.at(-1)
  if (typeof parent !== 'object' || parent === null || key === undefined)
    throw new Error('no such path')
  if (value === LEFT_OUT) Reflect.deleteProperty(parent, key)
  else Reflect.set(parent, key, value)
  return copy
}
