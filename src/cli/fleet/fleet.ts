import type { Command } from 'commander'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import type {
  FleetAccount,
  FleetStandby,
  FleetMemberRow,
} from '../../journal/fleet/fleet-accounts.ts'
import type { Fleet, FleetAlertRow, FleetReader } from '../../journal/fleet/fleet-reader.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { wrapWords } from '../../lib/text/wrap-words.ts'
import { systemTimers } from '../../lib/timers.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { writeOut } from '../../lib/write-out.ts'
import { databaseOf, loadFleetPlaces } from '../operator/fleet-places.ts'
import { exitOf, EXITS } from '../process/exit-codes.ts'
import { print, printOnce } from '../process/operator.ts'
import {
  addConfigOptions,
  assertDatabase,
  parseCount,
  parseDuration,
  repeatOptions,
} from '../process/options.ts'
import { age, COLUMNS } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

const WATCH_MS = 1000
const CLEAR_SCREEN = '\u001B[2J\u001B[H'
const INDENT = '  '
/** Members report at each renewal of their lease, every 75 s at most. */
const SHOWN_WITHIN_MS = 90_000
const WORKER_SHOWN_WITHIN_MS = 30_000
const ALERTS_LISTED = 50
const ALERTS_READ_MAX = 1000
const URL_FLAGS = '--url <address>'
const NO_ALERTS = 'no account of this database has raised an alert within a month'

interface FleetOptions extends ConfigOptions {
  readonly json?: boolean
  readonly watch?: number | true
  readonly url?: string
}

export function addFleetCommand(program: Command, { setExit }: VerbFrame): void {
  const fleet = program
    .command('fleet')
    .description('show all accounts with journals in one PostgreSQL database')
  addConfigOptions(fleet.command('status'))
    .description(
      'show who writes each journal, and who stands by; on any machine that reaches the database',
    )
    .option('--watch [every]', 'repeat every second, or at this interval', parseDuration)
    .option('--json', 'as JSON')
    .option(URL_FLAGS, 'this database, without a configuration')
    .action(async (options: FleetOptions, command: Command) => {
      assertDatabase(command, URL_FLAGS, options.url)
      const screen = new FleetScreen()
      setExit(await lookAtDatabases(options, (database) => showFleet(database, options, screen)))
    })
  addConfigOptions(fleet.command('alerts'))
    .description('show the alerts of all accounts in one stream, the newest last')
    .option('--follow', 'go on with new ones, until Ctrl-C')
    .option('--limit <n>', 'how many earlier ones', parseCount, ALERTS_LISTED)
    .option('--json', 'one JSON object per line')
    .option(URL_FLAGS, 'this database, without a configuration')
    .action(async (options: FleetAlertsOptions, command: Command) => {
      assertDatabase(command, URL_FLAGS, options.url)
      setExit(await lookAtDatabases(options, (database) => showAlerts(database, options)))
    })
}

interface FleetAlertsOptions extends ConfigOptions {
  readonly json?: boolean
  readonly follow?: boolean
  readonly limit: number
  readonly url?: string
}

export async function showAlerts(
  { name, reader }: FleetDatabase<Pick<FleetReader, 'readAlerts' | 'assertVersion'>>,
  { limit, json, follow }: Pick<FleetAlertsOptions, 'limit' | 'json' | 'follow'>,
): Promise<number> {
  const prefix = name === undefined ? '' : `${name}: `
  const of = name === undefined ? {} : { database: name }
  const show = (alert: FleetAlertRow): string =>
    json ? `${JSON.stringify({ ...of, ...alert })}\n` : `${prefix}${formatAlert(alert)}\n`
  await reader.assertVersion()
  let last: number | undefined
  for (;;) {
    const most =
      last === undefined ? Math.min(Math.max(1, limit), ALERTS_READ_MAX) : ALERTS_READ_MAX
    const alerts = await readOrWait(reader, { after: last, most, prefix })
    const shown = last === undefined && limit === 0 ? [] : alerts
    if (!json && last === undefined && alerts.length === 0) writeOut(`${prefix}${NO_ALERTS}\n`)
    else writeOut(shown.map(show).join(''))
    last = alerts.at(-1)?.id ?? last ?? 0
    if (!follow || process.stdout.errored) return 0
    await new Promise<void>((resolve) => systemTimers.after(WATCH_MS, resolve))
  }
}

async function readOrWait(
  reader: Pick<FleetReader, 'readAlerts'>,
  {
    after,
    most,
    prefix,
  }: { readonly after: number | undefined; readonly most: number; readonly prefix: string },
): Promise<readonly FleetAlertRow[]> {
  try {
    return await reader.readAlerts(after, most)
  } catch (error) {
    if (after === undefined) throw error
    printOnce(`${prefix}${messageOf(error)}`)
    return []
  }
}

class FleetScreen {
  readonly #texts = new Map<string | undefined, string>()

  write(name: string | undefined, text: string, isWatched: boolean): void {
    if (!isWatched || !process.stdout.isTTY) return writeOut(text)
    this.#texts.set(name, text)
    process.stdout.write(CLEAR_SCREEN)
    writeOut([...this.#texts.values()].join('\n'))
  }
}

async function showFleet(
  { name, reader }: FleetDatabase<FleetReader>,
  { watch, json }: Pick<FleetOptions, 'watch' | 'json'>,
  screen: FleetScreen,
): Promise<number> {
  const isWatched = watch !== undefined
  for (;;) {
    const { text, code } = await describeDatabase({ name, reader }, { json, isWatched })
    screen.write(name, text, isWatched)
    if (!isWatched || process.stdout.errored) return code
    const everyMs = watch === true ? WATCH_MS : watch
    await new Promise<void>((resolve) => systemTimers.after(everyMs, resolve))
  }
}

export async function describeDatabase(
  { name, reader }: FleetDatabase<Pick<FleetReader, 'assertVersion' | 'read'>>,
  { json, isWatched }: { readonly json: boolean | undefined; readonly isWatched: boolean },
): Promise<{ readonly text: string; readonly code: number }> {
  const heading = name === undefined ? '' : `== ${name}\n`
  try {
    await reader.assertVersion()
    const fleet = await reader.read()
    const of = name === undefined ? {} : { database: name }
    const text = json
      ? `${JSON.stringify({ ...of, ...fleet }, undefined, 2)}\n`
      : `${heading}${formatFleet(fleet)}`
    return { text, code: exitOfFleet(fleet) }
  } catch (error) {
    if (name === undefined || !isWatched || json) throw error
    return { text: `${heading}${paragraph(`! ${messageOf(error)}`)}`, code: exitOf(error) }
  }
}

export function exitOfFleet({ accounts, unread }: Pick<Fleet, 'accounts' | 'unread'>): number {
  const isSound = unread.length === 0 && accounts.every(({ state }) => state !== 'vanished')
  return isSound ? 0 : EXITS.temporary
}

export function formatFleet({
  accounts,
  unread,
  workers,
  alerts,
  trouble,
}: Omit<Fleet, 'now'>): string {
  if (accounts.length + unread.length + workers.length === 0)
    return 'there is no journal in this database yet\n'
  return [
    ...accounts.map(
      (account) =>
        `${account.schema}\n${[
          describeWriter(account),
          ...describeShown(account),
          ...describeKill(account),
          ...account.standbys.flatMap(describeStandby),
        ]
          .map(paragraph)
          .join('')}`,
    ),
    ...unread.map(
      ({ schema, reason }) => `${schema}\n${paragraph(`! it cannot be read: ${reason}`)}`,
    ),
    ...(workers.length === 0
      ? []
      : [`workers\n${workers.map(describeWorker).map(paragraph).join('')}`]),
    ...(alerts.length === 0 ? [] : [`alerts\n${alerts.map(formatAlert).map(paragraph).join('')}`]),
    ...(trouble === undefined
      ? []
      : [paragraph(`! workers and alerts cannot be read: ${trouble}`)]),
  ].join('\n')
}

function describeWriter(account: FleetAccount): string {
  const { state, holder, takenAt, leaseLeftMs, freeInMs, isHandoverAsked, movedTo } = account
  const since = `since ${instant(takenAt)}`
  switch (state) {
    case 'writes':
      return `written by ${holder}, ${since}; its lease lasts ${age(leaseLeftMs)} unless renewed${isHandoverAsked ? '; it was asked to hand over' : ''}`
    case 'vanished': {
      const next =
        freeInMs > 0 ? `a standby may take over in ${age(freeInMs)}` : 'a standby may take over now'
      return `! nobody writes it: the lease of ${holder} ran out ${age(-leaseLeftMs)} ago; ${next}`
    }
    case 'ended':
      return `nobody writes it: ${holder} has given its lease back`
    case 'moved':
      return `its journal was moved to ${movedTo ?? 'elsewhere'}; last written by ${holder}`
    case 'new':
      return 'nobody has written it yet'
    default:
      return unreachable(state)
  }
}

function describeShown({ shown, state }: FleetAccount): readonly string[] {
  if (shown?.state['mode'] === undefined) return []
  const say = (name: string): string => textOf(shown.state[name])
  const asOf =
    state === 'writes' && shown.seenAgoMs < SHOWN_WITHIN_MS ? '' : `, ${age(shown.seenAgoMs)} ago`
  const worth = shown.state['equity'] === null ? '' : `, equity ${say('equity')} ${say('coin')}`
  const orders = shown.state['openOrders'] === 1 ? '1 order' : `${say('openOrders')} orders`
  const positions = textsOf(shown.state['positions'])
  const holds = positions.length === 0 ? 'flat' : positions.join(', ')
  return [
    `${say('mode')}, ${say('phase')}${asOf}: ${orders} open, ${holds}${worth}; version ${say('version')}`,
    ...textsOf(shown.state['held']).map((text) => `! ${text}`),
  ]
}

function describeWorker({ holder, state, seenAgoMs }: FleetMemberRow): string {
  if (seenAgoMs >= WORKER_SHOWN_WITHIN_MS) return `${holder}: ! not seen for ${age(seenAgoMs)}`
  const said = Object.entries(state).map(([name, value]) => `${name} ${textOf(value)}`)
  return `${holder}: ${said.join(', ')}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '?')
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : []
}

export function formatAlert({ at, holder, urgency, title }: FleetAlertRow): string {
  return `${instant(at)}  ${urgency === 'urgent' ? '! ' : ''}${title} (${holder})`
}

function describeKill({ kill }: FleetAccount): readonly string[] {
  if (kill === undefined || kill.state === 'released') return []
  const order = `a kill was ordered by ${kill.by} at ${instant(kill.orderedAt)}: ${kill.reason}`
  if (kill.state === 'asked') return [`! ${order}; nobody has seen it yet`]
  if (kill.state === 'seen') return [`! ${order}; seen by ${kill.answeredBy}, not proved yet`]
  return [`! ${order}; nothing rests, says ${kill.answeredBy}`]
}

function describeStandby(standby: FleetStandby): readonly string[] {
  const { holder, behind, seenAgoMs, isFollowing, differs } = standby
  if (!isFollowing) return [`standby ${holder}: not seen for ${age(seenAgoMs)}`]
  return [
    `standby ${holder}: ${behind === 1 ? '1 transaction' : `${behind} transactions`} behind, seen ${age(seenAgoMs)} ago`,
    ...(differs === '' ? [] : [`! it would trade otherwise than the writer: ${differs}`]),
  ]
}

function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function paragraph(text: string): string {
  const lines = wrapWords(
    text.replaceAll(/(\d) (s|min|h)\b/g, '$1\u00A0$2'),
    COLUMNS - 2 * INDENT.length,
  )
  return `${INDENT}${lines.join(`\n${INDENT}${INDENT}`).replaceAll('\u00A0', ' ')}\n`
}

export interface FleetDatabase<Reader> {
  readonly name: string | undefined
  readonly reader: Reader
}

/** @returns the worst exit code @throws the error of the only database; Failure FLEET_IMPOSSIBLE */
export async function lookAtDatabases(
  options: ConfigOptions & { readonly url?: string | undefined },
  look: (database: FleetDatabase<FleetReader>) => Promise<number>,
): Promise<number> {
  const load = (own: ConfigOptions): DaemonConfig => loadConfig(toConfigRequest(own)).config
  const { places, files, code } = loadFleetPlaces(options, load)
  const [file] = files
  if (places.length === 0 && file !== undefined) throw noFleet(file.config.file)
  for (const { config, own } of files)
    print(`${config.name}: its journal is a file; \`intentd status${repeatOptions(own)}\` shows it`)
  const { FleetReader } = await import('../../journal/fleet/fleet-reader.ts')
  const databases = places.map((place) => ({
    name: places.length > 1 ? databaseOf(place) : undefined,
    reader: new FleetReader(place),
  }))
  return Math.max(code, await lookSideBySide(databases, look))
}

export async function lookSideBySide<Reader extends Pick<FleetReader, 'close'>>(
  databases: readonly FleetDatabase<Reader>[],
  look: (database: FleetDatabase<Reader>) => Promise<number>,
): Promise<number> {
  const codes = databases.map(async (database) => {
    try {
      return await look(database)
    } catch (error) {
      if (database.name === undefined) throw error
      print(`${database.name}: ${messageOf(error)}`)
      return exitOf(error)
    } finally {
      await database.reader.close()
    }
  })
  return Math.max(0, ...(await Promise.all(codes)))
}

function noFleet(file: string): Failure {
  return new Failure({
    code: 'FLEET_IMPOSSIBLE',
    sentence: 'the journal of this configuration is a file, so no other machine can be shown',
    facts: { file },
    hint: 'use `intentd status`; for several machines set journal.url',
  })
}
