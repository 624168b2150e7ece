import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConfigDocuments, DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { listDraftFolders } from '../../config/draft-strategies.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { FeedId } from '../../domain/feed.ts'
import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import { feedOfSignal } from '../../domain/signal.ts'
import { LEAVING_TIMES } from '../../domain/universe.ts'
import type { EngineSettings, ShowSettings } from '../../engine/settings.ts'
import { type PreparedRequest, prepareRequest } from '../../exchange/client/request-writer.ts'
import { type Clock, systemClock, threadCpuMs } from '../../lib/clock.ts'
import { didYouMean } from '../../lib/did-you-mean.ts'
import { messageOf } from '../../lib/failure.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { systemTimers, type Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { WatchedLoop } from '../../lib/poller.ts'
import {
  type EndpointName,
  endpointNamed,
  endpointNames,
  type RequestOf,
} from '../../protocol/endpoints.ts'
import type { Strategy } from '../../strategy/define-strategy.ts'
import { IsolatedRunner, openIsolatedRunner } from '../../strategy/isolation/isolated-runner.ts'
import type { ResolvedNeeds } from '../../strategy/needs.ts'
import { refuseDrafts } from '../../strategy/isolation/refuse-drafts.ts'
import { StrategyRunner } from '../../strategy/strategy-runner.ts'
import { type Examination, examineStrategy } from './examine-strategy.ts'
import { type CandleHistory, readHistory } from './history.ts'
import { catchStrays, readCode, type Strays } from './read-code.ts'

export interface LoadedStrategy {
  readonly id: StrategyId
  readonly moduleFile: string
  readonly name: string
  /** Absent for an isolated strategy: its code does not run in this thread. */
  readonly strategy?: Strategy
  readonly params: unknown
  readonly instruments: readonly Instrument[]
  /** The maximum of universe members that a snapshot shows in addition to the instruments. */
  readonly membersMax?: number
  readonly needs: ResolvedNeeds
  readonly history?: CandleHistory
  readonly silentHistory?: readonly string[]
  readonly thread?: StrategyConfig['thread']
  readonly feeds: readonly Feed[]
  readonly feedNames: ReadonlyMap<string, FeedId>
}

interface LoadingOptions {
  readonly onLoading?: ((file: string) => void) | undefined
  /** History that closed later is ignored. */
  readonly historyBeforeAt?: number
  readonly strays?: Strays
  /** True loads isolated strategies in this thread too. */
  readonly here?: boolean
}

interface StrategyProblems {
  readonly problems: readonly Problem[]
  readonly strategies: readonly LoadedStrategy[]
}

/** @param onLoading called before each file, because a file that loops never returns */
export async function readStrategies(
  config: DaemonConfig,
  documents: ConfigDocuments,
  instruments: ReadonlyMap<string, Instrument>,
  { onLoading, historyBeforeAt, strays, here = false }: LoadingOptions = {},
): Promise<StrategyProblems> {
  refuseDrafts(listDraftFolders(config))
  const examined = here
    ? new Map<string, Examination>()
    : await examineIsolated(config, documents, instruments)
  const problems: Problem[] = []
  const strategies: LoadedStrategy[] = []
  const own = strays === undefined ? catchStrays() : undefined
  for (const entry of config.strategies) {
    const source = documents.strategies.get(entry.id)
    if (!source) throw new Error(`no document for strategy ${entry.id}`)
    const { positionMode } = config.account
    onLoading?.(entry.moduleFile)
    const loaded = await readStrategy(entry, {
      source,
      positionMode,
      instruments,
      historyBeforeAt,
      examined: examined.get(entry.id),
    })
    if ('problems' in loaded) problems.push(...loaded.problems)
    else if (entry.enabled) strategies.push(loaded)
  }
  // Stray errors of loading have occurred by now; later ones occur while the strategy trades.
  await new Promise<void>((settled) => systemTimers.after(0, settled))
  problems.push(...(own?.problemsOf(config, documents) ?? []))
  const overloads = overloadedEndpoints(strategies.flatMap(({ feeds }) => feeds))
  problems.push(...overloads.map((text) => documents.main.problem(['strategies'], text)))
  return { problems: sortProblems(problems), strategies }
}

async function examineIsolated(
  config: DaemonConfig,
  documents: ConfigDocuments,
  instruments: ReadonlyMap<string, Instrument>,
): Promise<ReadonlyMap<string, Examination>> {
  const examined = new Map<string, Examination>()
  await inParallel(config.strategies.filter(isIsolated), availableParallelism(), async (entry) => {
    const source = documents.strategies.get(entry.id)
    if (source === undefined) return
    const sample = sampleOf(entry, instruments)
    examined.set(
      entry.id,
      await examineStrategy({ moduleFile: entry.moduleFile, source, instruments: sample }),
    )
  })
  return examined
}

export async function loadStrategies(
  config: DaemonConfig,
  documents: ConfigDocuments,
  instruments: ReadonlyMap<string, Instrument>,
  options?: LoadingOptions,
): Promise<readonly LoadedStrategy[]> {
  const { problems, strategies } = await readStrategies(config, documents, instruments, options)
  if (problems.length > 0) throw new ConfigError(problems)
  return strategies
}

interface StrategyFrame {
  readonly source: YamlSource
  readonly positionMode: PositionMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly historyBeforeAt?: number | undefined
  readonly examined?: Examination | undefined
}

export async function readStrategy(
  entry: StrategyConfig,
  { source, positionMode, instruments: known, historyBeforeAt, examined }: StrategyFrame,
): Promise<LoadedStrategy | { readonly problems: readonly Problem[] }> {
  const instruments = entry.instruments.flatMap((symbol) => known.get(symbol) ?? [])
  const read = await (examined ?? readCode(entry.moduleFile, source, sampleOf(entry, known)))
  if ('problems' in read) return read
  const { params, needs } = read
  const strategy = 'strategy' in read ? read.strategy : undefined
  const history = await readHistory(entry, needs, source, historyBeforeAt)
  if ('problems' in history) return history
  const plan = planFeeds(entry, source, positionMode)
  if (plan.problems.length > 0) return { problems: plan.problems }
  return {
    id: toStrategyId(entry.id),
    moduleFile: resolve(entry.moduleFile),
    name: 'name' in read ? read.name : read.strategy.name,
    ...(strategy && { strategy }),
    params,
    instruments,
    ...(entry.universe && { membersMax: entry.universe.top.count * LEAVING_TIMES }),
    needs,
    ...(history.candles.size > 0 && { history: history.candles }),
    ...(history.silent.length > 0 && { silentHistory: history.silent }),
    ...(isIsolated(entry) && { thread: entry.thread }),
    feeds: plan.feeds,
    feedNames: plan.names,
  }
}

/** If a universe chooses all instruments, the code is tried on a configured one. */
function sampleOf(
  { instruments, universe }: StrategyConfig,
  known: ReadonlyMap<string, Instrument>,
): readonly Instrument[] {
  const own = instruments.flatMap((symbol) => known.get(symbol) ?? [])
  return own.length === 0 && universe ? [...known.values()].slice(0, 1) : own
}

export function showSettingsOf(
  strategies: readonly LoadedStrategy[],
): ReadonlyMap<StrategyId, ShowSettings> {
  return new Map(
    strategies.map(({ id, feedNames, history, needs: { candles, decides } }) => [
      id,
      {
        feeds: feedNames,
        ...(candles.size > 0 && { candles }),
        ...(decides && { decides }),
        ...(history && { history }),
      },
    ]),
  )
}

/** Shipped strategies are trusted. */
const SHIPPED = fileURLToPath(new URL('../../../strategies/', import.meta.url))

export function isShipped({ moduleFile }: StrategyConfig): boolean {
  return resolve(moduleFile).startsWith(SHIPPED)
}

export function isIsolated(entry: StrategyConfig): boolean {
  return entry.isolation === undefined ? !isShipped(entry) : entry.isolation === 'worker'
}

interface RunnerEnvironment {
  readonly states: ReadonlyMap<StrategyId, string>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
  readonly onEnding?: (id: StrategyId, isEnding: boolean) => void
}

export type Runners = ReadonlyMap<StrategyId, StrategyRunner | IsolatedRunner>

/** Continues from the states in the journal. @throws Failure STRATEGY_THREAD */
export async function openRunners(
  strategies: readonly LoadedStrategy[],
  { states, clock, timers, logger, onEnding }: RunnerEnvironment,
): Promise<Runners> {
  const isolated = new Map<StrategyId, IsolatedRunner>()
  try {
    await inParallel(strategies, availableParallelism(), async (loaded) => {
      const { id, thread, moduleFile, params, instruments, membersMax, needs } = loaded
      if (thread === undefined) return
      const runner = await openIsolatedRunner({
        strategyId: id,
        moduleFile,
        params,
        instruments,
        membersMax,
        needs,
        clock,
        timers,
        ...thread,
        stateText: states.get(id),
        onThreadLost: (reason) =>
          logger.log('error', 'strategy.threadLost', {
            strategy: id,
            reason,
          }),
        onSaid: (line) =>
          logger.log('info', 'strategy.said', {
            strategy: id,
            ...line,
          }),
        onEnding: (isEnding) => onEnding?.(id, isEnding),
      })
      isolated.set(id, runner)
    })
    return new Map(
      strategies.map((loaded) => [
        loaded.id,
        isolated.get(loaded.id) ?? createRunner(loaded, states, clock, logger),
      ]),
    )
  } catch (error) {
    await closeRunners(isolated)
    throw error
  }
}

export async function findStartProblems(
  strategies: readonly LoadedStrategy[],
  documents: ConfigDocuments,
  states: ReadonlyMap<StrategyId, string>,
): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  const surroundings = {
    states,
    clock: systemClock,
    timers: systemTimers,
    logger: { log: () => undefined },
  }
  for (const loaded of strategies) {
    try {
      await closeRunners(await openRunners([loaded], surroundings))
    } catch (error) {
      const source = documents.strategies.get(loaded.id)
      if (source) problems.push(source.problem(['module'], messageOf(error)))
    }
  }
  return problems
}

export async function closeRunners(runners: Runners): Promise<void> {
  await Promise.all(isolatedOf(runners).map((runner) => runner.stop()))
}

/** Some code ends only with the process, so threads that are ending are watched. */
export function closingThreadsOf(runners: Runners): readonly WatchedLoop[] {
  return isolatedOf(runners).map((runner) => ({
    name: `the thread of strategy ${runner.strategyId}`,
    intervalMs: 0,
    isCalling: false,
    turn: () => (runner.isEnding ? 1 : undefined),
  }))
}

export function pausedOf(runners: Runners): ReadonlyMap<string, string> {
  const paused = isolatedOf(runners).flatMap(({ strategyId, pausedFor }) =>
    pausedFor === undefined ? [] : [[strategyId, pausedFor] as const],
  )
  return new Map(paused)
}

function isolatedOf(runners: Runners): readonly IsolatedRunner[] {
  return [...runners.values()].filter((runner) => runner instanceof IsolatedRunner)
}

export function createRunner(
  loaded: LoadedStrategy,
  states: ReadonlyMap<StrategyId, string>,
  clock: Clock,
  logger?: Pick<DaemonLogger, 'log'>,
): StrategyRunner {
  const { id, params, instruments } = loaded
  return new StrategyRunner({
    strategyId: id,
    strategy: requireCode(loaded),
    params,
    instruments,
    stateText: states.get(id),
    clock,
    threadCpuMs,
    onSaid: logger && ((line) => logger.log('info', 'strategy.said', { strategy: id, ...line })),
  })
}

export function requireCode({ id, strategy }: LoadedStrategy): Strategy {
  if (strategy === undefined)
    throw new Error(`the code of ${id} is loaded in a thread of its own alone`)
  return strategy
}

/** Strategies share equal requests. */
export interface Feed {
  readonly id: FeedId
  readonly endpoint: EndpointName
  readonly request: PreparedRequest
  readonly everyMs: number
}

/** A snapshot contains these without a feed. */
const OWN_ENDPOINTS: ReadonlySet<EndpointName> = new Set([
  'tickers',
  'orderFills',
  'singlePosition',
])

const FEED_ENDPOINTS = endpointNames.filter((name) => {
  const { method, retry, auth } = endpointNamed(name)
  return method === 'GET' && retry === 'safe' && auth !== 'schemeB' && !OWN_ENDPOINTS.has(name)
})

interface FeedPlan {
  readonly problems: readonly Problem[]
  readonly feeds: readonly Feed[]
  readonly names: ReadonlyMap<string, FeedId>
}

export function planFeeds(
  { feeds, signals }: Pick<StrategyConfig, 'feeds' | 'signals'>,
  source: YamlSource,
  positionMode: EngineSettings['positionMode'],
): FeedPlan {
  const problems: Problem[] = []
  const planned: Feed[] = []
  const names = new Map<string, FeedId>()
  for (const [name, { endpoint: asked, params, everyMs }] of Object.entries(feeds)) {
    const endpoint = FEED_ENDPOINTS.find((candidate) => candidate === asked)
    if (endpoint === undefined) {
      const guess = didYouMean(asked, FEED_ENDPOINTS)
      const hint =
        guess === undefined ? `those are ${FEED_ENDPOINTS.join(', ')}` : `did you mean ${guess}?`
      problems.push(
        source.problem(['feeds', name, 'endpoint'], `${asked} is no endpoint for feeds; ${hint}`),
      )
      continue
    }
    const prepared = prepareRequest(endpoint, params as RequestOf<typeof endpoint>, {
      positionMode,
    })
    if (prepared.kind === 'invalid') {
      problems.push(source.problem(['feeds', name, 'params'], prepared.problem))
      continue
    }
    const id = `${endpoint}?${prepared.request.query}`
    names.set(name, id)
    planned.push({ id, endpoint, request: prepared.request, everyMs })
  }
  for (const name of signals) names.set(name, feedOfSignal(name))
  return { problems, feeds: planned, names }
}

export function mergeFeeds(feeds: readonly Feed[]): readonly Feed[] {
  const merged = new Map<FeedId, Feed>()
  for (const feed of feeds) {
    const known = merged.get(feed.id)
    if (!known || feed.everyMs < known.everyMs) merged.set(feed.id, feed)
  }
  return [...merged.values()]
}

/** Public feeds are read once for all accounts; private ones belong to one. */
export function feedsOf(
  strategies: readonly { readonly feeds: readonly Feed[] }[],
  which: 'public' | 'private',
): readonly Feed[] {
  return mergeFeeds(strategies.flatMap(({ feeds }) => feeds)).filter(
    ({ endpoint }) => (endpointNamed(endpoint).auth === 'public') === (which === 'public'),
  )
}

export function overloadedEndpoints(feeds: readonly Feed[]): readonly string[] {
  return [...Map.groupBy(mergeFeeds(feeds), (feed) => feed.endpoint)].flatMap(
    ([endpoint, group]) => {
      const { calls, perMs } = endpointNamed(endpoint).limit
      const asked = group.reduce((sum, feed) => sum + perMs / feed.everyMs, 0)
      if (asked <= calls) return []
      return [
        `the feeds of ${endpoint} ask ${asked.toFixed(1)} calls in ${perMs} ms, the limit is ${calls}`,
      ]
    },
  )
}
