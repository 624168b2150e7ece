import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { firstOther, RunTrace, unmatched } from '../../src/cli/parity/run-trace.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('a recorded run is set beside a backtest of its prices, and a changed strategy is found', async () => {
  const project = projects.open()
  const run = project.run(['--set', 'record=true', '--set', 'simulator.speed=1'])
  await run.until('both ladders', () => run.events('batch.sent').length > 1)
  // The backtest begins within the prices of the recording, so they must go on for a while, on a loaded machine too.
  await new Promise((resolve) => setTimeout(resolve, 5000))
  await run.stop()
  const paths = readdirSync(join(project.directory, '.intentd'), { recursive: true, encoding: 'utf8' })
  const directory = join(
    project.directory,
    '.intentd',
    paths.find((path) => path.endsWith('recordings')) ?? '',
  )
  const parity = async () => {
    const compared = project.start(['parity', directory])
    const { code } = await compared.ended
    return { code, text: compared.stdout.join('\n'), errors: compared.stderr }
  }

  const same = await parity()
  project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
  const changed = await parity()

  expect(same.errors).toEqual([])
  for (const id of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    expect(same.text).toMatch(new RegExp(`^${id}: [1-9]\\d* changes of what it wants recorded, [1-9]`, 'm'))
  expect(same.text).toMatch(/^trend-btc: .* all the same$/m)
  expect(changed.code).toBe(1)
  expect(changed.text).toMatch(
    /^grid-btc: .*; the first 0 are the same, then\n {2}recorded .*\n(?: {4}.*\n)+ {2}backtest .*\n(?: {4}.*\n)+ {2}why: /m,
  )
})

test('a trace has each change of a wish once, and each fill that came after its beginning', () => {
  const trace = new RunTrace([], 100)
  const decided = (intents: readonly object[]) =>
    ({
      kind: 'decided',
      strategyId: 'a',
      sequence: 1,
      intents,
      state: null,
      denials: [],
    }) as unknown as EngineEvent
  const fillsRead = (fills: readonly object[]) =>
    ({ kind: 'fillsRead', reading: { fills } }) as unknown as EngineEvent
  const fill = (tradeId: string, filledAt: number) => ({ tradeId, filledAt })

  trace.take(101, decided([{ lots: 1 }]))
  trace.take(102, decided([{ lots: 1 }]))
  trace.take(103, decided([]))
  trace.take(104, fillsRead([fill('old', 99), fill('one', 100)]))
  trace.take(105, fillsRead([fill('one', 100), fill('two', 104)]))

  expect(trace.wishes.get('a')?.map(({ at }) => at)).toEqual([101, 103])
  expect(trace.firstAt).toBe(101)
  expect(trace.fills.map(({ tradeId }) => tradeId)).toEqual(['one', 'two'])
})

test('fills that one of the two has more of are found wherever they stand', () => {
  expect(unmatched(['b', 'a', 'a', 'c'], ['a', 'b', 'd'], (text) => text)).toEqual(['a', 'c'])
})

test.each([
  [['a', 'b'], ['a', 'b'], undefined],
  [['a', 'b'], ['a', 'c'], 1],
  [['a', 'b'], ['a'], 1],
  [[], ['a'], 0],
])('%j and %j part at %s', (one, other, index) => {
  expect(firstOther(one, other, (text) => text)).toBe(index)
})
