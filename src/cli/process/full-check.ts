import { type Instrument, isInverse } from '../../domain/instrument.ts'
import { join } from 'node:path'
import { withContracts } from '../../assembly/instruments/fetch-contracts.ts'
import { sampleInstrument } from '../../assembly/instruments/sample-instrument.ts'
import { toInstruments, toLiquidationSettings } from '../../assembly/settings/engine-settings.ts'
import { listSlowPrices } from '../../assembly/simulator/simulated-prices.ts'
import { CONTROL_SOCKET, stateDirectoryOf } from '../../assembly/state/state-place.ts'
import { listExitWarnings } from '../../assembly/strategies/exit-warnings.ts'
import {
  type CheckedAccount,
  listPaceWarnings,
  listShortWindows,
} from '../../assembly/strategies/pace-warnings.ts'
import { catchStrays } from '../../assembly/strategies/read-code.ts'
import {
  findStartProblems,
  isIsolated,
  isShipped,
  readStrategies,
} from '../../assembly/strategies/strategies.ts'
import { loadAlertSecrets } from '../../config/alert-secrets.ts'
import { loadChatToken } from '../../config/chat-token.ts'
import { warnOfClearText } from '../../config/clear-text.ts'
import { listContractRemarks, warnOfUnknownAges } from '../../config/contract-remarks.ts'
import { warnOfLeverage, warnOfSimulatedLeverage } from '../../config/liquidation-checks.ts'
import { listDraftFolders } from '../../config/draft-strategies.ts'
import { findUndecidedLosses, listMissingProtection } from '../../config/live-checks.ts'
import { listKeys, readAccounts } from '../../config/load-accounts.ts'
import type { ConfigRequest, DaemonConfig, LoadedConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import { listPercentWarnings } from '../../config/percent-warnings.ts'
import { loadProxies } from '../../config/proxy.ts'
import { loadCredentials, type SecretsRequest } from '../../config/secrets.ts'
import { loadSignalSecrets } from '../../config/signal-secrets.ts'
import { ConfigError, type Problem, sortProblems } from '../../config/yaml/problem.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { systemClock } from '../../lib/clock.ts'
import { objectToPath } from '../../lib/net/socket-path.ts'
import { systemTimers } from '../../lib/timers.ts'
import { distanceTo, findLiquidationPrices, type Legs } from '../../risk/liquidation.ts'
import type { StrategyFailure } from '../../strategy/strategy-failure.ts'
import { findEndlessFile } from '../../strategy/testing/watched-loading.ts'
import { checkPurities } from '../../strategy/testing/watched-purity.ts'
import { findKnownPrices, findNarrowStops, listPositionWarnings } from './position-values.ts'
import { findUntrusted } from './trusted-files.ts'

interface FullCheck {
  readonly problems: readonly Problem[]
  /** A start refuses these. */
  readonly missingSecrets: readonly Problem[]
  readonly loaded?: LoadedConfig
  readonly others: readonly LoadedConfig[]
  /** A start succeeds with these. */
  readonly warnings: readonly Problem[]
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
  const accounts = [main, ...others]
  const found = [...problems, ...accounts.flatMap(findUndecidedLosses)]
  const { played = { files: [], speed: undefined } } = request
  const checked: CheckedAccount[] = []
  const warnings: Problem[] = []
  const missingSecrets: Problem[] = []
  const configs = accounts.map(({ config }) => config)
  const drafts = listDraftFolders(main.config)
  const keysOfAll = listKeys(accounts)
  for (const [index, loaded] of accounts.entries()) {
    const { config, documents } = loaded
    const endless = await findEndlessFile({ files: filesOf(config), drafts })
    if (endless !== undefined) {
      found.push(placeOf(loaded, endless))
      continue
    }
    const strays = catchStrays()
    const instruments = withSample(toInstruments(config), loaded, contracts)
    const { strategies, problems: own } = await readStrategies(config, documents, instruments, {
      strays,
    })
    checked.push({ loaded, strategies })
    found.push(...own)
    if (own.length === 0)
      found.push(...(await findStartProblems(strategies, documents, states[index] ?? new Map())))
    const purity = await readPurity(
      { loaded, strategies },
      { sample: [...instruments.values()].slice(0, 1), drafts },
    )
    found.push(
      ...checkSocket(loaded, played),
      ...purity.problems,
      ...(await findNarrowStops(loaded, played)),
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
  const contractRemarks = listRemarks(accounts, contracts)
  return {
    problems: sortProblems(found),
    missingSecrets: sortProblems(missingSecrets),
    loaded: main,
    others,
    contracts,
    contractRemarks,
    warnings: sortProblems([
      ...warnings,
      ...contractRemarks,
      ...listMissingProtection(accounts),
      ...accounts.flatMap((account) => listOwnWarnings(account, contracts)),
      ...findUntrusted(configs, request),
      ...listPaceWarnings(checked),
      ...listExitWarnings(checked),
      ...listShortWindows(checked),
    ]),
  }
}

function listRemarks(
  accounts: readonly LoadedConfig[],
  contracts: ConfigRequest['contracts'],
): readonly Problem[] {
  return sortProblems(
    accounts.flatMap((account) =>
      listContractRemarks(account, contracts?.get(account.config.file)).map(
        ({ problem }) => problem,
      ),
    ),
  )
}

function listOwnWarnings(
  account: LoadedConfig,
  contracts: ConfigRequest['contracts'],
): readonly Problem[] {
  return [
    ...warnOfClearText(account),
    ...warnOfLeverage(account),
    ...warnOfSimulatedLeverage(account),
    ...listPercentWarnings(account),
    ...warnOfUnknownAges(account, contracts?.get(account.config.file)),
  ]
}

/** Left out are shipped strategies, and isolated ones, which have threads. */
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

/** Where a rule chooses all instruments, code is tried on one of them. */
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
  {
    sample,
    drafts,
  }: { readonly sample: readonly Instrument[]; readonly drafts: readonly string[] },
): Promise<Pick<FullCheck, 'problems' | 'warnings'>> {
  const checks = await checkPurities(
    strategies.map((one) => ({
      ...one,
      instruments: one.instruments.length > 0 ? one.instruments : sample,
      isGuarded: one.strategy === undefined,
    })),
    { drafts },
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
    ...listSignalProblems(config, request),
  ]
}

export function listMissingAlertSecrets(
  { alerts }: DaemonConfig,
  request: SecretsRequest,
): readonly Problem[] {
  return alerts ? listProblems(() => loadAlertSecrets(alerts, request)) : []
}

export function listSignalProblems(
  config: Pick<DaemonConfig, 'signals'>,
  request: SecretsRequest,
): readonly Problem[] {
  return listProblems(() => loadSignalSecrets(config, request))
}

export function listChatProblems(
  { chat }: DaemonConfig,
  request: SecretsRequest,
): readonly Problem[] {
  return chat ? listProblems(() => loadChatToken(chat, request)) : []
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

/**
 * Judges crossed margin, where the whole capital backs a position. Leverage judges isolated margin.
 */
export async function warnOfLargePositions(
  loaded: LoadedConfig,
  played: PlayedPrices,
): Promise<readonly Problem[]> {
  const { config, documents } = loaded
  const { steps, rules } = toLiquidationSettings(config)
  if (steps === undefined || config.account.marginMode !== 'crossed') return []
  const capital = Number(config.account.capital ?? config.simulator?.startingBalance)
  const prices = await findKnownPrices(loaded, played)
  return [...toInstruments(config).values()].flatMap((instrument) => {
    const { symbol } = instrument
    const owners = config.strategies.filter(
      ({ enabled, instruments }) => enabled && instruments.includes(symbol),
    )
    const ofInstrument = rules.get(symbol)
    if (owners.length === 0) return []
    const place = (message: string): Problem =>
      documents.main.problemOfKey(['instruments', symbol], message)
    const missing = [
      ...(Number.isNaN(capital) ? ['account.capital'] : []),
      ...(ofInstrument === undefined ? [`instruments.${symbol}.maintenance`] : []),
    ]
    if (missing.length > 0 || ofInstrument === undefined)
      return config.environment === 'live'
        ? []
        : [
            place(
              `how far its positions begin from a liquidation is not known without ${missing.join(' and ')}: risk.liquidation only warns`,
            ),
          ]
    const price = prices.get(symbol)
    const largest = largestOf(config.risk, {
      capital,
      price,
      owners,
      isInverse: isInverse(instrument),
    })
    if (largest === undefined)
      return [
        place(
          'how far its largest position begins from a liquidation is not known without a price, or positionNotionalMax of its strategies',
        ),
      ]
    const at = price ?? 1
    const distanceOf = (value: number): number =>
      distanceAtOpening({
        value,
        price: at,
        behind: capital,
        rules: ofInstrument,
        isInverse: isInverse(instrument),
      })
    const distance = distanceOf(largest)
    if (distance >= steps.reduce) return []
    const most = findMost(largest, (value) => distanceOf(value) >= steps.reduce)
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
    return [
      place(
        `its largest position by the limits, worth ${show(largest)}, begins ${percent(distance)} from its liquidation on a capital of ${show(capital)} ${config.account.marginCoin}, and risk.liquidation.reduce is ${percent(steps.reduce)}: what makes it larger than about ${show(most)} is denied (LIQUIDATION_NEAR); lower positionMax or positionNotionalMax of its strategies, or the steps`,
      ),
    ]
  })
}

interface LimitBasis {
  readonly capital: number
  readonly price: number | undefined
  readonly owners: LoadedConfig['config']['strategies']
  readonly isInverse: boolean
}

function largestOf(
  { grossNotionalMax, leverageMax = Number.POSITIVE_INFINITY }: LoadedConfig['config']['risk'],
  { capital, price, owners, isInverse: inBase }: LimitBasis,
): number | undefined {
  let sum = 0
  for (const { risk } of owners) {
    const bySize =
      price === undefined || risk.positionMax === undefined
        ? Number.POSITIVE_INFINITY
        : Number(risk.positionMax) * price
    sum += Math.min(bySize, Number(risk.positionNotionalMax ?? Number.POSITIVE_INFINITY))
  }
  const byLeverage = leverageMax * capital * (inBase ? (price ?? Number.NaN) : 1)
  if ((inBase && price === undefined) || !Number.isFinite(sum)) return undefined
  return Math.min(sum, Number(grossNotionalMax), byLeverage)
}

interface Opening extends Pick<Legs, 'behind' | 'rules' | 'isInverse'> {
  readonly value: number
  readonly price: number
}

function distanceAtOpening({ value, price, ...of }: Opening): number {
  const distances = (['long', 'short'] as const).map((holdSide) => {
    const legs = [{ holdSide, size: value / price, entryPrice: price }]
    const { below, above } = findLiquidationPrices({ ...of, legs }, price)
    return distanceTo(holdSide === 'long' ? below : above, price)
  })
  return Math.min(...distances)
}

function findMost(largest: number, passes: (value: number) => boolean): number {
  let [low, high] = [0, largest]
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}

const HALVINGS = 40

const show = (amount: number): string =>
  amount.toLocaleString('en-US', { maximumSignificantDigits: 4 })
