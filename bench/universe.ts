// Keeping all tickers: the size of a day, the CPU of keeping an answer, and of reading days again.
// `node bench/universe.ts [instruments] [days that are read]`, default 600 and 1. Days are copies of the first one.

import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TickerTable } from '../src/domain/ticker-table.ts'
import { UniverseRecording } from '../src/recording/universe/universe-recording.ts'
import { UniverseWriter } from '../src/recording/universe/universe-writer.ts'
import { DrawnTickers } from '../test/support/drawn-tickers.ts'

const DAY_MINUTES = 1440
const AT = Date.UTC(2026, 0, 1)

const [count = 600, days = 1] = process.argv.slice(2).map(Number)
const directory = mkdtempSync(join(tmpdir(), 'bench-universe-'))
const nameOf = (day: number): string =>
  join(directory, `${new Date(AT + day * 86_400_000).toISOString().slice(0, 10)}.universe`)

function cpuMs(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function keepDay(): Promise<number> {
  const drawn = new DrawnTickers({ count, seed: 1, churn: 10 })
  const table = new TickerTable()
  const writer = new UniverseWriter({
    directory,
    source: 'drawn',
    productType: 'USDT-FUTURES',
    holder: { pid: process.pid, since: 0, host: '', name: '', command: '' },
    onTorn: () => undefined,
  })
  let spentMs = 0
  for (let minute = 0; minute < DAY_MINUTES; minute++) {
    drawn.next(table, AT + minute * 60_000 + 150)
    const before = process.cpuUsage()
    await writer.append(table)
    spentMs += cpuMs(before)
  }
  await writer.close()
  return spentMs
}

try {
  const keptMs = await keepDay()
  const { size } = statSync(nameOf(0))
  for (let day = 1; day < days; day++) copyFileSync(nameOf(0), nameOf(day))
  const before = process.cpuUsage()
  let answers = 0
  for (const { kind } of new UniverseRecording(directory).entries())
    if (kind === 'tickers') answers += 1
  const readMs = cpuMs(before)
  console.log(`${count} instruments, an answer a minute, ${answers} of one day`)
  console.log(
    `a day      ${(size / 1e6).toFixed(1)} MB, ${Math.round(size / DAY_MINUTES)} bytes an answer`,
  )
  console.log(`keeping    ${(keptMs / DAY_MINUTES).toFixed(1)} ms of CPU an answer`)
  console.log(`reading    ${(readMs / days / 1000).toFixed(2)} s of CPU a day, of ${days}`)
  console.log(`memory     ${Math.round(process.resourceUsage().maxRSS / 1000)} MB at most`)
} finally {
  rmSync(directory, { recursive: true })
}
