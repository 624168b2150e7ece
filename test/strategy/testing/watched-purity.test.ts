import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadStrategy } from '../../../src/strategy/load-strategy.ts'
import { checkPurities } from '../../../src/strategy/testing/watched-purity.ts'
import { madeInstrument } from '../../support/market-moment.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-purity-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function bind(name: string, decide: string, params: unknown = {}) {
  const moduleFile = join(folder, `${name}.ts`)
  writeFileSync(
    moduleFile,
    `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: '${name}',
  params: z.any(),
  initialState: () => 0,
  decide(snapshot: unknown, { params }: { params: { at: Date } }) { ${decide}; return { intents: [], state: 0 } },
})
`,
  )
  const strategy = await loadStrategy(moduleFile)
  return { name, strategy, isGuarded: false, moduleFile, params, instruments: [madeInstrument()] }
}

test('one that loops or ends its thread is named, and the others are checked all the same', async () => {
  const bindings = [
    await bind('before', ''),
    await bind('endless', 'for (;;);'),
    await bind('leaving', 'process.exit(3)'),
    await bind('dated', 'if (!(params.at instanceof Date)) throw new Error("no date")', {
      at: new Date(0),
    }),
    await bind('behind', ''),
  ]

  const checks = await checkPurities(bindings, { limitMs: 500 })

  expect(checks.map(({ problems }) => problems)).toEqual([
    [],
    [expect.stringMatching(/^endless did not come back .* within 0.5 s/)],
    [],
    [],
    [],
  ])
  expect(checks.flatMap(({ failing }) => failing)).toEqual([
    expect.stringMatching(/^on made-up prices every decision fails: STRATEGY_ENDS_PROCESS/),
  ])
  expect(checks.flatMap(({ notes }) => notes)).toEqual([])
})

test('decisions that fail are noted, and are more where none succeeds', async () => {
  const bindings = [
    await bind('sometimes', 'if (snapshot.sequence % 100 === 0) throw new Error("a hundredth")'),
    await bind('never', 'params.missing.size'),
  ]

  const [sometimes, never] = await checkPurities(bindings)

  expect(sometimes).toEqual({
    problems: [],
    failing: [],
    notes: [expect.stringMatching(/^on made-up prices 3 of its decisions fail: [^]*a hundredth/)],
  })
  expect(never).toEqual({
    problems: [],
    failing: [expect.stringMatching(/^on made-up prices every decision fails: [^]*size/)],
    notes: [],
  })
})

test('decisions that fail once there is something to decide, and misspelt names, are more than a note', async () => {
  const bindings = [
    await bind('warming', 'if (snapshot.sequence > 60) params.missing.size'),
    await bind('late', 'if (snapshot.sequence > 60 && snapshot.sequence < 90) params.missing.size'),
    await bind('misspelt', 'if (snapshot.sequence % 100 === 0) snapshot.instruments[0].tarqet(1)'),
  ]

  const checks = await checkPurities(bindings)

  expect(checks.map(({ failing, notes }) => [failing, notes])).toEqual([
    [
      [expect.stringMatching(/^on made-up prices every decision fails from number 61 on, before/)],
      [],
    ],
    [[], [expect.stringMatching(/^on made-up prices 29 of its decisions fail: [^]*size/)]],
    [[expect.stringMatching(/3 of its decisions fail: STRATEGY_NAME_UNKNOWN[^]*mean target/)], []],
  ])
})

test('one that fills the memory is named, and the others are checked all the same', async () => {
  const bindings = [
    await bind('hoarding', 'const all = []; for (;;) all.push(new Array(1e6).fill(0.5))'),
    await bind('behind', ''),
  ]

  // So much time that it is the memory that ends it, however busy the machine is.
  const checks = await checkPurities(bindings, { limitMs: 60_000 })

  expect(checks.map(({ problems }) => problems)).toEqual([
    ['hoarding takes more than 512 MB of memory on made-up prices'],
    [],
  ])
})

test('a file that leaves a promise rejected while it is loaded harms no other: whoever loaded it before has said so', async () => {
  const bindings = [await bind('stray', ''), await bind('behind', '')]
  appendFileSync(join(folder, 'stray.ts'), "void Promise.reject(new Error('left alone'))\n")
  // Takes its time to load, so that the rejection is heard meanwhile.
  appendFileSync(
    join(folder, 'behind.ts'),
    'await new Promise((resolve) => setTimeout(resolve, 20))\n',
  )

  const checks = await checkPurities(bindings)

  expect(checks.map(({ problems }) => problems)).toEqual([[], []])
})
