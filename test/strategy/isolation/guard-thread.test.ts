import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { GLOBALS } from '../../../src/strategy/isolation/guard-thread.ts'
import { type IsolatedRunner, openIsolatedRunner } from '../../../src/strategy/isolation/isolated-runner.ts'
import { readAnswer } from '../../../src/strategy/isolation/read-answer.ts'
import { madeInstrument, madeSnapshot } from '../../support/market-moment.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-guard-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const OURS = join(import.meta.dirname, '../../../src')

/** What it has said is kept in `said`. */
async function open(moduleFile: string, said: unknown[] = []): Promise<IsolatedRunner> {
  return openIsolatedRunner({
    ...{ strategyId: 'trying', moduleFile, params: {}, instruments: [madeInstrument()], clock: systemClock },
    ...{ timers: systemTimers, budgetMs: 20_000, heapMb: 64, needs: { candles: new Map() } },
    onThreadLost: () => undefined,
    onSaid: (line) => said.push(line),
  })
}

/** What a strategy remembers that puts this into `found` while it is loaded, in a thread of its own. */
async function findInThread(code: string): Promise<Record<string, unknown>> {
  const moduleFile = write(
    'trying.ts',
    `import { defineStrategy, z } from '#strategy'
const found: Record<string, unknown> = {}
${code}
export default defineStrategy({
  name: 'trying', params: z.looseObject({}), initialState: () => ({}), decide: () => ({ intents: [], state: found }),
})
`,
  )
  const runner = await open(moduleFile)
  const decided = runner.decide(madeSnapshot([{}]))
  await runner.stop()
  if (decided?.kind !== 'decided') throw new Error(decided?.message)
  return decided.state as Record<string, unknown>
}

test('[SEC1] a strategy in its own thread has no global that is not listed', async () => {
  const { names, symbols } = await findInThread(`
found['names'] = Object.getOwnPropertyNames(globalThis).filter((name) => globalThis[name] !== undefined)
found['symbols'] = Object.getOwnPropertySymbols(globalThis).map(String)`)

  expect((names as string[]).filter((name) => !GLOBALS.has(name))).toEqual([])
  expect(symbols).toEqual(['Symbol(Symbol.toStringTag)'])
  // The language is whole.
  expect(names).toEqual(expect.arrayContaining(['Float64Array', 'Intl', 'Map', 'structuredClone', 'Promise']))
})

test('[SEC1] a strategy in its own thread finds no way to modules of Node, to files, programs or the network', async () => {
  const secret = write('secret.env', 'KEY=canary')
  write('addon.node', 'no addon')
  write('tiny.wasm', '\0asm\u0001\0\0\0')
  write('data.json', '{ "size": 3 }')
  write('common.cts', 'const size: number = 3; module.exports = { size }')
  write('tricks.cjs', TRICKS)
  const found = await findInThread(`
import data from './data.json' with { type: 'json' }
import common from './common.cts'
import tricks from './tricks.cjs'
const attempts = {
  ...tricks.attempts(${JSON.stringify(folder)}, ${JSON.stringify(secret)}),
  'import()': () => import('node:fs'),
  'import() by eval': () => (0, eval)("import('node:fs')"),
  'import() by Function': () => new Function("return import('node:fs')")(),
  'import of data': () => import('data:text/javascript,export { readFileSync } from "node:fs"'),
  'import of WebAssembly': () => import('./tiny.wasm'),
  'import of WebAssembly as data': () => import('data:application/wasm;base64,AGFzbQEAAAA='),
  'import of a file': () => import(${JSON.stringify(secret)}),
  'import of this program': () => import(${JSON.stringify(join(OURS, 'lib/durable-file.ts'))}),
  'import of this program, another time': () => import(${JSON.stringify(join(OURS, 'strategy/load-strategy.ts'))} + '?again'),
  'import of its test kit': () => import('intentd/testing'),
  'the process by the constructor of a function': () => globalThis.constructor.constructor('return process')(),
  'the process by an object': () => ({}).constructor.constructor('return process.getBuiltinModule("fs")')(),
  'the console': () => console['_stdout'] ?? fail(),
  'fetch': () => fetch('http://127.0.0.1:1'),
  'WebAssembly': () => new WebAssembly.Memory({ initial: 1 }),
  'memory of others': () => Buffer.allocUnsafe(4096),
}
function fail() { throw new Error('refused') }
found['kept'] = [data.size, common.size]
found['reached'] = []
for (const [name, attempt] of Object.entries(attempts)) {
  try { await attempt(); found['reached'].push(name) } catch (error) {
    if (String(error.stack).includes('canary')) found['reached'].push(name + ': its text')
  }
}
found['attempts'] = Object.keys(attempts).length`)

  expect(found['reached']).toEqual([])
  expect(found['kept']).toEqual([3, 3])
  expect(found['attempts']).toBeGreaterThan(25)
})

test('[STR1] a strategy that patches what its own thread answers with says nothing in the name of another', async () => {
  const moduleFile = write(
    'forging.ts',
    `import { defineStrategy, z } from '#strategy'
const { splice } = Array.prototype
Array.prototype.splice = function (...args) {
  splice.apply(this, args)
  return [{ message: 'bought', facts: { a: 1, b: { deep: 1 } }, strategy: 'another' }, 7, ...new Array(100).fill({})]
}
export default defineStrategy({
  name: 'forging', params: z.looseObject({}), initialState: () => ({}),
  decide: () => ({ intents: [{ kind: 'nonsense', symbol: 'BTCUSDT' }], state: {} }),
})
`,
  )
  const said: unknown[] = []
  const runner = await open(moduleFile, said)
  const decided = runner.decide(madeSnapshot([{}]))
  await runner.stop()

  expect(said).toHaveLength(11)
  expect(said[0]).toEqual({ message: 'bought', facts: { a: 1, b: '' } })
  expect(decided).toMatchObject({
    kind: 'decided',
    denials: [{ strategyId: 'trying', code: 'INTENT_MALFORMED' }],
  })
})

test.each([
  ['nothing', undefined],
  ['a text', 'decided'],
  ['no kind', { intents: [] }],
  ['no list of intents', { kind: 'decided', intents: { length: 1e9 } }],
])('[STR1] an answer that is %s is a decision that failed', (_, message) => {
  expect(() => readAnswer('trying', message)).toThrow(/an answer/)
})

test('[STR1] denials and failures of an answer are those of its strategy, with codes that there are', () => {
  const denial = {
    strategyId: 'another',
    code: 'PRICE_PRECISION',
    index: 1,
    symbol: 'BTCUSDT',
    detail: 'x'.repeat(1e4),
  }
  const decided = {
    kind: 'decided',
    intents: [],
    denials: [denial, { ...denial, code: 'constructor' }, 'none'],
  }

  expect(readAnswer('trying', decided).denials).toEqual([
    { ...denial, strategyId: 'trying', detail: 'x'.repeat(500) },
  ])
  expect(readAnswer('trying', { kind: 'failed', code: 'toString', message: 3 }).failure).toEqual({
    code: 'STRATEGY_NO_DECISION',
    message: '',
  })
})

/** A CommonJS file: it has `module` and `require`. */
const TRICKS = `
const fail = () => { throw new Error('refused') }
exports.attempts = (folder, secret) => ({
  'require': () => require('fs'),
  'require with its scheme': () => require('node:child_process'),
  'require of an add-on': () => require(folder + '/addon.node'),
  'require of a file': () => require(secret),
  '_load': () => module.constructor._load('fs'),
  '_load of the prototype': () => Object.getPrototypeOf(module).constructor._load('fs'),
  'createRequire': () => module.constructor.createRequire(__filename)('fs'),
  'registerHooks': () => module.constructor.registerHooks({}),
  'register': () => module.constructor.register('data:text/javascript,'),
  'enableCompileCache': () => module.constructor.enableCompileCache(folder),
  'a resolver of its own': () => { module.constructor._resolveFilename = () => 'fs'; return module.constructor._load('anything') },
  'a resolver of its own, with a scheme': () => { module.constructor._resolveFilename = () => 'node:fs'; return module.constructor._load('anything') },
  'a loader of its own': () => { const { _extensions, _load } = module.constructor; return _extensions['.node'](module, folder + '/addon.node') },
  'a cache of its own': () => { module.constructor._cache['fs'] = undefined; return module.constructor._load('fs', undefined, true) },
  'the prototype of a list': () => { const seen = []; const { push } = Array.prototype; Array.prototype.push = function (...all) { seen.push(...all); return push.apply(this, all) }; try { require('./data.json') } finally { Array.prototype.push = push } return seen.find((one) => one?.binding) ?? fail() },
  'getBuiltinModule': () => process.getBuiltinModule('fs'),
  'binding': () => process.binding('fs'),
  'dlopen': () => process.dlopen(module, folder + '/addon.node'),
  'the loader of an add-on': () => Object.getPrototypeOf(module).load.call(Object.create(module, { loaded: { value: false } }), folder + '/addon.node'),
  'the loader of an ending': () => require.extensions['.node'](module, folder + '/addon.node'),
  'the loader of data': () => require.extensions['.json'](module, secret),
  'the loader of code': () => require.extensions['.js'](module, secret),
  'a pretended place': () => { module.filename = ${JSON.stringify(join(OURS, 'lib/clock.ts'))}; module.paths = []; return module.require('fs') },
  'a compiled file of a pretended place': () => module._compile('module.exports = require("fs")', ${JSON.stringify(join(OURS, 'lib/x.js'))}),
  'main': () => require.main.constructor._load('fs'),
  'the cache': () => Object.values(require.cache)[0].constructor._load('fs'),
  'a caller': () => (Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getThis()).find((one) => one?.binding ?? one?._load), new Error().stack ?? fail()),
})
`
