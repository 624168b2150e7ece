import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { ContractRules } from '../domain/contract-rules.ts'
import { checkDaemon, type ReadableFile } from './cross-checks.ts'
import {
  asTraded,
  type ContractAnswers,
  type ContractsAnswer,
  findKnownContracts,
  resolveRules,
  type TradedInstrument,
} from './known-contracts.ts'
import { DRAFT_INLINE, isAnyWithin } from './draft-strategies.ts'
import { checkMarketFiles, checkPlayed, type PlayedPrices, resolveMarket } from './market-files.ts'
import { type DaemonFile, daemonFileSchema } from './schema/daemon-schema.ts'
import { type StrategyFile, strategyFileSchema } from './schema/strategy-schema.ts'
import { checkServers } from './server-checks.ts'
import { checkCapitals, checkIds, checkStrategy } from './strategy-checks.ts'
import {
  adviseMissing,
  type CheckedFile,
  checkFile,
  type FileRequest,
  isFile,
  objectToKind,
  type PartialSettings,
  shownPath,
} from './yaml/checked-file.ts'
import { ConfigError, type Problem, sortProblems, formatPath } from './yaml/problem.ts'
import { type YamlSource, PARAM_OPTION, SET_OPTION } from './yaml/yaml-source.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'

/** Reads files and `--set` options into one configuration, or reports all problems. */

export interface ConfigRequest {
  readonly file: string
  /** `path=value`, for the main file. */
  readonly overrides?: readonly string[]
  /** `strategy.param=value`, for the strategies' files. */
  readonly params?: readonly string[]
  readonly played?: PlayedPrices | undefined
  /** Absent: as kept by a start. */
  readonly contracts?: ContractAnswers | undefined
  /** Folders of assistants beside the file's own `control.agents.strategies`. */
  readonly drafts?: readonly string[]
  readonly cwd: string
}

export interface StrategyConfig extends StrategyFile {
  readonly file: string
  readonly moduleFile: string
}

/** Durations are ms, decimals text. */
export interface DaemonConfig extends Omit<DaemonFile, 'strategies' | 'instruments'> {
  readonly file: string
  readonly instruments: Readonly<Record<string, TradedInstrument>>
  readonly strategies: readonly StrategyConfig[]
}

export interface ConfigDocuments {
  readonly main: YamlSource
  readonly strategies: ReadonlyMap<string, YamlSource>
}

export interface GivenChanges {
  readonly set: readonly string[]
  readonly params: readonly string[]
  /** Absent without `--market`. */
  readonly recorded?: readonly string[]
}

export interface LoadedConfig {
  readonly config: DaemonConfig
  readonly documents: ConfigDocuments
  readonly given: GivenChanges
  /** Absent: the exchange did not state them just now. */
  readonly contracts?: ReadonlyMap<string, ContractRules>
}

export interface ConfigReading {
  readonly problems: readonly Problem[]
  readonly loaded?: LoadedConfig
}

/** @throws ConfigError with all problems */
export function loadConfig(request: ConfigRequest): LoadedConfig {
  const { loaded, problems } = readConfig(request)
  if (loaded === undefined) throw new ConfigError(problems)
  return loaded
}

function findTraded(strategies: readonly ReadableFile<StrategyFile>[]): ReadonlySet<string> {
  const enabled = strategies.filter(({ settings }) => settings.enabled !== false)
  return new Set(
    enabled
      .flatMap(({ settings }) => settings.instruments ?? [])
      .filter((one) => one !== undefined),
  )
}

/** The embedded simulator lists only the main file's instruments. */
function choosesElsewhere(
  { exchange, simulator }: ReadableFile<DaemonFile>['settings'],
  {
    strategies,
    isKept,
  }: { readonly strategies: readonly StrategyReading[]; readonly isKept: boolean },
): boolean {
  const isEmbedded = simulator !== undefined && exchange?.baseUrl === undefined
  const chooses = strategies.some(({ source }) => source?.has(['universe']) === true)
  return chooses && (isKept || !isEmbedded)
}

/** Never throws. */
export function readConfig(request: ConfigRequest): ConfigReading {
  const { file, overrides = [], params = [], played, cwd } = request
  const mainFile = resolve(cwd, file)
  const main = readMainFile({ file: mainFile, cwd, overrides })
  if (main.source === undefined) return { problems: sortProblems(main.problems) }
  const objection = objectToKind(main.source, file, 'main')
  if (objection) return { problems: [objection] }
  const written: ReadableFile<DaemonFile> = { source: main.source, settings: main.settings ?? {} }
  const rules = resolveRules(written, () =>
    findKnownContracts(written.settings, {
      answer: request.contracts?.get(mainFile),
      directory: stateOf(written.settings, dirname(mainFile)),
    }),
  )
  const daemon = { ...written, settings: { ...written.settings, instruments: rules.instruments } }
  const draftFolder = written.settings.control?.agents?.strategies
  const drafts = [
    ...(request.drafts ?? []),
    ...(draftFolder === undefined ? [] : [resolve(dirname(mainFile), draftFolder)]),
  ]
  const strategies = readStrategies(daemon, { mainFile, cwd, params }).map((strategy) =>
    guardDraft(strategy, mainFile, drafts),
  )
  const readable = strategies.filter(isReadable)
  const market = {
    source: main.source,
    path: ['simulator', 'market'],
    directory: dirname(mainFile),
  }
  const problems = [
    ...main.problems,
    // Rules are only judged in a file without mistakes.
    ...(main.problems.length === 0 ? rules.problems : []),
    ...checkDaemon(daemon, {
      recorded: played?.recorded,
      traded: findTraded(readable),
      isChosen: choosesElsewhere(daemon.settings, {
        strategies,
        isKept: request.contracts?.get(mainFile)?.isPlayed === true,
      }),
    }),
    ...checkServers(daemon),
    ...checkMarketFiles(market, daemon.settings.simulator?.market),
    ...(played ? checkPlayed(daemon, readable, played) : []),
    ...strategies.flatMap((strategy) => strategy.problems),
    ...checkIds(readable, daemon.settings),
    ...checkCapitals(readable, daemon),
    ...checkParams(
      params,
      readable.flatMap(({ settings }) => settings.id ?? []),
    ),
    ...readable.flatMap((strategy) => checkStrategy(strategy, daemon.settings)),
  ]
  if (problems.length > 0 || main.value === undefined) return { problems: sortProblems(problems) }
  const given: GivenChanges = {
    set: overrides,
    params,
    ...(played !== undefined && played.files.length > 0 && { recorded: played.recorded ?? [] }),
  }
  const instruments = asTraded(rules.instruments)
  const parts = { mainFile, main: main.source, value: main.value, instruments, strategies, given }
  const contracts = listStated(request.contracts?.get(mainFile))
  return { problems: [], loaded: { ...assemble(parts), ...(contracts && { contracts }) } }
}

/** Played ones are of another time. */
function listStated({ now, isPlayed }: Partial<ContractsAnswer> = {}): LoadedConfig['contracts'] {
  if (now === undefined || isPlayed) return undefined
  const stated = [...now.contracts].filter(([, { readAt }]) => readAt === now.readAt)
  return new Map(stated.map(([symbol, { readAt: _readAt, ...rules }]) => [symbol, rules]))
}

/** Instruments may be a list of symbols. */
export function readMainFile({
  file,
  cwd,
  overrides = [],
}: Pick<ConfigRequest, 'file' | 'cwd' | 'overrides'>): CheckedFile<DaemonFile> {
  return checkFile(daemonFileSchema, {
    file,
    cwd,
    change: (source) => {
      source.expandNames(['instruments'])
      const problems = applyOverrides(source, overrides)
      source.expandNames(['instruments'])
      return problems
    },
  })
}

interface StrategyReading extends CheckedFile<StrategyFile> {
  readonly file: string
}

const isReadable = (
  strategy: StrategyReading,
): strategy is StrategyReading & ReadableFile<StrategyFile> =>
  strategy.source !== undefined && strategy.settings !== undefined

function readStrategies(
  daemon: ReadableFile<DaemonFile>,
  {
    mainFile,
    cwd,
    params,
  }: { readonly mainFile: string; readonly cwd: string; readonly params: readonly string[] },
): StrategyReading[] {
  const seen = new Set<string>()
  return (daemon.settings.strategies ?? []).flatMap((name, index) => {
    if (name === undefined) return []
    const file = resolve(dirname(mainFile), name)
    const blame = (failure: string) =>
      daemon.source.problem(
        ['strategies', index],
        `${failure}: ${shownPath(file, cwd)}${failure === 'no such file' ? adviseMissing(file) : ''}`,
      )
    const identity = isFile(file) ? realpathSync(file) : file
    if (seen.has(identity)) return [{ file, problems: [blame('this file is already listed')] }]
    seen.add(identity)
    return [readStrategy({ file, cwd, blame, change: (source) => applyParams(source, params) })]
  })
}

/** A main file that an assistant may write chooses what else is loaded. */
function guardDraft(
  strategy: StrategyReading,
  mainFile: string,
  drafts: readonly string[],
): StrategyReading {
  const { file, settings, source, value, problems } = strategy
  const module = settings?.module
  const files = [mainFile, file, ...(module === undefined ? [] : [resolve(dirname(file), module)])]
  if (!drafts.some((folder) => isAnyWithin(folder, files))) return strategy
  if (source !== undefined && settings?.isolation === 'inline')
    return { ...strategy, problems: [...problems, source.problem(['isolation'], DRAFT_INLINE)] }
  // Shipped strategies would be inline by default.
  return value === undefined ? strategy : { ...strategy, value: { ...value, isolation: 'worker' } }
}

function readStrategy(request: FileRequest): StrategyReading {
  const { file, cwd } = request
  const checked = checkFile(strategyFileSchema, request)
  const name = checked.settings?.module
  if (checked.source === undefined || name === undefined) return { file, ...checked }
  const moduleFile = resolve(dirname(file), name)
  if (isFile(moduleFile)) return { file, ...checked }
  const problem = checked.source.problem(
    ['module'],
    `no such file: ${shownPath(moduleFile, cwd)}${adviseMissing(moduleFile)}`,
  )
  return { file, ...checked, problems: [...checked.problems, problem] }
}

/** @throws ConfigError with all its problems */
export function loadStrategyFile(request: FileRequest): {
  strategy: StrategyConfig
  document: YamlSource
} {
  const { file, value, source, problems } = readStrategy(request)
  if (value === undefined || source === undefined || problems.length > 0)
    throw new ConfigError(problems)
  return { strategy: placeStrategy(file, value), document: source }
}

function placeStrategy(file: string, strategy: StrategyFile): StrategyConfig {
  return { ...strategy, file, moduleFile: resolve(dirname(file), strategy.module) }
}

interface ConfigParts {
  readonly mainFile: string
  readonly main: YamlSource
  readonly value: DaemonFile
  readonly instruments: DaemonConfig['instruments']
  readonly strategies: readonly StrategyReading[]
  readonly given: GivenChanges
}

/** A dry run has a state of its own. */
export function stateOf(
  { state, dryRun }: PartialSettings<Pick<DaemonFile, 'state' | 'dryRun'>>,
  directory: string,
): string {
  return resolve(directory, state?.directory ?? '', dryRun === true ? 'dry-run' : '')
}

function placeControl(
  control: DaemonConfig['control'],
  directory: string,
): DaemonConfig['control'] {
  const { tokenFile, readTokenFile, agents } = control
  const { strategies } = agents
  return {
    ...control,
    agents: {
      ...agents,
      ...(strategies !== undefined && { strategies: resolve(directory, strategies) }),
    },
    ...(tokenFile !== undefined && { tokenFile: resolve(directory, tokenFile) }),
    ...(readTokenFile !== undefined && { readTokenFile: resolve(directory, readTokenFile) }),
  }
}

function assemble(parts: ConfigParts): LoadedConfig {
  const { mainFile, main, value, instruments, strategies, given } = parts
  const directory = dirname(mainFile)
  const accounts = value.accounts?.map((file) => resolve(directory, file))
  const sources = new Map<string, YamlSource>()
  const configs = strategies.flatMap(({ file, value: strategy, source }) => {
    if (strategy === undefined || source === undefined) return []
    sources.set(strategy.id, source)
    return [placeStrategy(file, strategy)]
  })
  const config: DaemonConfig = {
    ...value,
    instruments,
    ...(accounts && { accounts }),
    file: mainFile,
    state: { ...value.state, directory: stateOf(value, directory) },
    control: placeControl(value.control, directory),
    strategies: configs,
    ...(value.simulator && {
      simulator: { ...value.simulator, market: resolveMarket(value.simulator.market, directory) },
    }),
  }
  return { config, documents: { main, strategies: sources }, given }
}

export interface ConfigOptions {
  readonly config?: string | undefined
  readonly set: readonly string[]
  readonly state?: string | undefined
  /** `STRATEGY.param=value` texts. */
  readonly param?: readonly string[] | undefined
}

export const PAPER_CONFIG = 'config/paper.yaml'

export function toConfigRequest(
  { config, set, param = [] }: ConfigOptions,
  shipped = PAPER_CONFIG,
): ConfigRequest {
  return { file: config ?? shippedFile(shipped), overrides: set, params: param, cwd: process.cwd() }
}

/**
 * The working directory's before the checkout's. A package's files are only templates, or the state
 * would be in the installation.
 */
function shippedFile(shipped: string): string {
  if (existsSync(resolve(shipped))) return shipped
  if (import.meta.url.endsWith('.js')) {
    const message =
      'no such file here: `intentd init DIR` makes a working directory, -c names another file'
    throw new ConfigError([{ source: shipped, path: '', message }])
  }
  return fileURLToPath(new URL(`../../${shipped}`, import.meta.url))
}

/** Applies `--set path=value` under the rules of the file. */

/** A longer path is a mistake in quoting. */
const PATH_KEYS_MAX = 8

/** @returns problems of unreadable overrides */
export const applyOverrides = (source: YamlSource, overrides: readonly string[]): Problem[] =>
  overrides.flatMap((text) => applyOverride(source, text) ?? [])

function applyOverride(source: YamlSource, text: string): Problem | undefined {
  const { keys, value } = readOverride(text, false)
  if (keys === undefined) {
    // Without a path the text may be a secret, so it is not repeated.
    return {
      source: SET_OPTION,
      path: '',
      message: 'expected path=value such as risk.openOrdersMax=20',
    }
  }
  const message = source.override(keys, value)
  return message === undefined ? undefined : { source: SET_OPTION, path: formatPath(keys), message }
}

/**
 * Applies `strategy.param=value`.
 * @returns problems of unreadable ones
 */
export function applyParams(source: YamlSource, params: readonly string[]): Problem[] {
  const id = source.read(undefined, ['id'])
  return params.flatMap((text) => {
    const { strategy, keys, value } = readOverride(text, true)
    if (strategy !== id || keys === undefined) return []
    const message = source.overrideParam(strategy, keys, value)
    return message === undefined
      ? []
      : [{ source: PARAM_OPTION, path: formatPath([strategy, ...keys]), message }]
  })
}

/** @param ids of existing strategies */
export function checkParams(params: readonly string[], ids: readonly string[]): Problem[] {
  return params.flatMap((text) => {
    const { strategy, keys } = readOverride(text, true)
    if (keys === undefined)
      return [
        {
          source: PARAM_OPTION,
          path: '',
          message: 'expected strategy.param=value such as grid-btc.levels=4',
        },
      ]
    if (ids.includes(strategy)) return []
    return [
      {
        source: PARAM_OPTION,
        path: strategy,
        message: `no such strategy${didYouMeanEnd(strategy, ids)}`,
      },
    ]
  })
}

interface Override {
  /** Undefined: unreadable. */
  readonly keys: readonly string[] | undefined
  readonly strategy: string
  readonly value: string
}

/** `path=value`, or with a strategy in front of the path. */
function readOverride(text: string, hasStrategy: boolean): Override {
  const at = text.indexOf('=')
  const words = at < 0 ? [] : text.slice(0, at).trim().split('.')
  const keys = hasStrategy ? words.slice(1) : words
  const isUsable =
    keys.length > 0 &&
    keys.length <= PATH_KEYS_MAX &&
    keys.every((key) => key !== '' && key !== '__proto__')
  return {
    keys: isUsable ? keys : undefined,
    strategy: words[0] ?? '',
    value: text.slice(at + 1),
  }
}
