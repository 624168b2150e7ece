import { coinDigits, groupThousands, showCoin } from '../domain/coin-amount.ts'
import { DENIAL_CODES } from '../domain/denial.ts'
import type { OrderState } from '../domain/order.ts'
import type { Equity } from '../domain/loss-limits.ts'
import { describeUncounted } from '../domain/fill-money.ts'
import type { DurationSummary } from '../lib/percentiles.ts'
import { ACCOUNT } from '../domain/trading-mode.ts'
import { wrapWords } from '../lib/text/wrap-words.ts'
import type { MoneyFigures } from './money-figures.ts'
import type { RunSummary, SimulatedPrices, StandingRestriction } from './summary.ts'
import type { UnattendedPosition } from './unattended.ts'

type SummaryRow = readonly [name: string, value: string]

const COLUMNS = 80

const NOT_READ = 'not read in this run'
const NOT_KNOWN = 'not known: no fresh price, or a position was not read in this run'

const SECOND_MS = 1000
const MINUTE_MS = 60_000

export function formatSummary(summary: RunSummary): string {
  const rows = [
    ...countRows(summary),
    ...moneyRows(summary),
    ...paceRows(summary),
    ...verdictRows(summary),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows
    .map(([name, value]) => {
      const lines = wrapWords(value, COLUMNS - width - 4)
      return `  ${name.padEnd(width)}  ${lines.join(`\n${' '.repeat(width + 4)}`)}`
    })
    .join('\n')
}

function countRows(summary: RunSummary): SummaryRow[] {
  const { cycles, decisions, batches, batchesLargest, cancelAlls, ordersSent, dryRun } = summary
  const denials = describeDenials(summary.denials)
  return [
    [
      'ran',
      `${formatDuration(summary.durationMs)}, ${summary.environment}, ${summary.positionMode}`,
    ],
    ['cycles', `${cycles}, ${decisions} decisions, intents: ${listCounts(summary.intents)}`],
    [
      'batches',
      `${batches}, the largest of ${batchesLargest} orders; ${cancelAlls} cancel-alls${dryRun ? '; none sent' : ''}`,
    ],
    [
      'orders',
      dryRun
        ? `none sent, since this run was dry; ${ordersSent} would have been`
        : `${ordersSent} sent: ${describeStates(summary.orders)}`,
    ],
    ...(denials === '' ? [] : [['denials', denials] as const]),
    ['fills', String(summary.thisRun.fills)],
  ]
}

function describeStates(orders: RunSummary['orders']): string {
  const shown = Object.entries(STATE_WORDS).flatMap(([state, words]) => {
    const count = orders[state] ?? 0
    return count === 0 ? [] : [`${count} ${words}`]
  })
  return shown.join(', ') || 'none'
}

const STATE_WORDS: Readonly<Record<OrderState, string>> = {
  filled: 'filled whole',
  done: 'cancelled (all of it, or what was not filled)',
  live: 'open',
  queued: 'to be sent again',
  sent: 'on the wire',
  unknown: 'unknown, which the next start clears up',
  quarantined: 'contradictory: see intentd explain',
  rejected: 'rejected by the exchange',
  expired: 'dropped before they were sent',
  absent: 'never at the exchange',
}

function describeDenials(denials: RunSummary['denials']): string {
  const shown = Object.entries(DENIAL_CODES)
    .flatMap(([code, meaning]) => {
      const count = denials[code] ?? 0
      return count === 0 ? [] : [{ count, text: `${count} ${code}: ${meaning}` }]
    })
    .toSorted((one, other) => other.count - one.count)
  return shown.length === 0
    ? ''
    : `${shown.map(({ text }) => text).join('; ')} (an order that is wanted counts again at each snapshot while it is denied)`
}

function moneyRows(summary: RunSummary): SummaryRow[] {
  const positions = Object.entries(summary.positions).map(([side, size]) => `${side} ${size}`)
  return [
    ['this run', describeProfit(summary.thisRun)],
    ['all runs', describeAllRuns(summary)],
    ['unrealised', describeUnrealised(summary)],
    ...(summary.equity ? [['equity', describeEquity(summary.equity, summary)] as const] : []),
    ['positions', positions.length === 0 ? 'none' : positions.join(', ')],
    ...summary.unattended.map(toUnattendedRow),
  ]
}

/** The net comes first: realised profit means nothing without fees. */
function describeProfit({
  net,
  realisedProfit,
  fees,
  funding = '0',
  uncounted,
}: MoneyFigures): string {
  const unknown = describeUncounted(uncounted)
  const parts = `${realisedProfit} realised, ${fees} fees, ${funding} funding`
  return `${net} net: ${parts}${unknown === '' ? '' : `; ${unknown}`}`
}

function describeAllRuns({ allRuns }: RunSummary): string {
  const held = Object.keys(allRuns.positions).length > 0
  const { netWithUnrealised = 'not known' } = allRuns
  return `${describeProfit(allRuns)}${held ? `; ${netWithUnrealised} with unrealised` : ''}`
}

function describeUnrealised({ unrealisedProfit, positions }: RunSummary): string {
  if (unrealisedProfit === undefined) return NOT_KNOWN
  if (Object.keys(positions).length === 0) return 'none: nothing is held'
  return `${unrealisedProfit} of what is held, not counted in net`
}

function toUnattendedRow({ strategy, symbol, side, size, why }: UnattendedPosition): SummaryRow {
  return [
    'UNATTENDED',
    `${symbol} ${side} ${size}${strategy === undefined ? '' : ` of ${strategy}`}: ${why}`,
  ]
}

/** The wallet's balance need not equal the capital, and excludes unrealised profit. */
function describeEquity(equity: Equity, { capital, coin }: RunSummary): string {
  const made = capital === undefined ? undefined : equity.equity - Number(capital)
  const from =
    made === undefined || capital === undefined
      ? ''
      : ` (the capital ${groupThousands(capital)} ${made < 0 ? '-' : '+'} ${showCoin(Math.abs(made), coin)} of all runs, unrealised too)`
  return `${showCoin(equity.equity, coin)}${from}, ${describeFall(equity, coin)}`
}

/** The peak rises only to values that two readings confirmed. */
export function describeFall({ equity, peak, drawdown }: Equity, coin: string): string {
  const highest = showCoin(peak, coin)
  const least = 0.5 * 10 ** -coinDigits(coin)
  if (drawdown >= least) return `${showCoin(drawdown, coin)} below its peak of ${highest}`
  return equity - peak >= least
    ? `above its confirmed peak of ${highest}`
    : `at its peak of ${highest}`
}

function paceRows({
  limiter,
  wakeUpLateness,
  decisionLatency,
  rateLimited,
  unknowns,
}: RunSummary): SummaryRow[] {
  const endpoints = limiter.map(
    ({ endpoint, usedShare }) => `${endpoint} ${Math.round(usedShare * 100)} %`,
  )
  return [
    ['limits used', endpoints.join(', ') || 'none'],
    ['trouble', `${rateLimited} answers 429, ${unknowns} unknown outcomes`],
    ['wake-up', `${formatPercentiles(wakeUpLateness)} late`],
    ['tick to order', formatPercentiles(decisionLatency)],
  ]
}

function toRestrictionRow({ scope, mode, code, reason, ends }: StandingRestriction): SummaryRow {
  return [
    mode.toUpperCase(),
    `${scope === ACCOUNT ? 'the account' : scope} (${code}): ${reason}; until ${ends}`,
  ]
}

function verdictRows({ clean, fault, exchange, restrictions }: RunSummary): SummaryRow[] {
  const ending: SummaryRow = [
    'ended',
    fault ?? (clean ? 'in good order' : 'with something in flight: the next start clears it up'),
  ]
  const held = restrictions.map(toRestrictionRow)
  if (!exchange) return [ending, ...held]
  const unread = !exchange.isUnrealisedRead ? `, unrealised profit ${NOT_READ}` : ''
  const verdict = exchange.agrees
    ? `yes${unread}`
    : `NO: ${exchange.differences.join('; ')}${unread}`
  return [
    ending,
    ...held,
    ...(exchange.prices ? [['prices', describePrices(exchange.prices)] as const] : []),
    ['balance', `${exchange.balance} in the wallet, without what is unrealised`],
    ['books agree with the exchange', verdict],
  ]
}

function describePrices({ source, madeUp, speed, fillModel }: SimulatedPrices): string {
  const prices =
    madeUp === undefined ? source : `${source}, and made up for ${madeUp.join(' and ')}`
  const fills = `${prices}, ${fillModel} fills`
  return speed === 1
    ? fills
    : `${fills}, at ${speed} times the speed: a demonstration, without funding; its profit means nothing`
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none'
  )
}

function formatPercentiles({ count, p50Ms, p99Ms }: DurationSummary): string {
  return count === 0 ? 'none' : `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
}

function formatDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  const seconds = Math.round(ms / SECOND_MS)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours} h ` : ''}${minutes} min ${seconds % 60} s`
}
