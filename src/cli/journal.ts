import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../config/load-config.ts'
import { loadCredentials, loadJournalPassword } from '../config/secrets.ts'
import { rekeyJournal, type RekeyReport } from '../daemon/rekey-journal.ts'
import { backUpState } from '../assembly/state/back-up-state.ts'
import { copyState, type StateToCopy } from '../assembly/state/copy-state.ts'
import { readRunStart } from '../assembly/state/running-config.ts'
import { JOURNAL_FILE, stateDirectoryOf } from '../assembly/state/state-place.ts'
import { migrateState, type StateMigration } from '../assembly/state/migrate-state.ts'
import type { CopyProgress, CopyReport } from '../journal/copy/copy-options.ts'
import { systemClock } from '../lib/clock.ts'
import { systemTimers } from '../lib/timers.ts'
import type { MarketOptions } from '../assembly/instruments/played-request.ts'
import { addConfigOptions, listOption, parseSpeed, repeatOptions } from './process/options.ts'
import type { VerbFrame } from './process/verb-frame.ts'
import { writeAside, writeOut } from '../lib/write-out.ts'

const PROGRESS_MS = 2000

interface CopyCommandOptions extends ConfigOptions, MarketOptions, Pick<StateToCopy, 'to'> {}

interface MigrateCommandOptions extends ConfigOptions, MarketOptions {
  readonly dryRun?: boolean
}

interface RekeyCommandOptions extends ConfigOptions {
  readonly unproved?: boolean
}

export function addJournalCommand(program: Command, { version, setExit }: VerbFrame): void {
  const journal = program
    .command('journal')
    .description('move a journal, back it up, migrate it, or take a rotated key over')
  addConfigOptions(journal.command('copy'))
    .description(
      'move the journal between the file in state.directory and the server in journal.url; no daemon may run',
    )
    .addOption(
      new Option('--to <place>', 'where the journal goes')
        .choices(['postgres', 'file'])
        .makeOptionMandatory(),
    )
    .addOption(listOption('--market <file>', 'as given to run'))
    .option('--speed <n>', 'as given to run', parseSpeed)
    .action(async (options: CopyCommandOptions) => setExit(await copy(options)))
  addConfigOptions(journal.command('rekey'))
    .description(
      "take over a rotated key, after its account's positions, fills and open orders were compared; no daemon may run",
    )
    .option(
      '--unproved',
      'take it over on your word that it is the same account, where no position, fill or open order can show it',
    )
    .action(async (options: RekeyCommandOptions) => setExit(await rekey(options, version)))
  addConfigOptions(journal.command('migrate'))
    .description(
      'give the journal of an earlier version the present layout, after a copy; no daemon may run',
    )
    .option('--dry-run', 'only say what would be done')
    .addOption(listOption('--market <file>', 'as given to run'))
    .option('--speed <n>', 'as given to run', parseSpeed)
    .action(async (options: MigrateCommandOptions) => setExit(await migrate(options)))
  addConfigOptions(journal.command('backup'))
    .argument('<directory>', 'where the copy goes; nothing is there yet')
    .description('copy the state directory, proved, also while a daemon trades')
    .action((to: string, options: ConfigOptions) => setExit(backUp(to, options)))
}

function backUp(to: string, options: ConfigOptions): number {
  const { config } = loadConfig(toConfigRequest(options))
  const { directory } = config.state
  const { counted, last, files } = backUpState({ config, directory, to })
  const text = [
    `copied:   ${directory} to ${to}, as it was at one moment`,
    `records:  ${toCount(counted.records)}, the last one is ${toCount(last.sequence)} (${last.link})`,
    `proved:   every record, row and sum of the copy is as it was written`,
    `files:    ${[JOURNAL_FILE, ...files].join(', ')}`,
    `restore:  stop the daemon, put the copy in the place of ${directory}, start it`,
    `older:    if anything was traded since, do not start it: \`intentd repair --from-exchange${repeatOptions(options)}\` first; pauses and releases made since are not in it either`,
  ]
  writeOut(`${text.join('\n')}\n`)
  return 0
}

const REKEYED: Readonly<Record<Exclude<RekeyReport['kind'], 'same'>, string>> = {
  taken: 'taken:   the journal is that of this key now',
  unproved:
    'taken:   the journal is that of this key now, on your word: nothing showed that the account is the same',
}

async function rekey(
  { unproved, ...options }: RekeyCommandOptions,
  version: string,
): Promise<number> {
  const request = toConfigRequest(options)
  const { config } = loadConfig(request)
  const { kind, compared } = await rekeyJournal({
    config,
    directory: config.state.directory,
    credentials: loadCredentials(config, request),
    password: loadJournalPassword(config, request),
    version,
    clock: systemClock,
    timers: systemTimers,
    configOption: repeatOptions(options),
    isVouched: unproved === true,
  })
  const text =
    kind === 'same'
      ? ['nothing to do: the journal was written with this key']
      : [...compared.map((one) => `agrees:  ${one}`), REKEYED[kind]]
  writeOut(`${text.join('\n')}\n`)
  return 0
}

async function migrate({
  dryRun,
  market,
  speed,
  ...options
}: MigrateCommandOptions): Promise<number> {
  const played = { files: market, speed }
  const request = { ...toConfigRequest(options), played }
  const { config } = loadConfig(request)
  const isDry = dryRun === true
  const directory = stateDirectoryOf(config, played)
  const migration = await migrateState({
    config,
    isDry,
    clock: systemClock,
    directory,
    password: loadJournalPassword(config, request),
  })
  const text = migration
    ? describeMigration(migration, isDry)
    : describeNothingToDo(config, directory)
  writeOut(`${text}\n`)
  return 0
}

function describeNothingToDo({ journal }: DaemonConfig, directory: string): string {
  const file = join(directory, JOURNAL_FILE)
  if (journal?.url === undefined && !existsSync(file))
    return `nothing to do: there is no journal at ${file}`
  return `nothing to do: the journal ${journal?.url === undefined ? file : 'on the server'} has the present layout`
}

function describeMigration(migration: StateMigration, isDry: boolean): string {
  const { from, to, counted, copy: kept, bytes } = migration
  const where = migration.kind === 'file' ? migration.file : `schema ${migration.schema}`
  return [
    `${isDry ? 'would be: ' : 'migrated: '} ${where}, from layout ${from} to ${to}`,
    `copy:      ${migration.kind === 'file' ? kept : `schema ${kept}`}, the journal as it ${isDry ? 'is' : 'was'}`,
    `records:   ${toCount(counted.records)}`,
    `book:      ${toCount(counted.book)} rows, ${toCount(counted.keys)} used keys`,
    `booked:    ${toCount(counted.fills)} fills, ${toCount(counted.funding)} funding payments`,
    `size:      ${toMegabytes(bytes)} MB${describeRoom(migration)}`,
    isDry
      ? 'next:      the same command without --dry-run'
      : 'proved:    every record, row and sum, before and after',
  ].join('\n')
}

function describeRoom(migration: StateMigration): string {
  if (migration.kind === 'server') return '; the copy takes as much again on the disk of the server'
  const { neededBytes, freeBytes } = migration
  const room = `of the disk ${toMegabytes(neededBytes)} MB are needed, and ${toMegabytes(freeBytes)} MB free`
  return `; ${room}${freeBytes < neededBytes ? ': NOT ENOUGH' : ''}`
}

function toMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

async function copy({ to, market, speed, ...options }: CopyCommandOptions): Promise<number> {
  const played = { files: market, speed }
  const request = { ...toConfigRequest(options), played }
  const { config } = loadConfig(request)
  const directory = stateDirectoryOf(config, played)
  const begunAt = systemClock.monotonic()
  const report = await copyState({
    config,
    directory,
    to,
    clock: systemClock,
    timers: systemTimers,
    password: loadJournalPassword(config, request),
    onProgress: progressPrinter(),
  })
  const seconds = (systemClock.monotonic() - begunAt) / 1000
  writeOut(`${describeCopy(report, { to, seconds, next: describeNext(config, options, to) })}\n`)
  return 0
}

export function describeNext(
  config: Pick<DaemonConfig, 'file' | 'state'>,
  options: ConfigOptions,
  to: StateToCopy['to'],
): string {
  const { config: file = config.file } = options
  const isSet = options.set.some((one) => one.startsWith('journal.url='))
  const kept = options.set.filter((one) => to === 'postgres' || !one.startsWith('journal.'))
  const start = readRunStart(config)
  const isListed = start !== undefined && start.mainFile !== config.file
  // A listed account runs with the main file, whose `--set` does not apply to it.
  const again = isListed
    ? repeatOptions({ config: start.mainFile, set: start.set })
    : repeatOptions({ ...options, set: kept })
  const run = `\`intentd run${again}\``
  if (to === 'postgres')
    return `${isListed && isSet ? `set journal.url in ${file}, then ` : ''}${run}, here or on another machine`
  return isSet
    ? `${run}, without --set journal.url`
    : `take journal.url out of ${file}, then ${run}`
}

function progressPrinter(): (progress: CopyProgress) => void {
  let saidAt = systemClock.monotonic()
  return ({ doing, rows, of }) => {
    const now = systemClock.monotonic()
    if (now - saidAt < PROGRESS_MS) return
    saidAt = now
    writeAside(`${doing}: ${toCount(Math.min(rows, of))} of ${toCount(of)} rows\n`)
  }
}

interface CopyDescription extends Pick<StateToCopy, 'to'> {
  readonly seconds: number
  readonly next: string
}

export function describeCopy(
  { kind, counted, last }: CopyReport,
  { to, seconds, next }: CopyDescription,
): string {
  const lines = {
    copied: `copied:   in ${seconds.toFixed(1)} s, and read back: every record, row and sum is as it was written`,
    kept: 'kept:     the server has nothing of it, so the journal goes on in the file as it was',
    done: 'done:     it was copied before',
  }
  return [
    lines[kind],
    ...(counted === undefined
      ? []
      : [
          `records:  ${toCount(counted.records)}, the last one is ${toCount(last.sequence)} (${last.link})`,
          `book:     ${toCount(counted.book)} rows, ${toCount(counted.keys)} used keys`,
          `booked:   ${toCount(counted.fills)} fills, ${toCount(counted.funding)} funding payments`,
        ]),
    ...describeLeft(kind, to).map((text) => `left:     ${text}`),
    `next:     ${next}`,
  ].join('\n')
}

function describeLeft(kind: CopyReport['kind'], to: StateToCopy['to']): readonly string[] {
  if (to === 'postgres')
    return [
      'the file is marked as moved: no start takes it for the journal, explain still reads it',
    ]
  if (kind === 'kept') return []
  return ['the server says that its journal moved: no start or standby goes on with it']
}

function toCount(value: number): string {
  return value.toLocaleString('en-US')
}
