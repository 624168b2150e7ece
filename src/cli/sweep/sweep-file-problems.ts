/** What is wrong in the file of a sweep, with its line: also what a strategy says of the values that stand there. */
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import { checkFile } from '../../config/yaml/checked-file.ts'
import { ConfigError, type Problem } from '../../config/yaml/problem.ts'
import { PARAM_OPTION, type YamlSource } from '../../config/yaml/yaml-source.ts'
import { toInstruments } from '../../daemon/account/engine-settings.ts'
import { loadStrategies } from '../../daemon/strategies/strategies.ts'
import { explainValues, type ParamSet } from '../../sweep/param-sets.ts'
import { type SweepFile, sweepFileSchema } from '../../sweep/sweep-file.ts'
import type { PlayOptions } from '../backtest/play-options.ts'
import { toConfigRequest } from '../process/options.ts'

export interface ReadSweepFile {
  readonly file: SweepFile
  readonly source: YamlSource
}

const AGAIN = 'Then give the same command again.'
/** Combinations that are tried before the first trial; with more than so many refused ones each trial says it itself. */
const TRIED_MAX = 50

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

/** @param ids Of the strategies that are on. @throws ConfigError for another one */
export function assertStrategies({ file, source }: ReadSweepFile, ids: readonly string[]): void {
  const problems = Object.keys(file.params)
    .filter((id) => !ids.includes(id))
    .map((id) => source.problemOfKey(['params', id], `no such strategy; there are ${ids.join(', ')}`))
  if (problems.length > 0) throw new ConfigError(problems, AGAIN)
}

/** @throws ConfigError where the strategies take none of the combinations: what is wrong with the first of them */
export async function assertSomeTaken(
  { source }: ReadSweepFile,
  sets: readonly ParamSet[],
  { config, options }: { readonly config: string | undefined; readonly options: PlayOptions },
): Promise<void> {
  let first: readonly Problem[] | undefined
  for (const set of sets.slice(0, TRIED_MAX)) {
    const problems = await findProblems(source, set, { config, options })
    if (problems.length === 0) return
    first ??= problems
  }
  if (first !== undefined && sets.length <= TRIED_MAX) throw new ConfigError(first, AGAIN)
}

async function findProblems(
  source: YamlSource,
  set: ParamSet,
  { config, options }: { readonly config: string | undefined; readonly options: PlayOptions },
): Promise<readonly Problem[]> {
  const param = [...options.param, ...Object.entries(set).map(([name, text]) => `${name}=${text}`)]
  try {
    const loaded = loadConfig(toConfigRequest({ config, set: options.set, param }))
    await loadStrategies(loaded.config, loaded.documents, toInstruments(loaded.config))
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => placeIn(source, set, problem))
  }
}

/** With these values alone there is a problem: it is theirs, wherever it was found. */
function placeIn(source: YamlSource, set: ParamSet, problem: Problem): Problem {
  const names = Object.keys(set)
  const name = names.find((one) => problem.path === one || /^[.[]/.test(problem.path.split(one, 2)[1] ?? ''))
  if (problem.source !== PARAM_OPTION || name === undefined)
    return source.problemOfKey(['params'], `${problem.message} (${problem.source})`)
  const dot = name.indexOf('.')
  return source.problemOfKey(['params', name.slice(0, dot), name.slice(dot + 1)], problem.message)
}
