import type { DaemonConfig } from '../../config/load-config.ts'
import type { AccountView, OrderView } from '../../control/views.ts'
import { toLossSettings } from '../../assembly/settings/loss-settings.ts'
import { DRAWDOWN_STEPS } from '../../domain/loss-limits.ts'
import { decimal } from '../../lib/decimal.ts'
import { toCoinText } from '../../domain/coin-amount.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { ACCOUNT } from '../../domain/trading-mode.ts'

export interface UsedBudget {
  readonly account: Pick<
    AccountView,
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
      if (lost === undefined || !isReached(lost, max) || (before && isReached(lost, before.max)))
        continue
      const isShare = scope === ACCOUNT && limit.startsWith('drawdown')
      const inCoin = (amount: number): string => showAmount(amount, account.coin)
      const shown = limit === 'streak' ? String : isShare ? showShare : inCoin
      const where = scope === ACCOUNT ? 'the account' : scope
      yield `${where}: ${limit} ${shown(max)} is reached already, with ${shown(lost)}: ${DOES[limit]}`
    }
  }
}

/**
 * A new limit's amount follows from another step or the equity. After a release, a drawdown's last
 * step has its own peak.
 */
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

/** Approximates `risk.survives`, without fees and margins: all instruments move at once. */
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
    // Both sides of an instrument count once.
    const rows = positions.filter((one) => one.symbol === symbol).length
    loss +=
      (share * (markPrice ?? Number.NaN) * Math.max(net + resting('buy'), resting('sell') - net)) /
      rows
  }
  if (!(loss > Number(equity))) return
  yield `the account: risk.survives is exceeded already, since ${showAmount(loss, coin)} would be lost of ${showAmount(Number(equity), coin)} at least: orders that add are denied, and it is REDUCED at once until 80 %`
}

const DENIED = 'orders that add are denied; what is held stays'

function isReached(lost: number, max: number): boolean {
  return lost >= max * (1 - 1e-9)
}

/** As the limits beside it are written. */
function showAmount(amount: number, coin: string): string {
  return decimal(toCoinText(amount, coin)).toString()
}

function showShare(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
