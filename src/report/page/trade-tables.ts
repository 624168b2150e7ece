import {
  type ClosedTrade,
  EXIT_REASONS,
  type ExitReason,
  type TradeFigures,
} from '../../domain/closed-trade.ts'
import { coinDigits } from '../../domain/coin-amount.ts'
import type { RunReport } from '../run-report.ts'
import { showNumber, showShare, showTime, withSign } from '../text/figures.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { type Cell, renderSection, renderTable, toned } from './html.ts'

/** Sums by reason, and the last trades. Empty where none were folded. */
export function renderTrades({ trades }: RunReport): string {
  if (trades === undefined) return ''
  const { count, last, reasons, tags = [] } = trades
  if (count === 0) return renderSection('Closed trades', '<p class="note">No trade was closed.</p>')
  const isCut = last.length < count
  const shown = isCut ? `the last ${last.length} of ${count}` : `all ${count}`
  const byTag =
    tags.length === 0
      ? ''
      : `<h3>By what they were entered as</h3>${renderSums(tags, ({ tag }) => tag || 'no tag')}`
  return renderSection(
    'Closed trades',
    `<h3>By what ended them</h3>${renderSums(reasons, ({ reason }) => nameReason(reason))}${byTag}<h3>In order of time, ${shown}</h3>${renderLast(last)}`,
    'A trade is that of one strategy on one side of one instrument, from flat to flat, as the daemon booked it. Net is after fees and funding; of its size is net over the largest size at the mean entry price.',
  )
}

/** A backtest has no older journal. */
function nameReason(reason: ExitReason): string {
  return reason === 'order' ? 'an order of the strategy' : EXIT_REASONS[reason]
}

function renderSums<Sums extends TradeFigures>(
  sums: readonly Sums[],
  nameOf: (one: Sums) => string,
): string {
  const rows = sums.map((one) => {
    const { coin, trades, wins, gains, losses, heldMs } = one
    const decimals = coinDigits(coin)
    return [
      nameOf(one),
      String(trades),
      `${((wins / trades) * 100).toFixed(0)} %`,
      toned(gains - losses, withSign(gains - losses, decimals)),
      toned(gains - losses, withSign((gains - losses) / trades, decimals)),
      losses === 0 ? 'none lost' : showNumber(gains / losses),
      showDuration(heldMs / trades),
    ]
  })
  return renderTable(
    ['', 'trades', 'winners', 'net', 'mean', 'profit factor', 'mean time held'],
    rows,
  )
}

function renderLast(trades: readonly ClosedTrade[]): string {
  const rows = trades.map((trade): readonly Cell[] => {
    const { side, coin, size, entryPrice, exitPrice, share, fills, openedAt } = trade
    const decimals = coinDigits(coin)
    const net = Number(trade.net)
    return [
      showTime(trade.closedAt),
      trade.strategyId,
      trade.symbol,
      side,
      { text: size },
      { text: entryPrice ?? 'not known' },
      { text: exitPrice ?? 'not known' },
      { text: withSign(Number(trade.gross), decimals) },
      { text: withSign(-Number(trade.fees), decimals) },
      { text: withSign(Number(trade.funding), decimals) },
      toned(net, withSign(net, decimals)),
      { text: share === null ? 'not known' : showShare(share) },
      { text: showDuration(trade.closedAt - openedAt) },
      { text: String(fills) },
      [trade.reason, trade.exitTag ?? ''].filter(Boolean).join(', as '),
      trade.entryTag ?? '',
    ]
  })
  const columns = ['closed (UTC)', 'strategy', 'instrument', 'side', 'size', 'entry', 'exit']
  const sums = [
    'gross',
    'fees',
    'funding',
    'net',
    'of its size',
    'held',
    'fills',
    'ended by',
    'entered as',
  ]
  return renderTable([...columns, ...sums], rows, [0, 1, 2, 3, 14, 15])
}
