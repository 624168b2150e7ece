import { describeOff } from '../../views/shown-account.ts'
import {
  compareConfigs,
  type ConfigChanges,
  type SettingChange,
} from '../../config/config-changes.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import { EXIT_CONFIG, formatProblem, formatProblems } from '../../config/yaml/problem.ts'
import type { ReloadView } from '../../control/detail-views.ts'
import { viewAccount, viewOrders } from '../../views/account-view.ts'
import { readRunningConfig, readRunStart, withCode } from '../../assembly/state/running-config.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { findOff, findSocket, readDaemon, withClient } from '../operator/find-daemon.ts'
import { checkFully } from '../process/full-check.ts'
import { setOtherwise } from '../operator/operated-config.ts'
import { describeChange, listChanges } from '../process/change-lines.ts'
import { print } from '../process/operator.ts'
import { listCheckWords, repeatMarket } from '../process/market-options.ts'
import { withPlayed, type MarketOptions } from '../../assembly/instruments/played-request.ts'
import { adviseAgain } from '../process/options.ts'
import { toConfigRequest, type ConfigOptions } from '../../config/config-request.ts'
import { listGridProblems } from '../../assembly/settings/assert-grids.ts'
import { listExceeded } from './exceeded-limits.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import type { OrderView, PositionView } from '../../control/views.ts'

export const EXIT_NOTHING = 1
/** A reload that is refused exits with the same code. */
export const EXIT_REFUSED = 1
const TRIED_WITHIN_MS = 60_000

/** The main file's account comes first; accounts that never ran are missing. */
export type ReloadPlan =
  | {
      readonly kind: 'planned'
      readonly plans: readonly Plan[]
      readonly refusals: readonly string[]
    }
  | { readonly kind: 'none'; readonly exitCode: number }

/** @param isRetry restarts all without changes too, since an account is off */
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
  // A running daemon has its own secrets.
  for (const problem of missingSecrets) print(`! not here: ${formatProblem(problem)}`)
  for (const { message } of contractRemarks) print(`! ${message}`)
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
    const text = formatPlan(planned)
    writeOut(text === '' ? 'nothing would change\n' : text)
    isChange ||= text !== ''
    plans.push(planned)
  }
  const isPossible = plans.every(
    ({ changes, problems: own }) => changes.refused.length + own.length === 0,
  )
  const refusals = isChange && isPossible ? await tryReload(loaded.config) : []
  for (const refusal of refusals) writeOut(`! a reload is refused: ${refusal}\n`)
  if ((isChange || isRetry) && isPossible && refusals.length === 0)
    for (const plan of plans)
      writeOut(formatCancels(plan, others.length > 0 ? plan.next.name : undefined))
  return isChange ? { kind: 'planned', plans, refusals } : { kind: 'none', exitCode: EXIT_NOTHING }
}

export function isRefused({ plans, refusals }: Extract<ReloadPlan, { kind: 'planned' }>): boolean {
  const isHindered = plans.some(
    ({ changes, problems }) => changes.refused.length + problems.length > 0,
  )
  return isHindered || refusals.length > 0
}

/** The daemon checks a reload against its own book, keys and ports. */
async function tryReload(config: DaemonConfig): Promise<readonly string[]> {
  const socket = findSocket(config)
  if (socket === undefined) return []
  const reply = await withClient(socket, (client) => client.read('/v1/reload', TRIED_WITHIN_MS))
  if (reply.kind === 'answered' && reply.status === 200) return (reply.body as ReloadView).problems
  print('! the daemon that runs did not try it: only what is seen from here is said')
  return []
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
        `! ${describeChange(change)}: only a new process takes this; stop the daemon and start it`,
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

/**
 * Orders that the next run cancels first.
 * @param name set if there are several accounts
 */
export function formatCancels({ orders, next }: Plan, name: string | undefined): string {
  const kept = orders.filter(({ strategy, symbol }) => isTraded(next, strategy, symbol))
  if (next.onRestart === 'adopt' || kept.length === 0) return ''
  const whose = name === undefined ? '' : `${name}: `
  return `  ${whose}${countBy(kept)}: cancelled, and placed again as far as still wanted (onRestart: cancel)\n`
}

function isTraded(
  { strategies, instruments }: DaemonConfig,
  strategy: string,
  symbol: string,
): boolean {
  return (
    strategies.some(
      (one) => one.enabled && one.id === strategy && one.instruments.includes(symbol),
    ) && Object.hasOwn(instruments, symbol)
  )
}

/** The state of the embedded exchange depends on all settings of instruments. */
const OTHER_WORLD =
  '! another simulated account begins, without what this one holds: it belongs to its instruments, and goes on when they are as they were'

function isOtherWorld({ settings }: ConfigChanges, { exchange, simulator }: DaemonConfig): boolean {
  const isInside = exchange.baseUrl === undefined && simulator !== undefined
  return isInside && settings.some(({ path }) => path.startsWith('instruments.'))
}

/** Only an isolated strategy is loaded anew: a module is loaded once a process. */
function noteOnImports({ path }: SettingChange, { strategies }: DaemonConfig): string {
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
