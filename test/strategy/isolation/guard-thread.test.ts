import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'
import { GLOBALS } from '../../../src/strategy/isolation/guard-thread.ts'
import {
  type IsolatedRunner,
  openIsolatedRunner,
  readAnswer,
} from '../../../src/strategy/isolation/isolated-runner.ts'
import { TRICKS, waysOut } from '../../support/ways-out.ts'
import { madeInstrument, madeSnapshot } from '../../support/market-moment.ts'

const folder = mkdtempSync(join(tmpdir(), 'intentd-guard-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** What it has said is kept in `said`. */
async function open(moduleFile: string, said: unknown[] = []): Promise<IsolatedRunner> {
  return openIsolatedRunner({
    strategyId: 'trying',
    moduleFile,
    params: {},
    instruments: [madeInstrument()],
    clock: systemClock,
    timers: systemTimers,
    budgetMs: 2e4,
    heapMb: 64,
    needs: { candles: new Map() },
    onThreadLost: () => undefined,
    onSaid: (line) => said.push(line),
  })
}

/** What a strategy remembers that puts this into `found` while it is loaded, in a thread of its own. */
async function findInThread(code: string): Promise<Record<string, unknown>> {
  const moduleFile = write(
    'trying.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
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
  expect(names).toEqual(
    expect.arrayContaining(['Float64Array', 'Intl', 'Map', 'structuredClone', 'Promise']),
  )
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
${waysOut(folder, secret)}
found['kept'] = [data.size, common.size]
found['reached'] = await findReached()
found['attempts'] = Object.keys(attempts).length`)

  expect(found['reached']).toEqual([])
  expect(found['kept']).toEqual([3, 3])
  expect(found['attempts']).toBeGreaterThan(45)
})

test('[STR1] a strategy that patches what its own thread answers with says nothing in the name of another', async () => {
  const moduleFile = write(
    'forging.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
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
