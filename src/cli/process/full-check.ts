import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { type ConfigRequest, type LoadedConfig, readConfig } from '../../config/load-config.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { toInstruments } from '../../daemon/account/engine-settings.ts'
import { findStartProblems, readStrategies } from '../../daemon/strategies/strategies.ts'
import { checkPurity } from '../../strategy/testing/check-purity.ts'

/** A configuration with everything that it names, and every problem of it. */
export interface FullCheck {
  readonly problems: readonly Problem[]
  /** What strategies do on made-up prices that may be wrong. */
  readonly notes: readonly string[]
  readonly loaded?: LoadedConfig
}

/**
 * Everything that a start would read and refuse.
 * @param states What strategies remember, as the journal has it.
 */
export async function checkFully(
  request: ConfigRequest,
  states: ReadonlyMap<StrategyId, string> = new Map(),
): Promise<FullCheck> {
  const { problems, loaded } = readConfig(request)
  if (!loaded) return { problems, notes: [] }
  const { config, documents } = loaded
  const read = await readStrategies(config, documents, toInstruments(config))
  const found = [...problems, ...read.problems]
  if (read.problems.length === 0) found.push(...(await findStartProblems(read.strategies, documents, states)))
  const notes: string[] = []
  for (const { id, strategy, params, instruments } of read.strategies) {
    const source = documents.strategies.get(id)
    const purity = checkPurity(strategy, params, instruments)
    if (source) found.push(...purity.problems.map((text) => source.problem(['module'], text)))
    notes.push(...purity.notes.map((text) => `${id}: ${text}`))
  }
  found.push(...listProblems(() => loadCredentials(config, request)))
  const { alerts } = config
  if (alerts) found.push(...listProblems(() => loadAlertSecrets(alerts, request)))
  return { problems: sortProblems(found), notes, loaded }
}

function listProblems(read: () => unknown): readonly Problem[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
