/** Problems of a sweep file include what its strategies object to its values. */
import process from 'node:process'
import { resolve } from 'node:path'
import { loadConfig, toConfigRequest } from '../config/load-config.ts'
import { checkFile } from '../config/yaml/checked-file.ts'
import { ConfigError, type Problem } from '../config/yaml/problem.ts'
import { PARAM_OPTION, type YamlSource } from '../config/yaml/yaml-source.ts'
import { toInstruments } from '../assembly/settings/engine-settings.ts'
import { loadStrategies } from '../assembly/strategies/strategies.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import { explainValues, type ParamSet } from '../sweep/param-sets.ts'
import { type SweepFile, sweepFileSchema } from '../sweep/sweep-file.ts'
import { SupervisedThread } from '../lib/supervised-thread.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { strategyFailure } from '../strategy/strategy-failure.ts'
import { guardPlay } from '../backtest/opening/load-warm.ts'
import { PLAY_ERRORS } from '../backtest/playing/thread-protocol.ts'
import type { PlayOptions } from '../backtest/opening/play-options.ts'
import { withRecorded } from '../assembly/instruments/played-request.ts'

export interface ReadSweepFile {
  readonly file: SweepFile
  readonly source: YamlSource
}

const HANG_HINT =
  'the schema or the check of a strategy does not come back; or wait longer with --trial-limit'
const AGAIN = 'Then give the same command again.'
/** A trial limit may be shorter than a thread's start on a busy machine. */
const THREAD_MS_MIN = 30_000
/** So many take some seconds. A combination that was not checked fails in its trial. */
const TRIED_MAX = 200

/** @throws ConfigError */
export function loadSweepFile(name: string): ReadSweepFile {
  const cwd = process.cwd()
  const { value, source, problems } = checkFile(sweepFileSchema, { file: resolve(cwd, name), cwd })
  if (value === undefined || source === undefined || problems.length > 0)
    throw new ConfigError(problems, AGAIN)
  const found = explainValues(value)
  if (found !== undefined) throw new ConfigError([source.problem(found.path, found.message)], AGAIN)
  return { file: value, source }
}

/** @param ids of enabled strategies. @throws ConfigError for another one */
export function assertStrategies({ file, source }: ReadSweepFile, ids: readonly string[]): void {
  const problems = Object.keys(file.params)
    .filter((id) => !ids.includes(id))
    .map((id) =>
      source.problemOfKey(
        ['params', id],
        `no such strategy; there are ${ids.join(', ')}${didYouMeanEnd(id, ids)}`,
      ),
    )
  if (problems.length > 0) throw new ConfigError(problems, AGAIN)
}

interface RefusedSet {
  readonly set: ParamSet
  readonly problems: readonly Problem[]
}

export interface AcceptedValuesTask {
  readonly config: string | undefined
  readonly options: PlayOptions & { readonly params: string }
}

/**
 * Checks in a restricted thread.
 * @param trialLimitMs limit of a trial in real time; here at least half a minute
 */
export async function assertValuesAcceptedInThread(
  task: AcceptedValuesTask,
  trialLimitMs: number,
): Promise<void> {
  const limitMs = Math.max(trialLimitMs, THREAD_MS_MIN)
  const thread = new SupervisedThread({
    file: './accepted-values-thread',
    askedBy: import.meta.url,
    task,
    patienceMs: limitMs,
    errors: PLAY_ERRORS,
  })
  const end = await thread.ended
  await thread.gone
  if (end.kind === 'failed') throw end.error
  if (end.kind === 'late')
    throw strategyFailure('STRATEGY_HANGS', {
      facts: { waited: showDuration(limitMs) },
      hint: HANG_HINT,
    })
}

/**
 * A value is good if some combination with it is accepted, or untried. A refused combination of
 * good values fails in its trial.
 * @throws ConfigError for values that are accepted in no combination
 */
export async function assertValuesAccepted(
  { source }: ReadSweepFile,
  sets: readonly ParamSet[],
  { config, options }: AcceptedValuesTask,
): Promise<void> {
  const problemsOf = (set: ParamSet) => findProblems(set, { config, options })
  const good = new Set<string>()
  const refused: RefusedSet[] = []
  for (const [index, set] of sets.entries()) {
    const values = valuesOf(set)
    if (values.every((value) => good.has(value))) continue
    if (refused.length >= TRIED_MAX) {
      for (const value of sets.slice(index).flatMap(valuesOf)) good.add(value)
      break
    }
    const problems = await problemsOf(set)
    if (problems.length > 0) refused.push({ set, problems })
    else for (const value of values) good.add(value)
  }
  const [first] = refused
  if (first === undefined) return
  if (good.size > 0) return assertGood(source, refused, good)
  const isNamed = first.problems.every((problem) => namedBy(first.set, problem) !== undefined)
  const culprit = isNamed ? undefined : await findCulprit(first.set, problemsOf)
  throw new ConfigError(
    first.problems.map((problem) => placeIn(source, { set: first.set, culprit }, problem)),
    AGAIN,
  )
}

function assertGood(
  source: YamlSource,
  refused: readonly RefusedSet[],
  good: ReadonlySet<string>,
): void {
  const found = new Map<string, readonly Problem[]>()
  for (const { set, problems } of refused) {
    const bad = Object.keys(set).filter((name) => !good.has(toValue(set, name)))
    const [name] = bad
    if (name === undefined || bad.length > 1 || found.has(toValue(set, name))) continue
    const placed = problems.map((problem) => {
      const { message, ...place } = placeIn(source, { set, culprit: name }, problem)
      return { ...place, message: `${set[name]}: ${message}` }
    })
    found.set(toValue(set, name), placed)
  }
  if (found.size > 0) throw new ConfigError([...found.values()].flat(), AGAIN)
}

function valuesOf(set: ParamSet): readonly string[] {
  return Object.keys(set).map((name) => toValue(set, name))
}

function toValue(set: ParamSet, name: string): string {
  return `${name}=${set[name]}`
}

/** The value without which the others are accepted, if it is a single one. */
async function findCulprit(
  set: ParamSet,
  problemsOf: (set: ParamSet) => Promise<readonly Problem[]>,
): Promise<string | undefined> {
  for (const name of Object.keys(set)) {
    const others = Object.fromEntries(Object.entries(set).filter(([other]) => other !== name))
    if ((await problemsOf(others)).length === 0) return name
  }
  return undefined
}

async function findProblems(
  set: ParamSet,
  { config, options }: AcceptedValuesTask,
): Promise<readonly Problem[]> {
  const param = [...options.param, ...Object.entries(set).map(([name, text]) => `${name}=${text}`)]
  try {
    const request = toConfigRequest({ config, set: options.set, param })
    const loaded = loadConfig(await withRecorded(request, options))
    guardPlay(loaded.config)
    await loadStrategies(loaded.config, loaded.documents, toInstruments(loaded.config), {
      here: true,
    })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

function namedBy(set: ParamSet, { source, path }: Problem): string | undefined {
  if (source !== PARAM_OPTION) return undefined
  return Object.keys(set).find((one) => path === one || /^[.[]/.test(path.split(one, 2)[1] ?? ''))
}

/** These values alone cause these problems, wherever they were found. */
function placeIn(
  source: YamlSource,
  { set, culprit }: { readonly set: ParamSet; readonly culprit: string | undefined },
  problem: Problem,
): Problem {
  const named = namedBy(set, problem)
  const name = named ?? culprit
  const found = named === undefined ? ` (${problem.source})` : ''
  if (name === undefined) return source.problemOfKey(['params'], problem.message + found)
  const dot = name.indexOf('.')
  return source.problemOfKey(
    ['params', name.slice(0, dot), name.slice(dot + 1)],
    problem.message + found,
  )
}
