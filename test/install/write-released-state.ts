/**
 * Keeps what this version leaves behind, for the test of an upgrade: `npm run released-state`, once for each release,
 * before its version goes up, and `npm run released-state -- layout-6` before layout 6 becomes another. It trades on paper for six seconds, and packs journal and exchange, some 40 kB.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { postgresServer } from '../support/postgres-server.ts'

const ROOT = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
}
const [suffix] = process.argv.slice(2)
const place = join(
  import.meta.dirname,
  'released',
  suffix === undefined ? version : `${version}-${suffix}`,
)

mkdirSync(place, { recursive: true })
writeConfig()
const directory = mkdtempSync(join(tmpdir(), 'released-'))
try {
  const summary = trade()
  const worlds = readdirSync(directory, { withFileTypes: true }).filter(({ name }) =>
    name.startsWith('one-way'),
  )
  const world = worlds[0]?.name ?? ''
  shrink(join(directory, world, 'exchange.sqlite'))
  for (const file of [
    'journal.sqlite',
    'journal.sqlite.mark',
    'exchange.sqlite',
    'instruments.json',
  ])
    writeFileSync(
      join(place, `${file}.gz`),
      gzipSync(readFileSync(join(directory, world, file)), { level: 9 }),
    )
  await writeServerJournal()
  writeFileSync(
    join(place, 'left.json'),
    `${JSON.stringify({ ...summary, world }, undefined, 2)}\n`,
  )
} finally {
  rmSync(directory, { recursive: true })
}

/** The shipped one, as it was then. */
function writeConfig(): void {
  const paper = readFileSync(join(ROOT, 'config/paper.yaml'), 'utf8')
    .replace(/^ {2}- strategies\//gm, '  - ../../../../config/strategies/')
    .replace('speed: 60 ', 'speed: 600 ')
    .replace('port: 8790', 'port: 0')
  writeFileSync(join(place, 'config.yaml'), paper)
}

/** The same journal as it is on a server: moved there by this version, and dumped without what only psql reads. */
async function writeServerJournal(): Promise<void> {
  const { url } = await (await postgresServer()).newDatabase()
  const words = ['journal', 'copy', '--to', 'postgres', '-c', join(place, 'config.yaml')]
  const settings = [`state.directory=${directory}`, `journal.url=${url}`].flatMap((one) => [
    '--set',
    one,
  ])
  spawn(process.execPath, ['bin/intentd.mjs', ...words, ...settings])
  const dump = spawn('pg_dump', [
    '--no-owner',
    '--no-privileges',
    '--inserts',
    '--rows-per-insert=200',
    '--schema=intentd_paper',
    url,
  ])
  const lines = dump
    .split('\n')
    .filter((line) => !/^(?:--|\\|SET transaction_timeout|$)/.test(line))
  writeFileSync(
    join(place, 'journal-on-server.sql.gz'),
    gzipSync(`${lines.join('\n')}\n`, { level: 9 }),
  )
}

function spawn(program: string, words: readonly string[]): string {
  const run = spawnSync(program, words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 100_000_000 })
  if (run.status !== 0)
    throw new Error(`${program} ended with ${run.status}: ${run.stderr.slice(-2000)}`)
  return run.stdout
}

/** What it left, by the exchange's ledger. */
function trade() {
  const words = ['run', '-c', join(place, 'config.yaml'), '--set', `state.directory=${directory}`]
  const summary = spawn(process.execPath, [
    'bin/intentd.mjs',
    ...words,
    '--for',
    '6s',
    '--summary',
    'json',
  ])
  const { exchange } = JSON.parse(summary) as {
    exchange: {
      openOrders: number
      fills: number
      balance: string
      positions: Record<string, string>
    }
  }
  const { openOrders, fills, balance, positions } = exchange
  return { at: Date.now(), openOrders, fills, balance, positions }
}

/** The minutes of the day before are nearly all of it, and only statistics: they begin anew. */
function shrink(file: string): void {
  const database = new DatabaseSync(file)
  database.exec('DELETE FROM minutes; VACUUM')
  database.close()
}
