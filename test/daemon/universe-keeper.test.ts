import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { UniverseKeeper } from '../../src/daemon/recording/universe-keeper.ts'
import { type ContractRules } from '../../src/domain/contract-rules.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { UniverseRecording } from '../../src/recording/universe/universe-recording.ts'

const DAY_MS = 86_400_000
const START_AT = Date.UTC(2026, 0, 5)
const RULES: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.1',
  minSize: '0.1',
  minNotional: '5',
}

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

function open({ totalBytesMax = 1e9 } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'wt-r46-keeper-'))
  directories.push(directory)
  const logged: string[] = []
  const options = {
    directory,
    source: 'api.example.com',
    productType: 'USDT-FUTURES',
    totalBytesMax,
    holder: { pid: process.pid, since: 0, host: 'here', name: 'test', command: 'run' },
    clock: { now: () => START_AT },
    logger: { log: (_level: string, event: string) => void logged.push(event) },
  }
  const keeper = new UniverseKeeper(options)
  keeper.start()
  return { directory, logged, keeper, again: () => new UniverseKeeper(options) }
}

/** The same table is filled again and again, as in a daemon. */
const table = new TickerTable(8)

function answer(requestTime: number, price: number, ...symbols: readonly string[]) {
  table.clear()
  for (const symbol of symbols) table.columns.lastPr[table.claimRow(symbol)] = price
  table.requestTime = requestTime
  return { kind: 'snapshotTaken', tickers: table } as const
}

const contractsOf = (...symbols: readonly string[]) =>
  ({
    kind: 'contractsRead',
    contracts: new Map(symbols.map((symbol) => [symbol, RULES])),
  }) as const

/** Until what was begun is written: a disk has no virtual time. */
async function keep(keeper: UniverseKeeper, event: ReturnType<typeof answer>): Promise<void> {
  keeper.hear(event)
  await keeper.written
}

test('keeps the first answer of each minute as it was, and the contracts', async () => {
  const { directory, keeper } = open()
  keeper.hear(contractsOf('AUSDT'))
  keeper.hear(answer(START_AT + 200, 1, 'AUSDT', 'BUSDT'))
  keeper.hear(answer(START_AT + 450, 2, 'AUSDT'))
  await keeper.written
  await keep(keeper, answer(START_AT + 60_100, 3, 'BUSDT'))
  await keeper.close()

  const entries = [...new UniverseRecording(directory).entries({})]
  const tickers = entries.flatMap((entry) => (entry.kind === 'tickers' ? [entry.table] : []))
  expect(entries[0]).toMatchObject({ kind: 'contracts' })
  expect(entries).toHaveLength(3)
  expect(tickers).toHaveLength(2)
})

test('the answer after the first contracts is kept too, since rules are evaluated on it', async () => {
  const { directory, keeper } = open()
  await keep(keeper, answer(START_AT + 200, 1, 'AUSDT'))
  keeper.hear(contractsOf('AUSDT'))
  await keep(keeper, answer(START_AT + 450, 2, 'AUSDT'))
  keeper.hear(contractsOf('AUSDT', 'BUSDT'))
  await keep(keeper, answer(START_AT + 700, 3, 'AUSDT'))
  await keeper.close()

  const entries = [...new UniverseRecording(directory).entries({})]
  expect(entries.map(({ kind }) => kind)).toEqual(['tickers', 'contracts', 'tickers'])
})

test('days beyond the bound are removed, the oldest first, and the present one stays', async () => {
  const { directory, keeper } = open({ totalBytesMax: 1 })
  for (const day of [0, 1, 2]) await keep(keeper, answer(START_AT + day * DAY_MS, 1, 'AUSDT'))
  await keeper.close()

  const days = readdirSync(directory).filter((name) => name.includes('2026-'))
  expect(days).toHaveLength(1)
  expect(days[0]).toContain('2026-01-07')
})

test('another process in the directory is said once, and nothing else fails', async () => {
  const { logged, keeper, again } = open()
  const second = again()
  second.start()
  second.hear(contractsOf('AUSDT'))
  second.hear(answer(START_AT, 1, 'AUSDT'))
  await second.close()
  await keeper.close()

  expect(logged).toEqual(['universe.notKept'])
})
