import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  type ConfigOptions,
  type ConfigRequest,
  type DaemonConfig,
  readConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { explainReply, findSocket, withClient } from '../operator/find-daemon.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { ConfigError, formatProblem } from '../../config/yaml/problem.ts'
import { killFileOf, readKillState, throwKillSwitch } from '../../assembly/state/kill-switch.ts'
import type { Answer } from '../../domain/answer.ts'
import type { PostgresPlace } from '../../journal/postgres/connection.ts'
import { systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { formatData } from '../call/call-print.ts'
import { type EndpointCall, processFrame, sendCall, type ShownAnswer } from '../call/answer-call.ts'
import { killFleets, type KillFleetsOptions } from './kill-fleet.ts'
import { databaseOf, type FleetConfig, loadFleetPlaces } from '../operator/fleet-places.ts'
import {
  addOperatedOptions,
  listRunningPlaces,
  loadForAll,
  loadOperated,
} from '../operator/operated-config.ts'
import {
  isUnnamed,
  listOtherDaemons,
  type OtherDaemon,
  shownDefault,
} from '../operator/other-daemons.ts'
import { listHeldDirectories } from '../../assembly/state/state-directory.ts'
import {
  explainSilence,
  leaveCommand,
  lookFor,
  operatorName,
  print,
  printResult,
} from '../process/operator.ts'
import { exitOf } from '../process/exit-codes.ts'
import { durationOption, assertDatabase, repeatOptions } from '../process/options.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

const SEEN_WITHIN_MS = 5000
/** A request in flight must expire before a proof. */
const CLEAN_WITHIN_MS = 120_000
const EXIT_NOT_PROVED = 75

const URL_FLAGS = '--url <address>'

interface KillOptions extends ConfigOptions {
  readonly reason: string
  readonly wait: number
  readonly all?: boolean
  readonly url?: string
}

export function addKillCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('kill'))
    .description(
      'stop all trading at once, cancel everything, and wait for the proof; ended by `release`',
    )
    .option('--reason <text>', 'why; kept in the journal', 'ordered at the command line')
    .addOption(
      durationOption('--wait <duration>', 'how long to wait for the proof', CLEAN_WITHIN_MS),
    )
    .option('--all', 'every account of this configuration, and of the database in journal.url')
    .option(URL_FLAGS, 'every account of this database, without a configuration')
    .action(async (options: KillOptions, command: Command) => {
      assertDatabase(command, URL_FLAGS, options.url)
      const isOfAll = options.all === true || options.url !== undefined
      setExit(await (isOfAll ? killAll(options) : killHere(options)))
    })
}

/** Orders all kills before it waits for any. A slow database delays only its own accounts. */
async function killAll(options: KillOptions): Promise<number> {
  const { reason, wait } = options
  const order = { reason, by: operatorName() }
  const { places, served, files, code } = namingOthers(() => loadFleetPlaces(options, loadForAll))
  const configs = [...files, ...served].map(({ config }) => config)
  const others = options.url === undefined ? listOtherDaemons(configs) : []
  const isReached = served.length > 0 || configs.some(isRunning)
  const codes = [code]
  const cancelling = Promise.all(served.map(cancelServed))
  for (const { config } of files) {
    const { directory } = config.state
    await collectCode(codes, () => {
      leaveCommand(directory, () => throwKillSwitch(directory, { ...order, at: systemClock.now() }))
      return 0
    })
  }
  const isNamed = places.length + files.length > 1
  const ofDatabases = collectCode(codes, () =>
    killDatabases(places, { order, withinMs: wait, isNamed }),
  )
  for (const { config, own } of files) {
    print(`== ${config.name}`)
    await collectCode(codes, () => killAccounts({ ...own, reason, wait }))
  }
  await cancelling
  // An order that was in flight during the first cancel may rest by now.
  if ((await ofDatabases) !== 0) await Promise.all(served.map(cancelServed))
  codes.push(nameOthers(others, isReached, isAccountNamed(options)))
  return Math.max(...codes)
}

async function killDatabases(
  places: readonly PostgresPlace[],
  {
    isNamed,
    ...options
  }: Pick<KillFleetsOptions, 'order' | 'withinMs'> & { readonly isNamed: boolean },
): Promise<number> {
  if (places.length === 0) return 0
  const { FleetReader } = await import('../../journal/fleet/fleet-reader.ts')
  const databases = places.map((place) => ({
    name: isNamed ? databaseOf(place) : undefined,
    reader: new FleetReader(place),
  }))
  return killFleets(databases, { ...options, clock: systemClock, timers: systemTimers, print })
}

async function collectCode(codes: number[], act: () => Promise<number> | number): Promise<number> {
  let code: number
  try {
    code = await act()
  } catch (error) {
    print(messageOf(error))
    code = exitOf(error)
  }
  codes.push(code)
  return code
}

/** Cancels at once; the proof comes from the daemon of the account, perhaps elsewhere. */
async function cancelServed({ config, own }: FleetConfig): Promise<void> {
  if (config.exchange.baseUrl === undefined) return
  const say = (text: string): void => print(`${config.name}: ${text}`)
  try {
    const request = toConfigRequest({ ...own, config: config.file })
    const missing = findMissingKeys(config, request)
    if (missing !== undefined)
      return say('not cancelled from here, where its keys are not; its daemon is told')
    if (!isOf(config, request))
      return say(
        `not cancelled from here: ${config.file} does not say this account now; its daemon is told`,
      )
    const answer = await cancelOnce(config, request)
    if (restsNothing(answer)) return say('nothing rests at the exchange now')
    say(
      answer?.kind === 'accepted'
        ? 'cancelled at the exchange from here'
        : `not cancelled from here: ${answer?.code ?? 'not sent'} ${answer?.message ?? ''}; its daemon is told`,
    )
  } catch (error) {
    say(`not cancelled from here: ${messageOf(error)}`)
  }
}

/**
 * Without `-c`, if the daemon of the usual configuration does not run, the only other one of the
 * folder is meant.
 */
export async function killHere(options: KillOptions): Promise<number> {
  const { config, fault } = loadOrFail(options)
  const isReached = config !== undefined && isRunning(config)
  const others = listOtherDaemons(config === undefined ? [] : [config])
  const near = others.filter(({ isOfFolder }) => isOfFolder)
  if (!isReached && isUnnamed(options) && near.length > 0) {
    const trading = near.filter(({ isKilled }) => !isKilled)
    const [only, second] = trading.length > 0 ? trading : near
    if (only !== undefined && second === undefined) return killOther(options, only)
    return refuseChoice(near)
  }
  const code = config === undefined ? 0 : await killAccounts(options)
  const codeOfOthers = nameOthers(others, isReached, isAccountNamed(options))
  if (fault !== undefined) throw fault
  return Math.max(code, codeOfOthers)
}

function loadOrFail(options: KillOptions): {
  readonly config?: DaemonConfig
  readonly fault?: Error
} {
  try {
    return { config: loadForAll(options) }
  } catch (error) {
    return { fault: error instanceof Error ? error : new Error(String(error)) }
  }
}

function isRunning({ state: { directory } }: DaemonConfig): boolean {
  return listHeldDirectories(directory).length > 0
}

/** Nothing is killed then, so each daemon that runs is named. */
function namingOthers<Result>(load: () => Result): Result {
  try {
    return load()
  } catch (error) {
    nameOthers(listOtherDaemons([]), false, false)
    throw error
  }
}

function killOther(options: KillOptions, { words, directories }: OtherDaemon): Promise<number> {
  print(
    `${shownDefault()} does not run: this kills the one daemon of this folder that does, ${words}`,
  )
  const [directory = ''] = directories
  return directories.length === 1
    ? kill({ ...options, state: directory })
    : killPlaces(options, directories)
}

function refuseChoice(others: readonly OtherDaemon[]): number {
  printResult(
    `NOTHING IS KILLED: ${shownDefault()} does not run, and ${others.length} other daemons of this folder do. Say which:`,
  )
  for (const other of others) printResult(`  ${wordKill(other)}    ${other.words}`)
  return EXIT_NOT_PROVED
}

const isAccountNamed = ({ config, state }: ConfigOptions): boolean =>
  config !== undefined || state !== undefined

/**
 * Names those of other folders only where nothing that runs was killed. They do not count where the
 * operator has named the account: its own proof does.
 * @returns the exit code
 */
function nameOthers(others: readonly OtherDaemon[], isReached: boolean, isNamed: boolean): number {
  const missed = others.filter(
    ({ isOfFolder, isKilled }) => !isKilled && (isOfFolder || !isReached),
  )
  const not = isReached ? 'not' : 'NOT'
  for (const other of missed)
    printResult(`${not} killed: ${other.words} trades on; \`${wordKill(other)}\` kills it`)
  return isReached || isNamed || missed.length === 0 ? 0 : EXIT_NOT_PROVED
}

const wordKill = ({ options, directories }: OtherDaemon): string =>
  `intentd kill${directories.length > 1 ? ' --all' : ''}${options}`

async function killAccounts(options: KillOptions): Promise<number> {
  const places = listRunningPlaces(options)
  if (places.length <= 1) return kill(options)
  print(`${places.length} daemons run with this state.directory: all of them are killed`)
  return killPlaces(options, places)
}

async function killPlaces(options: KillOptions, places: readonly string[]): Promise<number> {
  const order = { reason: options.reason, by: operatorName(), at: systemClock.now() }
  const codes: number[] = []
  for (const place of places) {
    await collectCode(codes, () => {
      leaveCommand(place, () => throwKillSwitch(place, order))
      return 0
    })
  }
  for (const place of places) {
    print(`== ${place}`)
    await collectCode(codes, () => kill({ ...options, state: place }))
  }
  return Math.max(...codes)
}

async function kill({ reason, wait, ...options }: KillOptions): Promise<number> {
  const config = loadOperated(options)
  const request = toConfigRequest({ ...options, config: config.file })
  const { directory } = config.state
  leaveCommand(directory, () =>
    throwKillSwitch(directory, { reason, by: operatorName(), at: systemClock.now() }),
  )
  printResult(
    `killed: nothing that creates an order leaves while ${killFileOf(directory)} is there`,
  )
  const seen = await lookFor(() => readKillState(directory), Math.min(wait, SEEN_WITHIN_MS))
  if (seen === undefined) return cancelHere(config, request)
  print(`seen by the daemon (pid ${seen.pid}); it cancels everything and proves it`)
  const end = await lookFor(() => endOf(directory), wait)
  if (end === 'released') {
    printResult('somebody has released the switch meanwhile: the daemon trades')
    return EXIT_NOT_PROVED
  }
  if (end === undefined) {
    await printUnproved(config)
    return EXIT_NOT_PROVED
  }
  const release = `intentd release${repeatOptions(options)} --reason ...`
  printResult(`clean: nothing rests, twice confirmed; \`${release}\` lets it trade again`)
  return 0
}

async function printUnproved(config: DaemonConfig): Promise<void> {
  const socket = findSocket(config)
  if (socket === undefined) {
    printResult(
      'not proved: the daemon that saw it runs no more. One that starts here obeys before its first order; look at the exchange for what rests',
    )
    return
  }
  const reply = await withClient(socket, (client) => client.read('/v1/status'))
  if (reply.kind === 'silent') explainReply(config, reply)
  else
    printResult(
      'not proved in this time: the daemon goes on; its log and the exchange say how far it is',
    )
}

function endOf(directory: string): 'clean' | 'released' | undefined {
  if (!existsSync(killFileOf(directory))) return 'released'
  return readKillState(directory)?.state === 'clean' ? 'clean' : undefined
}

async function cancelHere(config: DaemonConfig, request: ConfigRequest): Promise<number> {
  const isSilent = explainSilence(config.state.directory)
  if (!isSilent) print('no daemon has seen it; one that starts here will, before its first write')
  if (config.journal !== undefined)
    printResult(
      'not yet in the journal: a daemon on another machine that takes this account over does not know of it; `intentd kill --all` orders it by the server',
    )
  if (config.exchange.baseUrl === undefined) {
    if (isSilent) return EXIT_NOT_PROVED
    print(
      'the exchange of this configuration is inside its daemon: while that does not run nothing of it trades',
    )
    return 0
  }
  const missing = findMissingKeys(config, request)
  if (missing !== undefined) {
    writeAside(`${missing}\n`)
    print(
      'not cancelled: without keys nothing can be asked from here. Orders may rest at the exchange: cancel them by hand there, or say the kill again with the keys',
    )
    return EXIT_NOT_PROVED
  }
  if (!isOf(config, request)) {
    print(
      `not cancelled from here: ${config.file} does not say this account now. Orders may rest at the exchange: cancel them by hand there, or put the file right and say the kill again`,
    )
    return EXIT_NOT_PROVED
  }
  const answer = await cancelOnce(config, request)
  if (answer?.kind === 'accepted') writeOut(`${formatData(answer.data.data)}\n`)
  if (restsNothing(answer)) {
    printResult('nothing rests at the exchange')
    if (!isSilent) return 0
  }
  printResult(
    answer?.kind === 'accepted' || restsNothing(answer)
      ? 'cancelled from here once: what was in flight then is found by the next start, or look at the exchange'
      : `not cancelled: ${answer?.code ?? 'not sent'} ${answer?.message ?? ''}; cancel by hand at the exchange`,
  )
  return EXIT_NOT_PROVED
}

function findMissingKeys(config: DaemonConfig, { cwd }: ConfigRequest): string | undefined {
  try {
    loadCredentials(config, { cwd })
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem).join('\n')
    throw error
  }
}

function isOf({ environment, account, exchange }: DaemonConfig, request: ConfigRequest): boolean {
  const now = readConfig(request).loaded?.config
  return isDeepStrictEqual(
    [now?.environment, now?.account, now?.exchange],
    [environment, account, exchange],
  )
}

function cancelOnce(
  { account: { productType, marginCoin } }: DaemonConfig,
  { file, overrides = [] }: ConfigRequest,
): Promise<Answer<ShownAnswer> | undefined> {
  const call: EndpointCall = {
    endpoint: 'cancelAllOrders',
    given: Object.entries({ productType, marginCoin }),
    config: file,
    set: overrides,
    state: undefined,
    yes: undefined,
    pending: undefined,
    json: false,
    dryRun: false,
    trustFiles: false,
    help: false,
  }
  return sendCall(call, processFrame())
}

function restsNothing(answer: Answer<ShownAnswer> | undefined): boolean {
  if (answer?.kind === 'refused') return answer.topic === 'orderGone'
  if (answer?.kind !== 'accepted') return false
  return JSON.stringify(listsOf(answer.data.data)) === '[[],[]]'
}

function listsOf(data: unknown): readonly unknown[] {
  if (typeof data !== 'object' || data === null) return []
  const { successList, failureList } = data as { successList?: unknown; failureList?: unknown }
  return [successList, failureList]
}
