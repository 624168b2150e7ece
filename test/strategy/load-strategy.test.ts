import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageOf } from '../../src/lib/failure.ts'
import { type Timers } from '../../src/lib/timers.ts'
import { checkBinding, loadStrategy } from '../../src/strategy/load-strategy.ts'
import { ManualTime } from '../support/manual-time.ts'
import { madeInstrument } from '../support/market-moment.ts'

/** A folder outside the project, as a user has one. */
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'intentd-strategies-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

let files = 0

/** Loads a text as a strategy file of its own: Node keeps what it has loaded once. */
async function loadText(text: string, { name = 'strategy.ts' }: { name?: string } = {}) {
  files += 1
  const file = join(folder, `case-${files}`, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return loadStrategy(file)
}

it('a file that ends the process fails to load, and the process goes on', async () => {
  await expect(loadText('process.exit(3)\n')).rejects.toMatchObject({
    code: 'STRATEGY_ENDS_PROCESS',
  })
})

it('a file that waits for ever fails to load', async () => {
  const time = new ManualTime(0)
  const file = join(folder, 'waits.ts')
  writeFileSync(file, 'await new Promise(() => undefined)\n')

  const loaded = loadStrategy(file, time)
  loaded.catch(() => undefined)
  await time.pass(20_000)

  await expect(loaded).rejects.toMatchObject({ code: 'STRATEGY_IMPORT_HANGS' })
})

it('a file is not blamed for the time during which the process was suspended', async () => {
  const file = join(folder, 'continues.ts')
  const release = Promise.withResolvers<void>()
  Reflect.set(globalThis, 'testStrategyRelease', release.promise)
  writeFileSync(
    file,
    "import { defineStrategy, z } from 'intentd/strategy'\nawait globalThis.testStrategyRelease\nexport default defineStrategy({ name: 'late', params: z.strictObject({}), initialState: () => ({}), decide: () => [] })\n",
  )
  // Its timers as the event loop finds them after a minute: what was due is called once, and then what came is heard.
  const due: (() => void)[] = []
  const suspended: Timers = {
    after(delayMs, callback) {
      if (delayMs < 60_000) due.push(callback)
      return () => undefined
    },
  }

  const loaded = loadStrategy(file, suspended)
  for (const callback of due.splice(0)) callback()
  release.resolve()

  await expect(loaded).resolves.toMatchObject({ name: 'late' })
  Reflect.deleteProperty(globalThis, 'testStrategyRelease')
})

const source = (contract: string) => `
import { defineStrategy, z, type InstrumentView } from '${contract}'
interface Remembered { readonly seen: number }
const bidOf = (market: InstrumentView): number => market.bid
export default defineStrategy({
  name: 'counter',
  params: z.strictObject({ size: z.string(), step: z.int().default(1) }),
  initialState: (): Remembered => ({ seen: 0 }),
  check: ({ size }, instruments) => instruments.flatMap((market) => market.lots(size) > 5 ? [] : ['too small']),
  decide: (snapshot, { params, state }) => ({ intents: [], state: { seen: state.seen + params.step } }),
})
`

describe('loading a strategy', () => {
  it.each(['#strategy', 'intentd/strategy'])(
    'takes TypeScript from any folder that imports %s',
    async (contract) => {
      const strategy = await loadText(source(contract))

      expect(strategy.name).toBe('counter')
      expect(strategy.initialState({})).toEqual({ seen: 0 })
    },
  )

  it('takes .mts, and JavaScript as a module or not', async () => {
    const body =
      "({ name: 'plain', params: z.strictObject({}), initialState: () => ({}), decide: () => ({}) })"
    const esm = `import { defineStrategy, z } from 'intentd/strategy'\nexport default defineStrategy${body}`
    const cjs = `const { defineStrategy, z } = require('intentd/strategy')\nmodule.exports = defineStrategy${body}`

    expect((await loadText(source('intentd/strategy'), { name: 'strategy.mts' })).name).toBe(
      'counter',
    )
    expect((await loadText(esm, { name: 'strategy.mjs' })).name).toBe('plain')
    expect((await loadText(esm, { name: 'strategy.js' })).name).toBe('plain')
    expect((await loadText(cjs, { name: 'strategy.js' })).name).toBe('plain')
  })

  it('finds what the file imports beside it', async () => {
    mkdirSync(join(folder, 'shared'))
    writeFileSync(join(folder, 'shared', 'name.ts'), "export const name: string = 'shared'")
    const text = source('intentd/strategy')
      .replace("'counter'", 'name')
      .concat("import { name } from '../shared/name.ts'")

    expect((await loadText(text)).name).toBe('shared')
  })

  it('leaves #strategy of a foreign package to that package', async () => {
    const packageFolder = join(folder, 'node_modules', 'foreign')
    mkdirSync(packageFolder, { recursive: true })
    const manifest = {
      name: 'foreign',
      type: 'module',
      exports: './main.js',
      imports: { '#strategy': './own.js' },
    }
    writeFileSync(join(packageFolder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(packageFolder, 'main.js'), "export { word } from '#strategy'")
    writeFileSync(join(packageFolder, 'own.js'), "export const word = 'its own'")
    const text = source('intentd/strategy')
      .replace("'counter'", 'word')
      .concat("import { word } from 'foreign'")

    expect((await loadText(text)).name).toBe('its own')
  })

  it('says that there is no such file, or that it is none', async () => {
    await expect(loadStrategy(join(folder, 'nowhere.ts'))).rejects.toMatchObject({
      code: 'STRATEGY_FILE_MISSING',
      facts: { file: join(folder, 'nowhere.ts') },
    })
    mkdirSync(join(folder, 'folder.ts'))
    await expect(loadStrategy(join(folder, 'folder.ts'))).rejects.toMatchObject({
      code: 'STRATEGY_FILE_MISSING',
    })
    await expect(loadText('', { name: 'strategy.json' })).rejects.toMatchObject({
      code: 'STRATEGY_FILE_KIND',
    })
  })

  it('says that the default export is missing, or not made by defineStrategy', async () => {
    await expect(loadText('export const name = 1')).rejects.toMatchObject({
      code: 'STRATEGY_DEFAULT_MISSING',
    })
    for (const value of ['{ name: "grid", decide() {} }', 'class {}', 'null', '42']) {
      await expect(loadText(`export default ${value}`)).rejects.toMatchObject({
        code: 'STRATEGY_NOT_DEFINED',
      })
    }
  })

  it('says in plain words which syntax has to be compiled, and where', async () => {
    const failure = await loadText('const one: number = 1\nexport enum Side { buy }').catch(
      (error: unknown) => error,
    )

    expect(failure).toMatchObject({
      code: 'STRATEGY_SYNTAX_NOT_ERASABLE',
      facts: {
        at: expect.stringMatching(/strategy\.ts:2$/),
        found: expect.stringContaining('enum'),
      },
      hint: expect.stringContaining('union'),
    })
    await expect(loadText('namespace Inner { export const one = 1 }')).rejects.toMatchObject({
      code: 'STRATEGY_SYNTAX_NOT_ERASABLE',
    })
  })

  it('gives file and line of a syntax error', async () => {
    await expect(
      loadText('const one = 1\n\nconst two = = 2\nexport default one'),
    ).rejects.toMatchObject({
      code: 'STRATEGY_SYNTAX',
      facts: { at: expect.stringMatching(/strategy\.ts:3$/), found: 'Expression expected' },
    })
  })

  it('says how to find a syntax error in a JavaScript module, whose place Node keeps to itself', async () => {
    await expect(loadText('export default = 2', { name: 'strategy.mjs' })).rejects.toMatchObject({
      code: 'STRATEGY_SYNTAX',
      hint: expect.stringMatching(/^node --check .*strategy\.mjs/),
    })
  })

  it('names what an import looked for in vain', async () => {
    await expect(loadText("import './nothing.ts'")).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_MISSING',
      facts: { found: expect.stringContaining('nothing.ts') },
    })
    await expect(
      loadText("import { Intents } from 'intentd/strategy'\nexport default Intents"),
    ).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_MISSING',
      facts: { found: expect.stringContaining('Intents') },
    })
    await expect(
      loadText("import { bolinger } from 'intentd/strategy'\nexport default bolinger"),
    ).rejects.toMatchObject({ hint: expect.stringMatching(/^did you mean bollinger\?/) })
  })

  it('[STR1] a strategy that throws while it is loaded is a failure with its place, whatever it throws', async () => {
    await expect(loadText('\nthrow new RangeError("no luck")')).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_THREW',
      facts: { thrown: expect.stringMatching(/RangeError: no luck.*strategy\.ts:2/) },
    })
    await expect(loadText('throw undefined')).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_THREW',
    })
    await expect(loadText('JSON.parse("{")')).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_THREW',
    })
  })

  it('says each thing once, with the line of the file and not of ours', async () => {
    const imports = "import { defineStrategy } from 'intentd/strategy'\n"
    const [missing, enumerated, misspelt] = await Promise.all(
      [
        `${imports}import { size } from './sizess.ts'`,
        'enum Side { buy }',
        `${imports}\nexport default defineStrategy({ desides: 1 } as never)`,
      ].map((text) =>
        loadText(text).then(
          () => '',
          (error: unknown) => messageOf(error),
        ),
      ),
    )
    expect(missing).toMatch(/ at +\/.*strategy\.ts:2\n/)
    expect(misspelt).toMatch(
      /no part of a strategy; did you mean decides\? \(file:.*strategy\.ts:3:/,
    )
    for (const text of [missing, enumerated, misspelt]) {
      const said = text?.split('\n').at(-1)?.trim().slice(-40) ?? ''
      expect(text?.split(said)).toHaveLength(2)
    }
  })

  it('says which part of a definition is wrong', async () => {
    const text =
      "import { defineStrategy } from 'intentd/strategy'\nexport default defineStrategy({ name: 'a' } as never)"

    await expect(loadText(text)).rejects.toMatchObject({
      code: 'STRATEGY_IMPORT_THREW',
      facts: { thrown: expect.stringContaining('params must be a zod schema') },
    })
  })

  it('refuses TypeScript under node_modules, which Node does not run', async () => {
    const name = join('node_modules', 'somebodys', 'strategy.ts')

    await expect(loadText(source('intentd/strategy'), { name })).rejects.toMatchObject({
      code: 'STRATEGY_IN_NODE_MODULES',
      hint: expect.stringContaining('copy'),
    })
  })

  it('tells a folder of CommonJS how to be read as modules', async () => {
    mkdirSync(join(folder, 'old'))
    writeFileSync(join(folder, 'old', 'package.json'), '{ "type": "commonjs" }')
    writeFileSync(join(folder, 'old', 'strategy.ts'), source('intentd/strategy'))

    await expect(loadStrategy(join(folder, 'old', 'strategy.ts'))).rejects.toMatchObject({
      code: 'STRATEGY_SYNTAX',
      hint: expect.stringContaining('"type": "module"'),
    })
  })
})

describe('the params of a strategy', () => {
  it('are read with its own schema: defaults filled in, issues with their path', async () => {
    const strategy = await loadText(source('intentd/strategy'))

    expect(strategy.params.parse({ size: '1' })).toEqual({ size: '1', step: 1 })
    expect(strategy.params.safeParse({ size: 1, stpe: 2 }).error?.issues).toMatchObject([
      { path: ['size'], code: 'invalid_type' },
      { path: [], code: 'unrecognized_keys', keys: ['stpe'] },
    ])
  })

  it('are objected to by the strategy itself, also by throwing', async () => {
    const strategy = await loadText(source('intentd/strategy'))
    const instruments = [madeInstrument()]

    expect(checkBinding({ strategy, params: { size: '1' }, instruments })).toEqual([])
    expect(checkBinding({ strategy, params: { size: '0.001' }, instruments })).toEqual([
      'too small',
    ])
    expect(checkBinding({ strategy, params: { size: '0.0005' }, instruments })).toEqual([
      expect.stringMatching(/SIZE_OFF_GRID.*\n.*BTCUSDT\n.*0\.0005\n.*0\.001/),
    ])
  })

  it('[STR1] need no objections, and survive nonsense in their place', async () => {
    const plain = await loadText(source('intentd/strategy').replace(/check: .*\n/, ''))
    const wild = await loadText(
      source('intentd/strategy').replace(/check: .*\n/, "check: () => 'no' as never,\n"),
    )

    expect(checkBinding({ strategy: plain, params: {}, instruments: [] })).toEqual([])
    expect(checkBinding({ strategy: wild, params: {}, instruments: [] })).toEqual([
      'check of the strategy did not return a list of texts',
    ])
  })
})
