import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { ContractRules } from '../../../src/domain/contract-rules.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { zstdCompressSync } from 'node:zlib'
import { buildBlock } from '../../../src/recording/block.ts'
import { UNIVERSE_MAGIC } from '../../../src/recording/universe/universe-file.ts'
import { UniverseRecording } from '../../../src/recording/universe/universe-recording.ts'
import { UniverseWriter } from '../../../src/recording/universe/universe-writer.ts'
import { DrawnTickers } from '../../support/drawn-tickers.ts'
import { toBytes } from '../../support/ticker-bytes.ts'

const MINUTE_MS = 60_000
const AT = Date.UTC(2026, 0, 31, 23, 0, 0, 250)
const HOLDER = { pid: 1, since: 0, host: 'here', name: 'test', command: 'record' }
const RULES: ContractRules = {
  tickSize: '0.1',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  status: 'normal',
  launchedAt: 1_700_000_000_000,
}

const home = mkdtempSync(join(tmpdir(), 'wt-rec-universe-'))
afterAll(() => rmSync(home, { recursive: true }))

let directories = 0
function newDirectory(): string {
  directories += 1
  return join(home, String(directories))
}

const torn: (readonly [string, number])[] = []
function openWriter(directory: string, source = 'api.example.com'): UniverseWriter {
  const onTorn = (file: string, bytes: number) => torn.push([file, bytes] as const)
  return new UniverseWriter({
    directory,
    source,
    productType: 'USDT-FUTURES',
    holder: HOLDER,
    onTorn,
  })
}

/** Writes so many minutes, and returns what each table was. */
async function keep(
  writer: UniverseWriter,
  drawn: DrawnTickers,
  { fromMinute, minutes }: { readonly fromMinute: number; readonly minutes: number },
): Promise<readonly string[]> {
  const table = new TickerTable()
  const kept: string[] = []
  for (let minute = fromMinute; minute < fromMinute + minutes; minute++) {
    drawn.next(table, AT + minute * MINUTE_MS)
    kept.push(toBytes(table))
    await writer.append(table)
  }
  return kept
}

function readAll(directory: string, span = {}) {
  const entries = new UniverseRecording(directory).entries(span)
  const [tables, listings]: [string[], (readonly [number, string])[]] = [[], []]
  for (let next = entries.next(); ; next = entries.next()) {
    if (next.done === true) return { tables, listings, flaws: next.value }
    if (next.value.kind === 'tickers') tables.push(toBytes(next.value.table))
    else listings.push([next.value.readAt, [...next.value.contracts.keys()].join(' ')] as const)
  }
}

test('answers of two days come back to the bit, from a file for each, while they are written', async () => {
  const directory = newDirectory()
  const writer = openWriter(directory)
  const drawn = new DrawnTickers({ count: 20, seed: 1, churn: 3 })
  const kept = await keep(writer, drawn, { fromMinute: 0, minutes: 90 })

  const read = readAll(directory)
  await writer.close()

  expect(readdirSync(directory).filter((name) => name.endsWith('.universe'))).toEqual([
    '2026-01-31.universe',
    '2026-02-01.universe',
  ])
  expect(read).toEqual({ tables: kept, listings: [], flaws: [] })
  const span = { fromAt: AT + 10 * MINUTE_MS, toAt: AT + 70 * MINUTE_MS }
  expect(readAll(directory, span).tables).toEqual(kept.slice(10, 70))
})

test('contracts are kept where they change, and whole at the beginning of a day', async () => {
  const directory = newDirectory()
  const writer = openWriter(directory)
  const drawn = new DrawnTickers({ count: 3, seed: 1 })
  const list = (readAt: number, contracts: Readonly<Record<string, ContractRules>>) =>
    writer.list({ readAt, contracts: new Map(Object.entries(contracts)) })

  list(1, { A: RULES, B: RULES })
  await keep(writer, drawn, { fromMinute: 0, minutes: 10 })
  list(2, { A: RULES, B: RULES })
  await keep(writer, drawn, { fromMinute: 10, minutes: 10 })
  const bytes = statSync(join(directory, '2026-01-31.universe')).size
  list(3, { B: { ...RULES, status: 'off' }, C: RULES })
  await keep(writer, drawn, { fromMinute: 20, minutes: 60 })
  await writer.close()

  expect(bytes).toBeLessThan(10_000)
  expect(readAll(directory).listings).toEqual([
    [1, 'A B'],
    [3, 'B C'],
    [3, 'B C'],
  ])
  const entries = [...new UniverseRecording(directory).entries()]
  const last = entries.findLast((entry) => entry.kind === 'contracts')
  expect(last?.contracts.get('B')).toEqual({ ...RULES, status: 'off' })
})

test('a second answer that states changed contracts alike is kept too, and no third one', async () => {
  const directory = newDirectory()
  const writer = openWriter(directory)
  const drawn = new DrawnTickers({ count: 3, seed: 1 })
  const answers = ['A B', 'A B', 'A', 'A', 'A', 'A B', 'A', 'A B', 'A B', 'A B']
  for (const [minute, names] of answers.entries()) {
    const contracts = names.split(' ').map((name) => [name, RULES] as const)
    writer.list({ readAt: minute, contracts: new Map(contracts) })
    await keep(writer, drawn, { fromMinute: minute, minutes: 1 })
  }
  await writer.close()

  expect(readAll(directory).listings).toEqual([
    [0, 'A B'],
    [2, 'A'],
    [3, 'A'],
    [5, 'A B'],
    [6, 'A'],
    [7, 'A B'],
    [8, 'A B'],
  ])
})

test('what a killed writer has torn is said and left out, wherever the block was cut', async () => {
  const directory = newDirectory()
  const drawn = new DrawnTickers({ count: 5, seed: 3 })
  const first = openWriter(directory)
  const kept = [...(await keep(first, drawn, { fromMinute: 0, minutes: 5 }))]
  await first.close()
  const file = join(directory, '2026-01-31.universe')
  const whole = readFileSync(file)
  const before = statSync(file).size
  const other = openWriter(directory)
  kept.push(...(await keep(other, drawn, { fromMinute: 5, minutes: 1 })))
  await other.close()
  const sixth = readFileSync(file).subarray(before)

  for (let cut = 1; cut < sixth.length; cut += 7) {
    writeFileSync(file, Buffer.concat([whole, sixth.subarray(0, cut)]))
    const { tables, flaws } = readAll(directory)
    expect(tables).toEqual(kept.slice(0, 5))
    expect(flaws).toEqual([
      expect.objectContaining({
        kind: 'cut',
        text: `2026-01-31.universe ends within an answer: ${cut} bytes are left out`,
      }),
    ])
  }
  torn.length = 0
  const third = openWriter(directory)
  const after = await keep(third, drawn, { fromMinute: 6, minutes: 3 })
  await third.close()

  expect(torn).toEqual([[file, expect.any(Number)]])
  expect(readAll(directory)).toMatchObject({
    tables: [...kept.slice(0, 5), ...after],
    flaws: [],
  })
})

test('a file that was changed is read up to the change, and followed by another one', async () => {
  const directory = newDirectory()
  const drawn = new DrawnTickers({ count: 5, seed: 3 })
  const first = openWriter(directory)
  const kept = await keep(first, drawn, { fromMinute: 0, minutes: 6 })
  await first.close()
  const file = join(directory, '2026-01-31.universe')
  const bytes = readFileSync(file)
  const place = bytes.length - 40
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(file, bytes)

  const second = openWriter(directory)
  const after = await keep(second, drawn, { fromMinute: 6, minutes: 2 })
  await second.close()
  const read = readAll(directory)

  expect(read.tables).toEqual([...kept.slice(0, 5), ...after])
  expect(read.flaws).toEqual([
    expect.objectContaining({ kind: 'damaged', text: expect.stringContaining('was changed') }),
  ])
  expect(readdirSync(directory)).toContain('2026-01-31-2.universe')
})

test('a file that ends before it has begun is said, and the day goes on in another one', async () => {
  const directory = newDirectory()
  await openWriter(directory).close()
  writeFileSync(join(directory, '2026-01-31.universe'), UNIVERSE_MAGIC)
  const drawn = new DrawnTickers({ count: 5, seed: 3 })

  expect(() => new UniverseRecording(directory)).toThrow('no file of kept tickers has an answer')
  const writer = openWriter(directory)
  const kept = await keep(writer, drawn, { fromMinute: 0, minutes: 2 })
  await writer.close()

  const { tables, flaws } = readAll(directory)
  expect(tables).toEqual(kept)
  expect(flaws).toHaveLength(1)
})

test('files of a version that had other columns are read beside those of today', async () => {
  const directory = newDirectory()
  const drawn = new DrawnTickers({ count: 5, seed: 3 })
  const first = openWriter(directory)
  await keep(first, drawn, { fromMinute: 0, minutes: 1 })
  await first.close()
  const file = join(directory, '2026-01-31.universe')
  const head = { source: 'api.example.com', productType: 'USDT-FUTURES', columns: ['lastPr'] }
  const block = buildBlock(zstdCompressSync(Buffer.from(JSON.stringify(head))), 0)
  writeFileSync(file, Buffer.concat([UNIVERSE_MAGIC, block]))

  const second = openWriter(directory)
  const kept = await keep(second, drawn, { fromMinute: 1, minutes: 2 })
  await second.close()

  expect(readdirSync(directory)).toContain('2026-01-31-2.universe')
  expect(readAll(directory)).toMatchObject({ tables: kept, flaws: [] })
})

test('a second writer, another exchange and an unknown format are refused', async () => {
  const directory = newDirectory()
  const writer = openWriter(directory)
  expect(() => openWriter(directory)).toThrow(
    expect.objectContaining({ code: 'UNIVERSE_FILES_HELD' }),
  )
  await keep(writer, new DrawnTickers({ count: 2, seed: 3 }), { fromMinute: 0, minutes: 1 })
  await writer.close()
  expect(() => openWriter(directory, 'other.example.com')).toThrow(
    expect.objectContaining({ code: 'UNIVERSE_FILES_DIFFER' }),
  )
  writeFileSync(join(directory, '2026-02-03.universe'), 'INTENTU77 and more')
  expect(() => new UniverseRecording(directory)).toThrow(
    expect.objectContaining({ code: 'UNIVERSE_FILE_UNKNOWN' }),
  )
  expect(() => new UniverseRecording(join(directory, 'none'))).toThrow(
    expect.objectContaining({ code: 'UNIVERSE_FILES_MISSING' }),
  )
})

test('after a write that failed the next answer is kept behind the last whole block', async () => {
  const directory = newDirectory()
  const drawn = new DrawnTickers({ count: 5, seed: 3 })
  const writer = openWriter(directory)
  const kept = await keep(writer, drawn, { fromMinute: 0, minutes: 3 })
  const file = join(directory, '2026-01-31.universe')
  const size = statSync(file).size
  const invalid = new TickerTable()
  invalid.requestTime = AT + 3 * MINUTE_MS
  Object.defineProperty(invalid, 'unreadable', {
    get: () => {
      throw new Error('no space left')
    },
  })

  await expect(writer.append(invalid)).rejects.toThrow('no space left')
  appendFileSync(file, 'half a block')
  const after = await keep(writer, drawn, { fromMinute: 4, minutes: 2 })
  await writer.close()

  expect(readAll(directory)).toEqual({ tables: [...kept, ...after], listings: [], flaws: [] })
  truncateSync(file, size)
  expect(readAll(directory).tables).toEqual(kept)
})
