import { listContractRemarks } from '../../config/contract-remarks.ts'
import { warnOfLeverage } from '../../config/liquidation-checks.ts'
import { findUntrusted } from './trusted-files.ts'
import { join } from 'node:path'
import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { loadSignalSecrets } from '../../config/signal-secrets.ts'
import { findUndecidedLosses, listMissingProtection } from '../../config/live-checks.ts'
import { listKeys, readAccounts } from '../../config/load-accounts.ts'
import type { ConfigRequest, DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import { loadProxies } from '../../config/proxy.ts'
import { loadCredentials, type SecretsRequest } from '../../config/secrets.ts'
import { warnOfClearText } from '../../config/clear-text.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { type CheckedAccount, listPaceWarnings } from '../../assembly/strategies/pace-warnings.ts'
import { CONTROL_SOCKET, stateDirectoryOf } from '../../assembly/state/state-place.ts'
import { withContracts } from '../../assembly/instruments/fetch-contracts.ts'
import { sampleInstrument } from '../../assembly/instruments/sample-instrument.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { listSlowPrices } from '../../assembly/simulator/slow-prices.ts'
import { listExitWarnings } from '../../assembly/strategies/exit-warnings.ts'
import { objectToPath } from '../../lib/net/socket-path.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { listShortWindows } from '../../assembly/strategies/short-windows.ts'
import { warnOfLargePositions } from './opening-distances.ts'
import { listPositionWarnings } from './position-values.ts'
import {
  findStartProblems,
  isIsolated,
  isShipped,
  readStrategies,
} from '../../assembly/strategies/strategies.ts'
import { catchStrays } from '../../assembly/strategies/strays.ts'
import type { StrategyFailure } from '../../strategy/strategy-failure.ts'
import { findEndlessFile } from '../../strategy/testing/watched-loading.ts'
import { checkPurities } from '../../strategy/testing/watched-purity.ts'

export interface FullCheck {
  readonly problems: readonly Problem[]
  /** Missing in this process; a start would refuse. */
  readonly missingSecrets: readonly Problem[]
  readonly loaded?: LoadedConfig
  readonly others: readonly LoadedConfig[]
  /** A start succeeds with these, such as denials on made-up prices. */
  readonly warnings: readonly Problem[]
  /** How the contracts of the exchange differ; these are among the warnings. */
  readonly contractRemarks: readonly Problem[]
  readonly contracts: ConfigRequest['contracts']
}

type StatesOfAccounts = readonly ReadonlyMap<StrategyId, string>[]

export async function checkFully(
  given: ConfigRequest,
  states: StatesOfAccounts = [],
): Promise<FullCheck> {
  const request = await withContracts(given, { clock: systemClock, timers: systemTimers })
  const { contracts } = request
  const { problems, main, others } = readAccounts(request)
  if (!main)
    return { problems, missingSecrets: [], others, warnings: [], contractRemarks: [], contracts }
  const found = [...problems, ...[main, ...others].flatMap(findUndecidedLosses)]
  const { played = { files: [], speed: undefined } } = request
  const checked: CheckedAccount[] = []
  const warnings: Problem[] = []
  const missingSecrets: Problem[] = []
  const keysOfAll = listKeys([main, ...others])
  for (const [index, loaded] of [main, ...others].entries()) {
    const { config, documents } = loaded
    const endless = await findEndlessFile(filesOf(config))
    if (endless !== undefined) {
      found.push(placeOf(loaded, endless))
      continue
    }
    // Stray errors of a file may follow its loading.
    const strays = catchStrays()
    const instruments = withSample(toInstruments(config), loaded, contracts)
    const { strategies, problems: own } = await readStrategies(config, documents, instruments, {
      strays,
    })
    checked.push({ loaded, strategies })
    found.push(...own)
    if (own.length === 0)
      found.push(...(await findStartProblems(strategies, documents, states[index] ?? new Map())))
    const purity = await readPurity({ loaded, strategies }, [...instruments.values()].slice(0, 1))
    found.push(
      ...checkSocket(loaded, played),
      ...purity.problems,
      ...strays.problemsOf(config, documents),
    )
    missingSecrets.push(...listMissingSecrets(loaded, { ...request, keysOfAll }))
    warnings.push(
      ...purity.warnings,
      ...(await listPositionWarnings(loaded, played)),
      ...(await warnOfLargePositions(loaded, played)),
      ...(await listSlowPrices(loaded, played)),
    )
  }
  const contractRemarks = [main, ...others].flatMap((account) =>
    listContractRemarks(account, contracts?.get(account.config.file)).map(({ problem }) => problem),
  )
  return {
    problems: sortProblems(found),
    missingSecrets: sortProblems(missingSecrets),
    loaded: main,
    others,
    contracts,
    contractRemarks: sortProblems(contractRemarks),
    warnings: sortProblems([
      ...warnings,
      ...contractRemarks,
      ...listMissingProtection([main, ...others]),
      ...[main, ...others].flatMap(warnOfClearText),
      ...[main, ...others].flatMap(warnOfLeverage),
      // A start refuses these, except with --trust-files.
      ...findUntrusted(
        [main, ...others].map(({ config }) => config),
        request,
      ),
      ...listPaceWarnings(checked),
      ...listExitWarnings(checked),
      ...listShortWindows(checked),
    ]),
  }
}

/** Shipped strategies load, and isolated ones load in their thread. */
function filesOf({ strategies }: DaemonConfig): readonly string[] {
  return strategies.flatMap((entry) =>
    isShipped(entry) || isIsolated(entry) ? [] : [entry.moduleFile],
  )
}

function placeOf(
  { config, documents }: LoadedConfig,
  { facts, message }: StrategyFailure,
): Problem {
  const id = config.strategies.find(({ moduleFile }) => moduleFile === facts['file'])?.id ?? ''
  return (
    documents.strategies.get(id)?.problem(['module'], message) ??
    documents.main.problem([], message)
  )
}

/** Where rules choose all instruments, code is tried on one that they may choose. */
function withSample(
  configured: ReadonlyMap<string, Instrument>,
  { config }: LoadedConfig,
  contracts: ConfigRequest['contracts'],
): ReadonlyMap<string, Instrument> {
  if (configured.size > 0) return configured
  const sample = sampleInstrument(config, contracts?.get(config.file))
  return sample === undefined ? configured : new Map([[sample.symbol, sample]])
}

async function readPurity(
  { loaded, strategies }: CheckedAccount,
  sample: readonly Instrument[],
): Promise<Pick<FullCheck, 'problems' | 'warnings'>> {
  const checks = await checkPurities(
    strategies.map((one) => ({
      ...one,
      instruments: one.instruments.length > 0 ? one.instruments : sample,
      isGuarded: one.strategy === undefined,
    })),
  )
  const placed = checks.map(({ problems, failing, notes }, index) => {
    const strategy = strategies[index]
    const source = loaded.documents.strategies.get(strategy?.id ?? '')
    const isFed = strategy !== undefined && strategy.feedNames.size > 0
    const place = (text: string): readonly Problem[] =>
      source ? [source.problem(['module'], text)] : []
    const wrong = [...problems, ...(isFed ? [] : failing)]
    const odd = [...(isFed ? failing : []), ...notes]
    return { problems: wrong.flatMap(place), warnings: odd.flatMap(place) }
  })
  return {
    problems: placed.flatMap(({ problems }) => problems),
    warnings: placed.flatMap(({ warnings }) => warnings),
  }
}

/** Paths of sockets have a maximum length. */
function checkSocket(
  { config, documents }: LoadedConfig,
  played: PlayedPrices,
): readonly Problem[] {
  const socket = join(stateDirectoryOf(config, played), CONTROL_SOCKET)
  const tooLong = objectToPath(socket)
  if (tooLong === undefined) return []
  return [
    documents.main.problem(['state', 'directory'], `is too long: ${tooLong}; choose a shorter one`),
  ]
}

function listMissingSecrets({ config }: LoadedConfig, request: SecretsRequest): readonly Problem[] {
  return [
    ...listProblems(() => loadCredentials(config, request)),
    ...listProblems(() => loadProxies(config, request)),
    ...listMissingAlertSecrets(config, request),
    ...listProblems(() => loadSignalSecrets(config, request)),
  ]
}

export function listMissingAlertSecrets(
  { alerts }: DaemonConfig,
  request: SecretsRequest,
): readonly Problem[] {
  return alerts ? listProblems(() => loadAlertSecrets(alerts, request)) : []
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
