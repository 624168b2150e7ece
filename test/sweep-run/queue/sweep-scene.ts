import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { BacktestProject } from '../../backtest/backtest-project.ts'
import { IntentdProcess, killLeftOver } from '../../daemon/intentd-process.ts'
import { postgresServer } from '../../support/postgres-server.ts'

const START_AT = Date.UTC(2025, 0, 1)
const MINUTE_MS = 60_000

/** Buys and sells by the clock, and throws at 7 lots; in a folder with a file `hold` no decision ever ends. */
const STRATEGY = `import { existsSync } from 'node:fs'
import { defineStrategy, z } from 'intentd/strategy'
import { MINUTE_MS } from './clock.ts'
const holds = existsSync('hold')
export default defineStrategy({
  name: 'timed',
  params: z.strictObject({ everyMinutes: z.number().int(), lots: z.number().int() }),
  initialState: () => ({ next: 0 }),
  decide(snapshot, { params, state }) {
    if (holds) for (;;);
    if (params.lots === 7) throw new Error('seven is too much for ' + import.meta.filename)
    const [market] = snapshot.instruments
    const turn = Math.floor(snapshot.exchangeTime / (params.everyMinutes * MINUTE_MS))
    if (!market || turn === state.next) return { intents: [], state }
    return { intents: [market.target(turn % 2 === 0 ? params.lots : 0)], state: { next: turn } }
  },
})
`

/** A project in a folder, and copies of it: other machines. */
export class SweepScene {
  readonly #project = new BacktestProject(['BTCUSDT'], [])
  readonly #copies: string[] = []

  constructor() {
    const project = this.#project
    project.write('scripted.ts', STRATEGY)
    project.write('clock.ts', 'export const MINUTE_MS = 60_000\n')
    project.edit(
      'scripted.yaml',
      'instruments:',
      'isolation: inline\nparams: { everyMinutes: 60, lots: 1 }\ninstruments:',
    )
    project.edit('main.yaml', 'pollMs: 5000', 'pollMs: 60000')
    const price = (minute: number): string => (100_000 + 300 * Math.sin(minute / 40)).toFixed(1)
    const rows = Array.from({ length: 6 * 60 }, (_, minute) =>
      [
        START_AT + minute * MINUTE_MS,
        price(minute),
        price(minute),
        price(minute),
        price(minute),
        50,
      ].join(','),
    )
    project.write('BTCUSDT.csv', `ts_ms,open,high,low,close,volume\n${rows.join('\n')}\n`)
  }

  get directory(): string {
    return this.#project.directory
  }

  write(name: string, text: string): void {
    this.#project.write(name, text)
  }

  read(...path: readonly string[]): string {
    return readFileSync(join(this.directory, ...path), 'utf8')
  }

  /** @param files What is in it and not in the project. */
  copy(files: Readonly<Record<string, string>> = {}): string {
    const directory = mkdtempSync(join(tmpdir(), 'intentd-worker-'))
    this.#copies.push(directory)
    cpSync(this.directory, directory, { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
    return directory
  }

  change(directory: string, name: string, change: (text: string) => string): void {
    const file = join(directory, name)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
  }

  /** Words of a sweep in the project. */
  words(out: string, ...more: readonly string[]): readonly string[] {
    return [
      'sweep',
      'main.yaml',
      '--params',
      'sweep.yaml',
      '--market',
      'BTCUSDT.csv',
      '--out',
      out,
      ...more,
    ]
  }

  start(words: readonly string[], cwd = this.directory): IntentdProcess {
    return new IntentdProcess(words, { cwd })
  }

  async close(): Promise<void> {
    await killLeftOver()
    for (const directory of this.#copies) rmSync(directory, { recursive: true, force: true })
    this.#project.remove()
  }
}

/** Until a process has said it on its standard error. */
export function says(started: IntentdProcess, text: string): Promise<void> {
  return started.until(text, () => started.stderr.some((line) => line.includes(text)))
}

/** A database of its own on the tests' server: the queue's schema has always the same name. */
export async function newQueue(): Promise<string> {
  const { port } = await postgresServer()
  const name = `sweeps_${process.pid}_${queues++}`
  await askServer(`postgresql://postgres@127.0.0.1:${port}/postgres`, `CREATE DATABASE ${name}`)
  return `postgresql://postgres@127.0.0.1:${port}/${name}`
}

export async function askServer(url: string, sql: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<object>(sql)).rows
  } finally {
    await client.end()
  }
}

let queues = 0
