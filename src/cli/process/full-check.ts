import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { readAccounts } from '../../config/load-accounts.ts'
import { type ConfigRequest, type LoadedConfig } from '../../config/load-config.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { toInstruments } from '../../daemon/account/engine-settings.ts'
import { findStartProblems, readStrategies } from '../../daemon/strategies/strategies.ts'
import { checkPurity } from '../../strategy/testing/check-purity.ts'

/** A configuration with everything that it names, and every problem of it. */
export interface FullCheck {
  readonly problems: readonly Problem[]
  readonly loaded?: LoadedConfig
  /** Of further accounts. */
  readonly others: readonly LoadedConfig[]
}

/** What strategies remember, as the journal has it: of each account, the main file's first. */
type StatesOfAccounts = readonly ReadonlyMap<StrategyId, string>[]

/** Everything that a start would read and refuse. */
export async function checkFully(request: ConfigRequest, states: StatesOfAccounts = []): Promise<FullCheck> {
  const { problems, main, others } = readAccounts(request)
  if (!main) return { problems, others }
  const found = [...problems]
  for (const [index, loaded] of [main, ...others].entries())
    found.push(...(await checkAccount(loaded, request, states[index] ?? new Map())))
  return { problems: sortProblems(found), loaded: main, others }
}

async function checkAccount(
  { config, documents }: LoadedConfig,
  request: ConfigRequest,
  states: ReadonlyMap<StrategyId, string>,
): Promise<readonly Problem[]> {
  const read = await readStrategies(config, documents, toInstruments(config))
  const found = [...read.problems]
  if (read.problems.length === 0) found.push(...(await findStartProblems(read.strategies, documents, states)))
  for (const { id, strategy, params, instruments } of read.strategies) {
    const source = documents.strategies.get(id)
    const impure = checkPurity(strategy, params, instruments)
    if (source) found.push(...impure.map((text) => source.problem(['module'], text)))
  }
  found.push(...listProblems(() => loadCredentials(config, request)))
  const { alerts } = config
  if (alerts) found.push(...listProblems(() => loadAlertSecrets(alerts, request)))
  return found
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
