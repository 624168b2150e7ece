import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { readAccounts } from '../../config/load-accounts.ts'
import { type ConfigRequest, type LoadedConfig } from '../../config/load-config.ts'
import { loadCredentials } from '../../config/secrets.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import { type StrategyId } from '../../domain/ids.ts'
import { type CheckedAccount, listPaceWarnings } from '../../daemon/strategies/pace-warnings.ts'
import { toInstruments } from '../../daemon/account/engine-settings.ts'
import { findStartProblems, readStrategies } from '../../daemon/strategies/strategies.ts'
import { checkPurity } from '../../strategy/testing/check-purity.ts'

/** A configuration with everything that it names, and every problem of it. */
export interface FullCheck {
  readonly problems: readonly Problem[]
  /** What strategies do on made-up prices that may be wrong. */
  readonly notes: readonly string[]
  readonly loaded?: LoadedConfig
  /** Of further accounts. */
  readonly others: readonly LoadedConfig[]
  /** What a start takes, and what comes late or is denied all the same. */
  readonly warnings: readonly Problem[]
}

/** What strategies remember, as the journal has it: of each account, the main file's first. */
type StatesOfAccounts = readonly ReadonlyMap<StrategyId, string>[]

/** Everything that a start would read and refuse. */
export async function checkFully(request: ConfigRequest, states: StatesOfAccounts = []): Promise<FullCheck> {
  const { problems, main, others } = readAccounts(request)
  if (!main) return { problems, others, warnings: [], notes: [] }
  const found = [...problems]
  const checked: CheckedAccount[] = []
  const notes: string[] = []
  for (const [index, loaded] of [main, ...others].entries()) {
    const { config, documents } = loaded
    const { strategies, problems: own } = await readStrategies(config, documents, toInstruments(config))
    checked.push({ loaded, strategies })
    found.push(...own)
    if (own.length === 0)
      found.push(...(await findStartProblems(strategies, documents, states[index] ?? new Map())))
    const impure = readPurity({ loaded, strategies })
    found.push(...impure.problems, ...listMissingSecrets(loaded, request))
    notes.push(...impure.notes)
  }
  return {
    problems: sortProblems(found),
    notes,
    loaded: main,
    others,
    warnings: sortProblems(listPaceWarnings(checked)),
  }
}

function readPurity({ loaded, strategies }: CheckedAccount): Pick<FullCheck, 'problems' | 'notes'> {
  const problems: Problem[] = []
  const notes: string[] = []
  for (const { id, strategy, params, instruments } of strategies) {
    const purity = checkPurity(strategy, params, instruments)
    const source = loaded.documents.strategies.get(id)
    if (source) problems.push(...purity.problems.map((text) => source.problem(['module'], text)))
    notes.push(...purity.notes.map((text) => `${id}: ${text}`))
  }
  return { problems, notes }
}

function listMissingSecrets({ config }: LoadedConfig, request: ConfigRequest): readonly Problem[] {
  const { alerts } = config
  return [
    ...listProblems(() => loadCredentials(config, request)),
    ...(alerts ? listProblems(() => loadAlertSecrets(alerts, request)) : []),
  ]
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
