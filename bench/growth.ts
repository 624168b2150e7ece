// How a journal grows: the shipped strategies with the polling and the speed of `config/paper.yaml` in virtual time,
// on a real journal file. The bytes of its records by kind, and of a decision by part; and those of the file when
// the journal is closed. `npm run bench:growth -- [--minutes 60] [--seed 1] [--speed 60]`

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Backtest } from '../src/backtest/backtest.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { type JournalRecord } from '../src/domain/record.ts'
import { type Journal } from '../src/journal/journal.ts'
import { openSqliteJournal } from '../src/journal/sqlite-journal.ts'
import { openPaperAccount, START_AT } from '../test/backtest/paper-account.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    speed: { type: 'string' },
  },
})

interface Share {
  records: number
  bytes: number
}

const folder = mkdtempSync(join(tmpdir(), 'bench-growth-'))
try {
  await measure(join(folder, 'journal.sqlite'))
} finally {
  rmSync(folder, { recursive: true })
}

async function measure(file: string): Promise<void> {
  const { config } = loadConfig({ file: 'config/paper.yaml', cwd: join(import.meta.dirname, '..') })
  const { tickersMs, fillsMs, positionsMs } = config.polling
  const speed = Number(values.speed ?? config.simulator?.speed ?? 1)
  const kinds = new Map<string, Share>()
  const parts = new Map<string, Share>()
  const journals: Journal[] = []
  const backtest = new Backtest({
    startAt: START_AT,
    ...(await openPaperAccount(values.seed, { speed })),
    polling: { tickersMs, fillsMs, positionsMs, timeMs: 100 },
    latencyMs: 5,
    listener: { recorded: (record) => count(record, { kinds, parts }) },
    createJournal: () => {
      const journal = openSqliteJournal({
        file,
        identity: 'bench',
        salt: 'salt',
        keepSince: () => 0,
      })
      journals.push(journal)
      return journal
    },
  })
  const minutes = Number(values.minutes)
  backtest.runUntil(backtest.now + minutes * 60_000)
  backtest.stop('leave')
  for (const journal of journals) journal.close()
  const hours = minutes / 60
  print('records', kinds, hours)
  print('of decisions', parts, hours)
  const fills = [...backtest.book.money.values()].reduce((sum, money) => sum + money.fills, 0)
  console.log(`${fills} fills; the file: ${megabytes(statSync(file).size / hours)} an hour`)
}

function count(
  record: JournalRecord,
  { kinds, parts }: { kinds: Map<string, Share>; parts: Map<string, Share> },
): void {
  add(kinds, record.kind, JSON.stringify(record))
  if (record.kind !== 'decision') return
  for (const [part, value] of Object.entries(record))
    add(parts, part, JSON.stringify({ [part]: value }))
}

function add(shares: Map<string, Share>, name: string, text: string): void {
  const share = shares.get(name) ?? { records: 0, bytes: 0 }
  shares.set(name, share)
  share.records += 1
  share.bytes += text.length
}

function print(title: string, shares: ReadonlyMap<string, Share>, hours: number): void {
  const total = [...shares.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  console.log(`${title}: ${megabytes(total / hours)} an hour`)
  for (const [name, { records, bytes }] of [...shares].sort(
    ([, one], [, other]) => other.bytes - one.bytes,
  )) {
    const share = ((100 * bytes) / total).toFixed(1).padStart(5)
    console.log(`  ${share} %  ${String(Math.round(records / hours)).padStart(7)} of ${name}`)
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`
}
