import { showCount } from '../../lib/text/show-count.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import type { z } from 'zod'
import type { storySchema } from '../../control/detail-views.ts'
import type { AccountStatusView, OrderView, PositionView, StatusView } from '../../control/views.ts'
import { describeJournalPlace, type JournalPlace } from '../../domain/journal-place.ts'
import { money, toPlainWords } from '../process/table.ts'

const LINES_MAX = 30
const DIGITS = 7

export function describeStatus(status: StatusView): string {
  const lines = status.accounts.flatMap((account) => [
    `${account.name}: ${account.phase === 'stopped' ? 'nothing is sent, its run is over' : `${account.mode}, ${account.phase}`}`,
    ...account.restrictions.map(({ scope, mode, reason }) => `${scope} ${mode}: ${reason}`),
    ...account.hindrances,
    ...account.warnings,
    ...account.waits.map(
      ({ strategy, symbol, what }) => `${symbol}: ${strategy} waits for ${what}`,
    ),
    ...account.pauses,
    `equity ${shown(account.equity, account.coin)}`,
    `today ${shown(account.profit.today.net, account.coin)}, without what is held`,
    `in all ${shown(account.profit.total.netWithUnrealised, account.coin)}, with what is held`,
    `${showCount(account.positions.length, 'position')}, ${showCount(sum(Object.values(account.openOrders)), 'open order')}`,
    ...account.unattended.map(
      ({ symbol, side, size }) => `nobody trades ${side} ${size} ${symbol}`,
    ),
  ])
  const off = status.off.map(({ name, reason }) => `${name} is off: ${reason}`)
  return toText([...lines, ...off].map(cleanLine))
}

export function describePositions(positions: readonly PositionView[]): string {
  if (positions.length === 0) return 'nothing is held'
  return withPlace(
    positions[0]?.journal,
    positions.map((position) => {
      const { symbol, side, size, entryPrice, markPrice, unrealisedProfit, coin } = position
      const distance = position.liquidation?.distance ?? null
      return [
        `${symbol} ${side} ${size}: profit ${shown(unrealisedProfit, coin)}`,
        `  from ${showPrice(entryPrice)}, now ${showPrice(markPrice)}`,
        ...(distance === null ? [] : [`  liquidation ${showDistance(distance)} away`]),
      ].join('\n')
    }),
  )
}

function showPrice(price: number | null): string {
  return price === null ? 'not known' : String(Number(price.toPrecision(DIGITS)))
}

/** A short position may be liquidated at several times its price. */
function showDistance(share: number): string {
  return share > 1 ? 'more than 100 %' : `${(share * 100).toFixed(1)} %`
}

export function describeOrders(orders: readonly OrderView[]): string {
  if (orders.length === 0) return 'no order is open'
  const titleOf = ({ symbol, strategy }: OrderView): string => `${symbol}, ${strategy}:`
  return toText(
    [...new Set(orders.map(titleOf))].flatMap((title) => [
      title,
      ...orders
        .filter((order) => titleOf(order) === title)
        .map(
          ({ action, size, price, state }) =>
            `  ${toPlainWords(action)} ${size} at ${price ?? 'market'}${state === 'live' ? '' : `, ${state}`}`,
        ),
    ]),
  )
}

export interface ProfitRow {
  readonly journal: JournalPlace
  readonly name: string
  readonly coin: string
  readonly fills: number
  readonly net: string
}

export function describeProfit(rows: readonly ProfitRow[]): string {
  if (rows.length === 0) return 'nothing was traded'
  return withPlace(
    rows[0]?.journal,
    rows.map(
      ({ name, coin, fills, net }) => `${name}: ${shown(net, coin)}, ${showCount(fills, 'fill')}`,
    ),
  )
}

export interface TradeRow {
  readonly journal: JournalPlace
  readonly strategyId: string
  readonly symbol: string
  readonly side: string
  readonly closedAt: number
  readonly net: string
  readonly coin: string
  readonly share: number | null
  readonly reason: string
}

export function describeTrades(trades: readonly TradeRow[]): string {
  if (trades.length === 0) return 'no trade was closed'
  return withPlace(trades[0]?.journal, [
    'times in UTC',
    ...trades.map(({ closedAt, symbol, side, net, coin, share, reason, strategyId }) => {
      const at = new Date(closedAt).toISOString().slice(5, 16).replace('T', ' ')
      const part = share === null ? '' : ` (${(share * 100).toFixed(2)} %)`
      return `${at} ${symbol} ${side}: ${shown(net, coin)}${part}, ${reason}, ${strategyId}`
    }),
  ])
}

export function describeStories(stories: readonly z.infer<typeof storySchema>[]): string {
  if (stories.length === 0) return 'the journal has nothing of it'
  return toText(
    stories.flatMap(({ title, moments, verdict }) =>
      [
        `${title}, times in UTC`,
        ...moments
          .slice(-8)
          .map(({ at, text }) => `${new Date(at).toISOString().slice(11, 19)} ${text}`),
        verdict,
      ].map(cleanLine),
    ),
  )
}

function shown(amount: AccountStatusView['equity'], coin: string): string {
  return amount === null ? 'not known' : `${money(amount, coin)} ${coin}`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function withPlace(journal: JournalPlace | undefined, lines: readonly string[]): string {
  const place = journal === undefined ? [] : [describeJournalPlace(journal)]
  return [toText(lines), ...place].join('\n')
}

function toText(lines: readonly string[]): string {
  const left = lines.length - LINES_MAX
  return [
    ...lines.slice(0, LINES_MAX),
    ...(left > 0 ? [`… and ${left} more: ask at the command line`] : []),
  ].join('\n')
}
