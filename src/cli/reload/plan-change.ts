import { type MarketOptions, withPlayed } from '../../assembly/instruments/played-request.ts'
import { listGridProblems } from '../../assembly/settings/assert-grids.ts'
import { toLossSettings } from '../../assembly/settings/engine-settings.ts'
import { readRunningConfig, readRunStart, withCode } from '../../assembly/state/running-config.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import {
  compareConfigs,
  type ConfigChanges,
  type ConfigChange,
} from '../../config/config-changes.ts'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { EXIT_CONFIG, formatProblem, formatProblems } from '../../config/yaml/problem.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import type { AccountStatusView, OrderView, PositionView } from '../../control/views.ts'
import { toCoinText } from '../../domain/coin-amount.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { DRAWDOWN_STEPS, isLossReached } from '../../domain/loss-limits.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'
import { decimal } from '../../lib/decimal.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { viewAccount, viewOrders } from '../../views/account-view.ts'
import { describeOff } from '../../views/shown-account.ts'
import { findOff, findSocket, readDaemon, readOlder, withClient } from '../operator/find-daemon.ts'
import { setOtherwise } from '../operator/operated-config.ts'
import { describeChange, listChanges } from '../process/change-lines.ts'
import { checkFully } from '../process/full-check.ts'
import { listCheckWords, repeatMarket } from '../process/market-options.ts'
import { print } from '../process/operator.ts'
import { adviseAgain } from '../process/options.ts'

export const EXIT_NOTHING = 1
export const EXIT_REFUSED = 1
const TRIED_WITHIN_MS = 60_000

/** The main file's account comes first. */
type ReloadPlan =
  | {
      readonly kind: 'planned'
      readonly plans: readonly Plan[]
      readonly refusals: readonly string[]
      readonly secrets: readonly string[]
    }
  | { readonly kind: 'none'; readonly exitCode: number }

/** @param isRetry also restarts accounts without changes */
export async function planChange(
  options: ConfigOptions & MarketOptions,
  isRetry = false,
): Promise<ReloadPlan> {
  const request = await withPlayed(toConfigRequest(options), options)
  const { problems, missingSecrets, loaded, others, contractRemarks } = await checkFully(request)
  if (problems.length > 0 || !loaded) {
    const kept = 'nothing was changed, and what runs goes on as it was'
    writeAside(
      `${formatProblems(problems, adviseAgain(listCheckWords(options), problems), kept)}\n`,
    )
    return { kind: 'none', exitCode: EXIT_CONFIG }
  }
  for (const problem of missingSecrets) print(`! not here: ${formatProblem(problem)}`)
  for (const { message } of contractRemarks) print(`! ${message}`)
  const tried = loaded.config.signals === undefined ? NOT_TRIED : await tryReload(loaded.config)
  const plans: Plan[] = []
  let isChange = false
  for (const { config } of [loaded, ...others]) {
    if (others.length > 0) writeOut(`${config === loaded.config ? '' : '\n'}== ${config.name}\n`)
    const own = config === loaded.config ? options : { ...options, config: config.file, set: [] }
    const planned = await planAccount(own, config)
    if (typeof planned === 'number') {
      if (planned !== EXIT_NOTHING) return { kind: 'none', exitCode: planned }
      continue
    }
    const secrets = config === loaded.config ? tried.secrets : []
    const text = `${formatPlan(planned)}${secrets.map((line) => `${line}\n`).join('')}`
    writeOut(text === '' && tried.problems.length === 0 ? 'nothing would change\n' : text)
    isChange ||= text !== ''
    plans.push(planned)
  }
  const isPossible = plans.every(
    ({ changes, problems: own }) => changes.refused.length + own.length === 0,
  )
  const isToTry = isChange && isPossible && loaded.config.signals === undefined
  const refusals = (isToTry ? await tryReload(loaded.config) : tried).problems
  for (const refusal of refusals) writeOut(`! a reload is refused: ${refusal}\n`)
  if ((isChange || isRetry) && isPossible && refusals.length === 0)
    for (const plan of plans)
      writeOut(formatCancels(plan, others.length > 0 ? plan.next.name : undefined))
  return isChange || refusals.length > 0
    ? { kind: 'planned', plans, refusals, secrets: tried.secrets }
    : { kind: 'none', exitCode: EXIT_NOTHING }
}

export function isRefused({ plans, refusals }: Extract<ReloadPlan, { kind: 'planned' }>): boolean {
  const isHindered = plans.some(
    ({ changes, problems }) => changes.refused.length + problems.length > 0,
  )
  return isHindered || refusals.length > 0
}

/** Only the daemon knows its book, keys and ports. */
type TriedReload = Pick<ReloadView, 'problems' | 'secrets'>

const NOT_TRIED: TriedReload = { problems: [], secrets: [] }

export async function tryReload(config: DaemonConfig): Promise<TriedReload> {
  const socket = findSocket(config)
  if (socket === undefined) return NOT_TRIED
  const reply = await withClient(socket, (client) => client.read('/v1/reload', TRIED_WITHIN_MS))
  if (reply.kind === 'answered' && reply.status === 200) {
    const { value, older } = await readOlder('/v1/reload', reply.body, socket)
    if (older !== undefined) print(`! ${older}`)
    return value as ReloadView
  }
  print('! the daemon that runs did not try it: only what is seen from here is said')
  return NOT_TRIED
}

async function planAccount(options: ConfigOptions, config: DaemonConfig): Promise<Plan | number> {
  const running = readRunningConfig(config)
  if (running === undefined) {
    print('nothing has run with this state yet: a start begins from nothing')
    return EXIT_NOTHING
  }
  if (running.file !== config.file)
    print(`! what runs was started with ${running.file}, not with ${config.file}`)
  const others = setOtherwise(config, options.set)
  if (others !== undefined)
    print(`! it was started with${others}: a reload reads the files with that again`)
  const played = describePlayed(config)
  if (played !== '')
    print(`! the last run was started with${played}: this is what a start with the same would do`)
  const changes = compareConfigs(running, withCode(config))
  const off = findSocket(config) === undefined ? await findOff(config) : undefined
  if (off !== undefined) {
    print(`! ${describeOff(off.reason)}; what it may hold is not looked at`)
    return { changes, orders: [], positions: [], problems: [], exceeded: [], next: config }
  }
  let problems: readonly string[] = []
  const orders = await readDaemon(options, '/v1/orders', (stored) => {
    problems = listGridProblems(stored.book, config)
    return viewOrders(stored)
  })
  if (orders.kind === 'nothing') return orders.exitCode
  const status = await readDaemon(options, '/v1/status', (stored) => ({
    accounts: [viewAccount(stored, '')],
  }))
  if (status.kind === 'nothing') return status.exitCode
  const [account] = status.view.accounts
  const positions = account?.positions ?? []
  const used = account && { account, orders: orders.view }
  const exceeded =
    used && changes.settings.some(({ limit }) => limit === 'tighter')
      ? listExceeded(config, used)
      : []
  return {
    changes,
    orders: orders.view,
    positions,
    problems,
    exceeded: [...exceeded],
    next: config,
  }
}

function describePlayed(config: DaemonConfig): string {
  const start = listHolders(config.state.directory).length === 0 ? readRunStart(config) : undefined
  return start?.mainFile === config.file ? repeatMarket(start) : ''
}

interface Plan {
  readonly changes: ConfigChanges
  readonly orders: readonly OrderView[]
  readonly positions: readonly PositionView[]
  readonly problems: readonly string[]
  readonly exceeded: readonly string[]
  readonly next: DaemonConfig
}

export function formatPlan({ changes, orders, positions, next, problems, exceeded }: Plan): string {
  const { refused } = changes
  const cancelled = orders.filter(({ strategy, symbol }) => !isTraded(next, strategy, symbol))
  const unattended = positions.flatMap(({ symbol, strategies }) =>
    Object.entries(strategies).flatMap(([strategy, size]) =>
      isTraded(next, strategy, symbol) ? [] : [`${symbol} ${size} of ${strategy}`],
    ),
  )
  const lines = [
    ...refused.map(
      (change) =>
        `! ${describeChange(change)}: only a new process takes this; ${change.path === 'account.capital' ? OF_CAPITAL : 'stop the daemon and start it'}`,
    ),
    ...listChanges(changes, (change) => noteOnImports(change, next)),
    ...(isOtherWorld(changes, next) ? [OTHER_WORLD] : []),
    ...exceeded.map((sentence) => `! ${sentence}`),
    ...problems.map((problem) => `! a start would refuse it: ${problem}`),
    ...(cancelled.length > 0
      ? [`  ${countBy(cancelled)} that nobody wants any more: cancelled`]
      : []),
    ...unattended.map(
      (what) =>
        `! ${what} is held, and nobody will trade it: flatten it before, or look after it by hand`,
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** A start does not judge what a lower capital leaves; a withdrawal is judged before it is taken. */
const OF_CAPITAL =
  'leave it as it was when the journal began, and enter money that was moved with `intentd deposit` or `intentd withdrawal`'

/** @param name undefined for a single account */
export function formatCancels({ orders, next }: Plan, name: string | undefined): string {
  const kept = orders.filter(({ strategy, symbol }) => isTraded(next, strategy, symbol))
  if (next.onRestart === 'adopt' || kept.length === 0) return ''
  const whose = name === undefined ? '' : `${name}: `
  return `  ${whose}${countBy(kept)}: cancelled, and placed again as far as still wanted (onRestart: cancel)\n`
}

function isTraded(
  { strategies, instruments, manual }: DaemonConfig,
  strategy: string,
  symbol: string,
): boolean {
  // A person may trade every instrument of the main file.
  if (strategy === MANUAL && manual !== undefined) return Object.hasOwn(instruments, symbol)
  return (
    strategies.some(
      (one) => one.enabled && one.id === strategy && one.instruments.includes(symbol),
    ) && Object.hasOwn(instruments, symbol)
  )
}

const OTHER_WORLD =
  '! another simulated account begins, without what this one holds: it belongs to its instruments, and goes on when they are as they were'

function isOtherWorld({ settings }: ConfigChanges, { exchange, simulator }: DaemonConfig): boolean {
  const isInside = exchange.baseUrl === undefined && simulator !== undefined
  return isInside && settings.some(({ path }) => path.startsWith('instruments.'))
}

/** A process loads a module once; only isolated strategies are loaded anew. */
function noteOnImports({ path }: ConfigChange, { strategies }: DaemonConfig): string {
  const isInline = strategies.some(
    ({ id, isolation }) => path === `code.${id}` && isolation === 'inline',
  )
  return isInline
    ? '; what the file imports is read anew only by a restart (isolation: inline)'
    : ''
}

function countBy(orders: readonly OrderView[]): string {
  const groups = Map.groupBy(orders, ({ strategy, symbol }) => `${strategy} on ${symbol}`)
  return [...groups].map(([name, of]) => `${of.length} open orders of ${name}`).join(', ')
}

interface UsedBudget {
  readonly account: Pick<
    AccountStatusView,
    'coin' | 'losses' | 'positions' | 'peak' | 'drawdown' | 'equity'
  >
  readonly orders: readonly OrderView[]
}

const DOES = {
  daily: 'only orders that reduce leave at once, until it is released',
  'drawdown.warn': 'it is warned of at once',
  'drawdown.reducing': 'only orders that reduce leave at once, until it is released',
  'drawdown.flatten': 'everything in it is CLOSED at once',
  streak: 'the strategy is halted at once',
} as const

export function* listExceeded(next: DaemonConfig, used: UsedBudget): Generator<string> {
  yield* listLosses(next, used)
  yield* listSizes(next, used)
  yield* listWorstCases(next, used)
}

function* listLosses(next: DaemonConfig, { account }: UsedBudget): Generator<string> {
  for (const [scope, { daily, drawdown, streak }] of toLossSettings(next)?.limits ?? []) {
    const steps = DRAWDOWN_STEPS.map((step) => [`drawdown.${step}`, drawdown?.[step]] as const)
    for (const [limit, max] of [['daily', daily], ...steps, ['streak', streak]] as const) {
      if (max === undefined) continue
      const lost = lostIn(account, scope, limit)
      const before = account.losses.find((one) => one.scope === scope && one.limit === limit)
      if (
        lost === undefined ||
        !isLossReached(lost, max) ||
        (before && isLossReached(lost, before.max))
      )
        continue
      const isShare = scope === ACCOUNT && limit.startsWith('drawdown')
      const inCoin = (amount: number): string => showAmount(amount, account.coin)
      const shown = limit === 'streak' ? String : isShare ? showShare : inCoin
      const where = scope === ACCOUNT ? 'the account' : scope
      yield `${where}: ${limit} ${shown(max)} is reached already, with ${shown(lost)}: ${DOES[limit]}`
    }
  }
}

/** The last step of a drawdown may have a peak of its own, after a release. */
function lostIn(
  { losses, peak, drawdown }: UsedBudget['account'],
  scope: string,
  limit: string,
): number | undefined {
  const alike = (name: string): string => name.replace(/\..*/, '')
  const rows = losses.filter((one) => one.scope === scope && alike(one.limit) === alike(limit))
  const known = rows.find((one) => one.limit === limit) ?? rows[0]
  if (known) return known.used ?? undefined
  const isShare = scope === ACCOUNT && alike(limit) === 'drawdown'
  return isShare && Number(peak) > 0 ? Number(drawdown) / Number(peak) : undefined
}

function* listSizes(
  { risk, strategies, account: { productType } }: DaemonConfig,
  used: UsedBudget,
): Generator<string> {
  const { positions, coin } = used.account
  const quoteCoin = productType === 'COIN-FUTURES' ? 'USD' : coin
  const worthOf = (size: string, markPrice: number | null): number =>
    Math.abs(Number(size)) * (productType === 'COIN-FUTURES' ? 1 : (markPrice ?? Number.NaN))
  const gross = positions.reduce((sum, { size, markPrice }) => sum + worthOf(size, markPrice), 0)
  if (gross > Number(risk.grossNotionalMax))
    yield `the account: grossNotionalMax ${risk.grossNotionalMax} is exceeded already, with ${showAmount(gross, quoteCoin)} in positions: ${DENIED}`
  if (used.orders.length > risk.openOrdersMax)
    yield `the account: openOrdersMax ${risk.openOrdersMax} is exceeded already, with ${used.orders.length}: what is placed anew is denied beyond it`
  for (const { id, enabled, risk: own } of strategies) {
    if (!enabled) continue
    for (const { symbol, strategies: held, markPrice } of positions) {
      const size = held[id]
      if (size === undefined) continue
      if (Math.abs(Number(size)) > Number(own.positionMax ?? Number.POSITIVE_INFINITY))
        yield `${id}: positionMax ${own.positionMax} is exceeded already on ${symbol}, with ${size}: ${DENIED}`
      const worth = worthOf(size, markPrice)
      if (own.positionNotionalMax !== undefined && worth > Number(own.positionNotionalMax))
        yield `${id}: positionNotionalMax ${own.positionNotionalMax} is exceeded already on ${symbol}, with ${showAmount(worth, quoteCoin)}: ${DENIED}`
    }
  }
}

/** Estimates without fees and margins that all instruments move at once. */
function* listWorstCases(
  { risk: { survives }, account: { productType } }: DaemonConfig,
  { account: { coin, positions, equity }, orders }: UsedBudget,
): Generator<string> {
  if (survives === undefined || equity === null || productType.endsWith('COIN-FUTURES')) return
  const { move, joint } = survives
  let loss = 0
  for (const { symbol, markPrice } of positions) {
    const share = joint ?? (typeof move === 'number' ? move : (move[symbol] ?? 0))
    const net = positions
      .filter((one) => one.symbol === symbol)
      .reduce((sum, { side, size }) => sum + (side === 'short' ? -1 : 1) * Number(size), 0)
    const resting = (action: 'buy' | 'sell'): number =>
      orders
        .filter((order) => order.symbol === symbol && tradesAs(order.action) === action)
        .reduce((sum, { size, filled }) => sum + Number(size) - Number(filled), 0)
    // An instrument with both sides has two rows, and counts once.
    const rows = positions.filter((one) => one.symbol === symbol).length
    loss +=
      (share * (markPrice ?? Number.NaN) * Math.max(net + resting('buy'), resting('sell') - net)) /
      rows
  }
  if (!(loss > Number(equity))) return
  yield `the account: risk.survives is exceeded already, since ${showAmount(loss, coin)} would be lost of ${showAmount(Number(equity), coin)} at least: orders that add are denied, and it is REDUCED at once until 80 %`
}

const DENIED = 'orders that add are denied; what is held stays'

function showAmount(amount: number, coin: string): string {
  return decimal(toCoinText(amount, coin)).toString()
}

function showShare(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
