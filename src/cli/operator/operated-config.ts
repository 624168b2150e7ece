import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { ConfigError, formatProblem } from '../../config/yaml/problem.ts'
import { killFileOf } from '../../assembly/state/kill-switch.ts'
import { readRunningConfig, readRunStart } from '../../assembly/state/running-config.ts'
import { findRunning, type RunningFile } from '../../assembly/state/running-files.ts'
import { listHeldDirectories, listHolders } from '../../assembly/state/state-directory.ts'
import { Failure } from '../../lib/failure.ts'
import type { MarketOptions } from '../../assembly/instruments/played-request.ts'
import { isUnnamed, listOtherDaemons, shownDefault } from './other-daemons.ts'
import { findNewestJournal } from '../process/newest-journal.ts'
import { print, printOnce } from '../process/operator.ts'
import { addConfigOptions } from '../process/options.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

export function addOperatedOptions(command: Command): Command {
  return addConfigOptions(command).option(
    '--state <dir>',
    'find the daemon by its state.directory, or by the state that daemon.opened names, whatever the configuration says',
  )
}

/**
 * Takes the configuration of the running daemon if the file is broken.
 * @throws ConfigError if no such daemon is known, after printing the last ways to stop one; Failure
 * STATE_NEVER_RAN, STATE_AMBIGUOUS
 */
export function loadOperated(options: ConfigOptions): DaemonConfig {
  const config = loadOrNameOthers(options)
  assertOneRuns(config.state.directory)
  if (isUnnamed(options) && listHolders(config.state.directory).length === 0)
    sayOthers([config], `this is about ${shownDefault()}, which does not run`)
  return config
}

function loadOrNameOthers(options: ConfigOptions): DaemonConfig {
  try {
    return loadForAll(options)
  } catch (error) {
    sayOthers([], 'no daemon was found so')
    throw error
  }
}

/** Daemons of other folders are named only if none of this folder runs. */
function sayOthers(own: readonly DaemonConfig[], why: string): void {
  const others = listOtherDaemons(own)
  const near = others.filter(({ isOfFolder }) => isOfFolder)
  const whose = near.length > 0 ? 'of this folder' : 'on this machine'
  for (const { words, options } of near.length > 0 ? near : others)
    printOnce(`! ${why}. A daemon ${whose} runs: ${words}. Add${options} if it is meant`)
}

/** @throws like {@link loadOperated}, but for STATE_AMBIGUOUS */
export function listRunningPlaces(options: ConfigOptions): readonly string[] {
  return listHeldDirectories(loadForAll(options).state.directory)
}

/** One configuration, run with two markets, is two accounts. */
function assertOneRuns(directory: string): void {
  const held = listHeldDirectories(directory)
  if (held.length <= 1) return
  const facts = held.map((place) => {
    const [holder] = listHolders(place)
    const how = holder === undefined ? '' : `, started with: intentd ${holder.command}`
    return [`pid ${holder?.pid ?? 'unknown'}`, `--state ${toShellWord(place)}${how}`] as const
  })
  throw new Failure({
    code: 'STATE_AMBIGUOUS',
    sentence: `${held.length} daemons run with this state.directory, each with a market of its own`,
    facts: Object.fromEntries(facts),
    hint: 'give the command the --state of the one that is meant; for a reload, stop the other one first',
  })
}

export function loadForAll(options: ConfigOptions): DaemonConfig {
  if (options.state !== undefined) return loadState(options.state)
  try {
    return loadConfig(toConfigRequest(options)).config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const found = findRunning(resolve(options.config ?? shownDefault()))
    const running = chooseRunning(found, options.set)
    const config = running && readOf(running.directory)
    if (running === undefined || config === undefined) {
      printLastWays(found)
      throw new ConfigError(error.problems, error.again, 'nothing was done')
    }
    printAlternative(error, running)
    return config
  }
}

/** Adds the options with which the daemon was started. @throws Failure STATE_AMBIGUOUS */
export function asStarted(options: ConfigOptions): ConfigOptions & MarketOptions {
  const { file, cwd } = toConfigRequest(options)
  const running = findRunning(resolve(cwd, file))
  const chosen = chooseRunning(running, options.set)
  if (chosen !== undefined) assertOneRuns(chosen.directory)
  const start = chosen && readRunStart({ state: { directory: chosen.directory } })
  if (start?.mainFile !== resolve(cwd, file)) return { ...options, market: [] }
  const param = options.param?.length ? options.param : start.params
  return { ...options, set: start.set, param, market: start.market, speed: start.speed }
}

export function setOtherwise(
  { file, state }: DaemonConfig,
  set: readonly string[],
): string | undefined {
  const start = listHolders(state.directory).length > 0 ? readRunStart({ state }) : undefined
  if (start?.mainFile !== file || isSame(start.set, set)) return undefined
  return start.set.map((text) => ` --set ${toShellWord(text)}`).join('') || ' no --set'
}

function loadState(given: string): DaemonConfig {
  const directory = resolve(given)
  const config = readOf(directory) ?? readOneOfSeveral(directory) ?? readOfWorld(directory)
  if (config !== undefined) return config
  const above = dirname(directory)
  throw new Failure({
    code: 'STATE_NEVER_RAN',
    sentence: 'no daemon has run with this state directory',
    facts: { directory },
    hint:
      readOf(above) === undefined
        ? 'give the path of state.directory, absolute or relative to the current directory'
        : `the daemon of ${above} trades another account now: give --state ${toShellWord(above)}`,
  })
}

/** Each simulated account has a directory below `state.directory`. The last that traded counts. */
function readOfWorld(directory: string): DaemonConfig | undefined {
  const above = dirname(directory)
  const journal = findNewestJournal(above)
  const [held] = listHeldDirectories(above)
  const current = held ?? (journal && dirname(journal))
  return current === directory ? readOf(above) : undefined
}

function readOneOfSeveral(directory: string): DaemonConfig | undefined {
  const above = dirname(directory)
  const held = listHeldDirectories(above)
  if (held.length <= 1 || !held.includes(directory)) return undefined
  const config = readOf(above)
  return config && { ...config, state: { ...config.state, directory } }
}

function readOf(directory: string): DaemonConfig | undefined {
  const config = readRunningConfig({ state: { directory } })
  return config && { ...config, state: { ...config.state, directory } }
}

function chooseRunning(
  found: readonly RunningFile[],
  set: readonly string[],
): RunningFile | undefined {
  const same = found.filter((one) => isSame(one.set, set))
  const fitting = same.length === 0 && set.length === 0 ? found : same
  return fitting.length === 1 ? fitting[0] : undefined
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return isDeepStrictEqual(one.toSorted(), other.toSorted())
}

function printAlternative(
  { problems: [first] }: ConfigError,
  { file, directory }: RunningFile,
): void {
  printOnce(`! the configuration is broken: ${first ? formatProblem(first) : file}`)
  printOnce(`  this goes to the daemon that runs with what it was before (state ${directory})`)
}

function printLastWays(found: readonly RunningFile[]): void {
  if (found.length === 0) print('no daemon is known that was started with this file')
  else print('which daemon is meant cannot be told while the configuration is broken')
  for (const { directory, set } of found) {
    const pids = listHolders(directory).map(({ pid }) => pid)
    const started = set.map((text) => ` --set ${text}`).join('')
    print(`  pid ${pids.join(', ')}${started}: --state ${directory}`)
  }
  print('  --state DIR addresses the one that runs with this state.directory')
  print(
    `  without this program:  touch ${killFileOf('DIR')}  stops all trading, and cancels what rests`,
  )
  print('                         kill -TERM PID  ends the daemon, as its onStop says')
}
