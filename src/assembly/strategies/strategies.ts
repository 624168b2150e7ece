import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConfigDocuments, DaemonConfig, StrategyConfig } from '../../config/load-config.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { FeedId } from '../../domain/feed.ts'
import { type StrategyId, toStrategyId } from '../../domain/ids.ts'
import type { ShowSettings } from '../../engine/settings.ts'
import type { Instrument, PositionMode } from '../../domain/instrument.ts'
import { type Clock, systemClock, threadCpuMs } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { systemTimers, type Timers } from '../../lib/timers.ts'
import type { Strategy } from '../../strategy/define-strategy.ts'
import { IsolatedRunner, openIsolatedRunner } from '../../strategy/isolation/isolated-runner.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { WatchedLoop } from '../../market/poll-grids.ts'
import type { ResolvedNeeds } from '../../strategy/needs.ts'
import { createStrategyRunner, type StrategyRunner } from '../../strategy/strategy-runner.ts'
import { type Examination, examineStrategy } from './examine-strategy.ts'
import { type CandleHistory, readHistory } from './history.ts'
import { readCode } from './read-code.ts'
import { catchStrays, type Strays } from './strays.ts'
import { type Feed, overloadedEndpoints, planFeeds } from './feed-plan.ts'

/** A strategy whose code was loaded and whose params its own schema has taken. */
export interface LoadedStrategy {
  readonly id: StrategyId
  /** Its code: several may share it. */
  readonly moduleFile: string
  readonly name: string
  /** Absent where it has a thread: nothing of it runs in this one. */
  readonly strategy?: Strategy
  readonly params: unknown
  readonly instruments: readonly Instrument[]
  /** Candles and indicators with these params. */
  readonly needs: ResolvedNeeds
  /** Candles of before, from the files that it names; absent: none. */
  readonly history?: CandleHistory
  /** Of these files, those that hold none. */
  readonly silentHistory?: readonly string[]
  /** Its limits, where it runs in a thread of its own. */
  readonly thread?: StrategyConfig['thread']
  /** What it asked to be shown beside the market, and its own names for it. */
  readonly feeds: readonly Feed[]
  readonly feedNames: ReadonlyMap<string, FeedId>
}

export interface LoadingOptions {
  /** Called with each file before its code is run. */
  readonly onLoading?: ((file: string) => void) | undefined
  /** Unix ms: candles of history that closed later are not taken. Absent: all are. */
  readonly historyBeforeAt?: number
  /** Who listens for what the files throw by themselves, longer than they are loaded, and reports it. */
  readonly strays?: Strays
  /** Whether all code is loaded in this thread, also that of strategies which trade in threads of their own. */
  readonly here?: boolean
}

export interface StrategyProblems {
  readonly problems: readonly Problem[]
  readonly strategies: readonly LoadedStrategy[]
}

/**
 * Loads the code of every strategy file and checks its params; what is wrong is reported with file and line.
 * @param onLoading Hears of each file before it is loaded: one that loops never comes back.
 */
export async function readStrategies(
  config: DaemonConfig,
  documents: ConfigDocuments,
  instruments: ReadonlyMap<string, Instrument>,
  { onLoading, historyBeforeAt, strays, here = false }: LoadingOptions = {},
): Promise<StrategyProblems> {
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
  // What a file has left to fail by itself has failed by now, or fails while it trades.
  await new Promise<void>((settled) => systemTimers.after(0, settled))
  problems.push(...(own?.problemsOf(config, documents) ?? []))
  const overloads = overloadedEndpoints(strategies.flatMap(({ feeds }) => feeds))
  problems.push(...overloads.map((text) => documents.main.problem(['strategies'], text)))
  return { problems: sortProblems(problems), strategies }
}

/** What those say of themselves that have a thread of their own, by their ids. */
async function examineIsolated(
  config: DaemonConfig,
  documents: ConfigDocuments,
  instruments: ReadonlyMap<string, Instrument>,
): Promise<ReadonlyMap<string, Examination>> {
  const examined = new Map<string, Examination>()
  await inParallel(config.strategies.filter(isIsolated), availableParallelism(), async (entry) => {
    const source = documents.strategies.get(entry.id)
    if (source === undefined) return
    const known = entry.instruments.flatMap((symbol) => instruments.get(symbol) ?? [])
    examined.set(
      entry.id,
      await examineStrategy({ moduleFile: entry.moduleFile, source, instruments: known }),
    )
  })
  return examined
}

/** As {@link readStrategies}. @throws ConfigError with every problem. */
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

/** What a strategy file does not say. */
interface Surroundings {
  readonly source: YamlSource
  readonly positionMode: PositionMode
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly historyBeforeAt?: number | undefined
  /** What it said of itself in a thread; absent: its code is loaded here. */
  readonly examined?: Examination | undefined
}

/** As {@link readStrategies}, of one file. */
export async function readStrategy(
  entry: StrategyConfig,
  { source, positionMode, instruments: known, historyBeforeAt, examined }: Surroundings,
): Promise<LoadedStrategy | { readonly problems: readonly Problem[] }> {
  const instruments = entry.instruments.flatMap((symbol) => known.get(symbol) ?? [])
  const read = await (examined ?? readCode(entry.moduleFile, source, instruments))
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
    needs,
    ...(history.candles.size > 0 && { history: history.candles }),
    ...(history.silent.length > 0 && { silentHistory: history.silent }),
    ...(isIsolated(entry) && { thread: entry.thread }),
    feeds: plan.feeds,
    feedNames: plan.names,
  }
}

/** What the core has to know of them: what they see beside the market, what is kept for them, when they decide. */
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

/** What came with intentd was read by whoever wrote intentd. */
const SHIPPED = fileURLToPath(new URL('../../../strategies/', import.meta.url))

export function isShipped({ moduleFile }: StrategyConfig): boolean {
  return resolve(moduleFile).startsWith(SHIPPED)
}

export function isIsolated(entry: StrategyConfig): boolean {
  return entry.isolation === undefined ? !isShipped(entry) : entry.isolation === 'worker'
}

export interface RunnerSurroundings {
  /** What strategies remember, as the journal has it. */
  readonly states: ReadonlyMap<StrategyId, string>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
  /** Hears whose thread is being ended, and when that is done. */
  readonly onEnding?: (id: StrategyId, isEnding: boolean) => void
}

/** What the daemon asks: in its own thread, or in one of theirs. */
export type Runners = ReadonlyMap<StrategyId, StrategyRunner | IsolatedRunner>

/** A runner each, going on from what the journal remembers. @throws Failure STRATEGY_THREAD */
export async function openRunners(
  strategies: readonly LoadedStrategy[],
  { states, clock, timers, logger, onEnding }: RunnerSurroundings,
): Promise<Runners> {
  const isolated = new Map<StrategyId, IsolatedRunner>()
  try {
    await inParallel(strategies, availableParallelism(), async (loaded) => {
      const { id, thread, moduleFile, params, instruments, needs } = loaded
      if (thread === undefined) return
      const runner = await openIsolatedRunner({
        strategyId: id,
        moduleFile,
        params,
        instruments,
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
    // In the order of the configuration: so they are asked.
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

/** Whether each can be started, in its thread where it has one, from what it remembers: what a start would find. */
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

/** Ends the threads. */
export async function closeRunners(runners: Runners): Promise<void> {
  await Promise.all(isolatedOf(runners).map((runner) => runner.stop()))
}

/** Threads that were ended are to come to their end: some code cannot be ended but with the whole process. */
export function endingsOf(runners: Runners): readonly WatchedLoop[] {
  return isolatedOf(runners).map((runner) => ({
    name: `the thread of strategy ${runner.strategyId}`,
    intervalMs: 0,
    isCalling: false,
    turn: () => (runner.isEnding ? 1 : undefined),
  }))
}

/** By strategy: why its thread was lost, until it begins anew. */
export function pausedOf(runners: Runners): ReadonlyMap<string, string> {
  const paused = isolatedOf(runners).flatMap(({ strategyId, pausedFor }) =>
    pausedFor === undefined ? [] : [[strategyId, pausedFor] as const],
  )
  return new Map(paused)
}

function isolatedOf(runners: Runners): readonly IsolatedRunner[] {
  return [...runners.values()].filter((runner) => runner instanceof IsolatedRunner)
}

/** A runner in this thread. */
export function createRunner(
  loaded: LoadedStrategy,
  states: ReadonlyMap<StrategyId, string>,
  clock: Clock,
  logger?: Pick<DaemonLogger, 'log'>,
): StrategyRunner {
  const { id, params, instruments } = loaded
  return createStrategyRunner({
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

/** What runs in this thread. */
export function requireCode({ id, strategy }: LoadedStrategy): Strategy {
  if (strategy === undefined)
    throw new Error(`the code of ${id} is loaded in a thread of its own alone`)
  return strategy
}
