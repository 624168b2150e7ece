import { cleanLine } from '../../lib/text/clean-text.ts'
import { showCount } from '../../lib/text/show-count.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { showCoin } from '../../domain/coin-amount.ts'
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import type {
  AccountStatusView,
  ProfitView,
  RestrictionView,
  StatusView,
} from '../../control/views.ts'
import { listWaiting } from '../../daemon/account/command-inbox.ts'
import { killFileOf } from '../../assembly/state/kill-switch.ts'
import { describeOff, type ShownAccount } from '../../views/shown-account.ts'
import { describeFall } from '../../views/summary-text.ts'
import { showUntil } from '../../lib/text/show-until.ts'
import { wrapWords } from '../../lib/text/wrap-words.ts'
import { describeUncounted } from '../../domain/fill-money.ts'
import { TRADING_MODES } from '../../domain/trading-mode.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { describeLastRun, readLastRun } from '../../assembly/state/last-run.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { print } from '../process/operator.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { parseDuration, repeatOptions } from '../process/options.ts'
import { showEachAccount } from './each-account.ts'
import {
  type AccountOff,
  EXIT_SILENT,
  findSocket,
  type Found,
  type FoundView,
  readDaemon,
  type ShowOptions,
} from '../operator/find-daemon.ts'
import { describeCapital, formatPositions } from './position-table.ts'
import { age, COLUMNS, formatTable, money } from '../process/table.ts'
import { writeOut } from '../../lib/write-out.ts'

const WATCH_MS = 1000
const CLEAR_SCREEN = '\u001B[2J\u001B[H'
const LABEL = 12

interface StatusOptions extends ShowOptions {
  readonly watch?: number | true
}

export function addStatusCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('status'))
    .description('show whether it trades, why not, what it holds and what it has made')
    .option(
      '--watch [every]',
      'repeat every second, or at this interval; of several accounts only that of the named file',
      parseDuration,
    )
    .option('--json', 'as JSON')
    .action(async (options: StatusOptions) => setExit(await showStatus(options)))
}

async function showStatus(options: StatusOptions): Promise<number> {
  if (options.watch === undefined) return showEachAccount(options, showOnce)
  const everyMs = options.watch === true ? WATCH_MS : options.watch
  for (;;) {
    const found = await readStatus(options)
    if (found.kind === 'nothing') return found.exitCode
    if (process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN)
    writeOut(toText(found, options))
    if (!found.isLive) return EXIT_SILENT
    if (process.stdout.errored) return 0
    await new Promise<void>((resolve) => systemTimers.after(everyMs, resolve))
  }
}

async function showOnce(options: StatusOptions): Promise<number> {
  const found = await readStatus(options)
  if (found.kind === 'nothing') return found.exitCode
  writeOut(toText(found, options))
  return 0
}

function readStatus(options: StatusOptions): Promise<Found<StatusView>> {
  const config = loadOperated(options)
  const { directory } = config.state
  if (findSocket(config) === undefined) printWaiting(directory)
  return readDaemon(options, '/v1/status', (account, off) => {
    const last = listHolders(directory).length === 0 ? readLastRun(directory) : undefined
    if (last !== undefined) print(describeLastRun(last))
    return toStored(account, repeatOptions(options), off)
  })
}

function printWaiting(directory: string): void {
  if (existsSync(killFileOf(directory)))
    print(
      `! a kill stands (${killFileOf(directory)}): the next daemon obeys it before its first order`,
    )
  const waiting = listWaiting(directory)
  for (const command of waiting) print(`! waits for the next daemon: ${command}`)
  if (waiting.length > 0) print(`  (${directory}/operator; a file that is removed is not obeyed)`)
}

async function toStored(
  account: ShownAccount,
  configOption: string,
  off: AccountOff | undefined,
): Promise<StatusView> {
  const { viewAccount } = await import('../../views/account-view.ts')
  const { name, environment } = account.config
  const now = systemClock.now()
  return {
    name,
    environment,
    version: '',
    exchange: '',
    pid: 0,
    processStartedAt: 0,
    startedAt: 0,
    speed: 1,
    isReadOnly: true,
    now,
    configOption,
    accounts: [viewAccount(account, configOption)],
    off: off === undefined ? [] : [off],
  }
}

function toText({ view, answer, isLive }: FoundView<StatusView>, { json }: StatusOptions): string {
  return json ? `${JSON.stringify(answer, undefined, 2)}\n` : formatStatus(view, isLive)
}

export function formatStatus(status: StatusView, isLive: boolean): string {
  const { name, version, environment, exchange, pid, processStartedAt, now } = status
  const head = isLive
    ? line(
        name,
        `${environment}, ${exchange}, version ${version}, pid ${pid}, up ${age(now - processStartedAt)}`,
      )
    : line(
        name,
        `${environment}; ${status.off.length > 0 ? 'its daemon runs without it' : 'no daemon runs'}`,
      ) + status.off.map(({ reason }) => line('', `! ${describeOff(reason)}`)).join('')
  return (
    head +
    describeStandby(status) +
    describeSharedLimits(status) +
    describeAlerts(status) +
    describeSignals(status) +
    describeClosedPort(status) +
    status.accounts
      .map((account) => formatAccount(account, { isLive, isMoney: environment === 'live' }))
      .join('\n')
  )
}

function describeStandby({ standby, now }: StatusView): string {
  if (standby === undefined) return ''
  const { holder, behind, seenAt, freeInMs, trouble, differs } = standby
  const whom = holder === '' ? 'nobody has written the journal yet' : `follows ${holder}`
  const transactions = behind === 1 ? '1 transaction' : `${behind ?? 0} transactions`
  const looked =
    seenAt === null
      ? 'has not looked yet'
      : `${whom}; looked ${age(now - seenAt)} ago, and was ${transactions} behind`
  const next =
    trouble !== null
      ? `! it cannot look now, and takes nothing over until it can: ${trouble}`
      : freeInMs === null
        ? ''
        : `takes over in ${age(freeInMs)} unless the lease is renewed`
  const other =
    differs.length === 0 ? '' : `! it would trade otherwise than the writer: ${differs.join(', ')}`
  return (
    line('standby', looked) +
    [next, other].map((text) => (text === '' ? '' : line('', text))).join('')
  )
}

function describeSharedLimits({ sharedLimits, now }: StatusView): string {
  if (sharedLimits === undefined) return ''
  const { state, since, reason, members, membersMax, limits } = sharedLimits
  const held = limits.map(({ name, calls, mayMake }) => `${name} ${mayMake} of ${calls}`).join(', ')
  const gone = limits.filter((one) => one.gone > 0).map((one) => `${one.name} ${one.gone}`)
  const others = `${members - 1} other ${members === 2 ? 'daemon' : 'daemons'} (at most ${membersMax - 1})`
  const how = {
    shared: `with ${others} for ${age(now - since)}`,
    joining: 'waits for the first answer of Redis',
    alone: `! without Redis for ${age(now - since)}, at most an even share of ${membersMax}`,
    refused: `! REFUSED for ${age(now - since)}: no call leaves, not even a cancel`,
  }[state]
  return [
    line('shared', `${how}: ${held}`),
    gone.length === 0
      ? ''
      : line('', `of daemons that ended, and may count still: ${gone.join(', ')}`),
    reason === null ? '' : line('', `! ${reason}`),
  ].join('')
}

function describeAlerts({ alerts = [] }: StatusView): string {
  const failing = alerts.flatMap(({ target, failing: why }) =>
    why === null ? [] : [{ target, ...why }],
  )
  return failing
    .map(({ target, since, reason }, index) =>
      line(
        index === 0 ? 'alerts' : '',
        `! none arrives at ${target} since ${showUtc(since)}: ${reason}`,
      ),
    )
    .join('')
}

function describeSignals({ signals, now }: StatusView): string {
  const said = (signals?.accepted ?? []).map(({ name, at, isShown }) => {
    if (at === null) return `${name} none yet`
    return `${name} ${age(now - at)} ago${isShown ? '' : ', expired'}`
  })
  return said.length === 0 ? '' : line('signals', said.join('; '))
}

function describeClosedPort({ closedPort }: StatusView): string {
  if (closedPort === undefined) return ''
  const { address, reason, since } = closedPort
  return line(
    'control',
    `! nothing listens at ${address} since ${showUtc(since)} (${reason}); tried every 2 s: end what has the port, or set another control.port and run \`intentd reload\``,
  )
}

function formatAccount(
  account: AccountStatusView,
  { isLive, isMoney }: { readonly isLive: boolean; readonly isMoney: boolean },
): string {
  const { hindrances, warnings, waits, pauses, restrictions, positions, profit } = account
  const orders = Object.entries(account.openOrders).map(([state, count]) => `${count} ${state}`)
  return [
    isLive ? line('mode', describeStanding(account)) : '',
    ...(isLive ? hindrances.map((hindrance) => line('', `! ${hindrance}`)) : []),
    ...(isLive ? warnings.map((warning) => line('warning', warning)) : []),
    ...(isLive
      ? waits.map(({ strategy, symbol, what }) =>
          line('waits', `${strategy} on ${symbol} for ${what}`),
        )
      : []),
    ...(isLive ? pauses.map((pause) => line('pause', pause)) : []),
    ...restrictions.map((restriction) => formatRestriction(restriction, account)),
    account.kill ? line('kill', describeKill(account.kill)) : '',
    ...account.unattended.map((one) => line('', `! ${describeUnattended(one)}`)),
    isLive ? line('ages', describeAges(account)) : '',
    line(
      'orders',
      orders.length === 0 ? 'none open' : `${orders.join(', ')}${describeUnknown(account)}`,
    ),
    line('today', describeProfit(profit.today, account.coin)),
    line('all runs', describeProfit(profit.total, account.coin)),
    line('unrealised', describeUnrealised(account, isLive)),
    account.equity === null ? '' : line('equity', describeEquity(account)),
    isLive && account.losses.length > 0 ? line('losses', describeLosses(account)) : '',
    account.worstCase === null
      ? ''
      : line('worst case', describeWorstCase(account.worstCase, account.coin)),
    isMoney && account.isLossLimited === false
      ? line('', '! nothing limits what the account may lose (risk.losses: none)')
      : '',
    '\n',
    formatPositions(positions),
    '\n',
    formatStrategies(account, isLive),
    isLive ? `\n${formatLimiter(account)}` : '',
  ].join('')
}

function describeStanding({
  mode,
  phase,
  hindrances,
  restrictions,
  waits,
}: AccountStatusView): string {
  if (phase === 'stopped') return 'none: its run is over'
  if (hindrances.length + restrictions.length > 0)
    return `${describeMode(mode, restrictions)}, ${phase}`
  const names = [...new Set(waits.map(({ strategy }) => strategy))]
  const standing = `${mode}, ${phase}: nothing is in the way`
  if (names.length === 0) return standing
  if (names.length > NAMED_MAX) return `${standing}; ${names.length} strategies wait`
  return `${standing}; ${names.join(' and ')} ${names.length === 1 ? 'waits' : 'wait'}`
}

const NAMED_MAX = 2

function describeKill({ phase, isReleaseAsked }: NonNullable<AccountStatusView['kill']>): string {
  const proof =
    phase === 'clean'
      ? 'it is proved that nothing rests'
      : `it is not proved yet that nothing rests (${phase})`
  return isReleaseAsked ? `${proof}; a release waits for that` : proof
}

function describeUnattended({
  strategy,
  symbol,
  side,
  size,
  why,
}: AccountStatusView['unattended'][number]): string {
  if (strategy === null) return `${symbol} ${side} ${size} is held: ${why}`
  return `${symbol} ${side} ${size} of ${strategy} is held, and nobody trades it, since ${why}: put the strategy back and flatten it, or close it by hand`
}

function describeEquity({ equity, peak, drawdown, equityBefore, coin }: AccountStatusView): string {
  const known = { equity: Number(equity), peak: Number(peak), drawdown: Number(drawdown) }
  const isBelow = equity !== null && peak !== null && drawdown !== null
  return [
    money(equity, coin),
    isBelow ? describeFall(known, coin) : '',
    describeChange(equityBefore.day, known.equity, '24 hours'),
    describeChange(equityBefore.week, known.equity, '7 days'),
  ]
    .filter(Boolean)
    .join(', ')
}

function describeChange(before: string | null, equity: number, span: string): string {
  if (before === null || Number(before) <= 0) return ''
  const share = (equity / Number(before) - 1) * 100
  return `${share < 0 ? '' : '+'}${share.toFixed(2)} % in ${span}`
}

function describeWorstCase(
  { scenario, need, left, used }: NonNullable<AccountStatusView['worstCase']>,
  coin: string,
): string {
  return `${scenario} would take ${money(need, coin)}, ${(used * 100).toFixed(1)} % of the equity; ${money(left, coin)} left`
}

function describeMode(
  mode: AccountStatusView['mode'],
  restrictions: readonly RestrictionView[],
): string {
  const strictness = (one: AccountStatusView['mode']): number => TRADING_MODES.indexOf(one)
  const stricter = restrictions.filter((one) => strictness(one.mode) > strictness(mode))
  const scopes = [...new Set(stricter.map(({ scope }) => scope))]
  return scopes.length > 0 ? `${mode} but for ${scopes.join(', ')}` : mode
}

function formatRestriction(restriction: RestrictionView, account: AccountStatusView): string {
  const { scope, mode, code, reason, by, at, ends, command, releasableAt } = restriction
  const what = `! ${scope} ${mode} since ${showUtc(at)} by ${by} (${code}): ${reason}; ends when ${ends}${describeWait(releasableAt)}`
  return command === null
    ? line('', what)
    : `${line('', `${what}. ${leadTo(restriction, account)}`)}${' '.repeat(LABEL + 2)}${command}\n`
}

function describeWait(releasableAt: number | null): string {
  return releasableAt === null ? '' : `, from ${showUtc(releasableAt)} on`
}

/** Warns that a strategy may order its whole target again after a release. */
function leadTo(
  { scope, command }: RestrictionView,
  { unattended, ages }: AccountStatusView,
): string {
  if (command?.startsWith('intentd repair')) return 'With the daemon stopped, repair it first:'
  const left = unattended.filter(
    ({ strategy, symbol }) =>
      strategy === null && symbol in ages.tickersMs && [symbol, '*'].includes(scope),
  )
  const symbols = [...new Set(left.map(({ symbol }) => symbol))]
  if (symbols.length === 0) return 'To release it:'
  const handed = symbols.map((symbol) => `\`intentd adopt ${symbol} --to ID\``).join(', ')
  return `No strategy holds all of ${symbols.join(', ')}: BEFORE a release give the rest to one that trades it (${handed}) or flatten it, else a strategy may order its whole target again: a release is refused where one would. Then, to release it:`
}

function line(label: string, text: string): string {
  const lines = wrapWords(
    cleanLine(text).replaceAll(/(\d) (ms|s|min|h)\b/g, '$1\u00A0$2'),
    COLUMNS - LABEL,
  )
  const begin = label.length < LABEL ? label.padEnd(LABEL) : `${label}\n${' '.repeat(LABEL)}`
  return `${begin}${lines.join(`\n${' '.repeat(LABEL)}`).replaceAll('\u00A0', ' ')}\n`
}

const MACHINE_SAID_MS = 1000

function describeAges({ ages, clock, limits }: AccountStatusView): string {
  const oldest = (each: Readonly<Record<string, number | null>>): number | null => {
    const known = Object.values(each)
    return known.includes(null) ? null : Math.max(...known.map(Number))
  }
  const most = (ms: number): string =>
    Number.isNaN(ms) ? 'limit not known' : `${(ms / 1000).toFixed(1)} s at most`
  const signed = (ms: number): string => `${ms >= 0 ? '+' : ''}${ms} ms`
  const isMachineApart = Math.abs(clock.machineMs) > MACHINE_SAID_MS
  return (
    `prices ${age(oldest(ages.tickersMs))} (${most(limits.dataAgeMaxMs)}), fills ${age(ages.fillsMs)}, positions ${age(oldest(ages.positionsMs))} (${most(limits.accountAgeMaxMs)}); ` +
    `exchange's clock ${signed(clock.offsetMs)}${clock.isSynchronised ? '' : ', NOT SYNCHRONISED'}` +
    (clock.publicMs === null
      ? ''
      : `, but ${signed(clock.publicMs)} by public answers, which are not believed`) +
    (isMachineApart ? `, and ${signed(clock.machineMs)} from the clock of this machine` : '')
  )
}

function describeUnknown({ unknownSince }: AccountStatusView): string {
  return unknownSince === null
    ? ''
    : `; the oldest unknown one was sent at ${showUtc(unknownSince)}`
}

function describeProfit(profit: ProfitView, coin: string): string {
  const { realised, fees, funding, fills, uncounted } = profit
  const show = (amount: string | null): string => money(amount, coin)
  const parts = [`${show(realised)} realised`, `${show(fees)} fees`, `${show(funding)} funding`]
  const unknown = uncounted === null ? '' : `; ${describeUncounted(uncounted)}`
  return `${show(profit.net)} net: ${parts.join(', ')}; ${showCount(fills, 'fill')}${unknown}`
}

function describeUnrealised(
  { positions, profit: { total }, coin }: AccountStatusView,
  isLive: boolean,
): string {
  if (positions.length === 0) return 'none: nothing is held'
  if (total.unrealised !== null)
    return `${money(total.unrealised, coin)} of what is held now, not counted above; all runs with it: ${money(total.netWithUnrealised, coin)}`
  return isLive
    ? 'not known: no position, price or entry of it yet'
    : 'not known while no daemon reads the positions; not counted above'
}

function describeLosses({ losses, coin }: AccountStatusView): string {
  return losses
    .map(({ scope, limit, used, max, peak, level }) => {
      if (limit === 'streak') return `${scope} ${limit} ${used} of ${max}`
      if (used === null) return `${scope} ${limit} not known yet`
      const isShare = scope === '*' && limit !== 'daily'
      const shown = isShare
        ? `${(used * 100).toFixed(2)} % of ${max * 100} %`
        : `${showCoin(used, coin)} of ${max}`
      const reached =
        peak === null || level === null
          ? ''
          : ` (at ${showCoin(level, coin)}, peak ${showCoin(peak, coin)})`
      return `${scope} ${limit} ${shown}${reached}`
    })
    .join(', ')
}

function formatStrategies(account: AccountStatusView, isLive: boolean): string {
  const { phase, strategies, restrictions, profit, coin } = account
  const isOver = isLive && phase === 'stopped'
  return formatTable(
    [
      { title: 'strategy', of: ({ id }) => id },
      {
        title: 'mode',
        of: ({ mode, symbols }) =>
          isOver
            ? 'none'
            : describeMode(
                mode,
                restrictions.filter(({ scope }) => symbols.includes(scope)),
              ),
      },
      { title: 'orders', of: ({ openOrders }) => String(openOrders), isNumber: true },
      {
        title: 'net',
        of: ({ id }) => money(profit.strategies[id]?.net ?? null, coin),
        isNumber: true,
      },
      {
        title: 'realised',
        of: ({ id }) => money(profit.strategies[id]?.realised ?? null, coin),
        isNumber: true,
      },
      {
        title: 'fees',
        of: ({ id }) => money(profit.strategies[id]?.fees ?? null, coin),
        isNumber: true,
      },
      {
        title: 'unrealised',
        of: ({ id }) => money(profit.strategies[id]?.unrealised ?? null, coin),
        isNumber: true,
      },
      {
        title: 'instruments',
        of: ({ id, wants, symbols, capital }) =>
          [
            wants.length === 0 ? symbols.join(' ') : wants.map(describeWish).join(', '),
            capital === undefined ? '' : describeCapital(capital, coin),
            describeUncounted(profit.strategies[id]?.uncounted),
          ]
            .filter((part) => part !== '')
            .join('; '),
        isBelow: true,
      },
    ],
    strategies,
  )
}

function describeWish({ symbol, what, since }: WishView): string {
  return `${symbol} wants ${what}${since === null ? '' : ` since ${showUntil(since, systemClock.now())}`}`
}

type WishView = AccountStatusView['strategies'][number]['wants'][number]

function formatLimiter({ limiter }: AccountStatusView): string {
  if (limiter.length === 0) return 'no call was made yet\n'
  return formatTable(
    [
      { title: 'endpoint', of: ({ endpoint }) => endpoint, isElastic: true },
      { title: 'limit', of: ({ limit }) => limit, isNumber: true },
      { title: 'calls', of: ({ made }) => String(made), isNumber: true },
      { title: 'used', of: ({ usedShare }) => `${(usedShare * 100).toFixed(1)} %`, isNumber: true },
      {
        title: 'wait p99',
        of: ({ waitedMsP99 }) => `${waitedMsP99.toFixed(1)} ms`,
        isNumber: true,
      },
      { title: '429', of: ({ rateLimited }) => String(rateLimited), isNumber: true },
    ],
    limiter,
  )
}
