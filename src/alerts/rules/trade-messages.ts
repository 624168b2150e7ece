import { showCoin } from '../../domain/coin-amount.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { showCount } from '../../lib/text/show-count.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import type { Alert } from '../alert.ts'
import { type LogFacts, showFact } from './facts.ts'

/** A ladder has several fills at once, which share a message. */
const GATHERED_MS = 10_000
const LINES_MAX = 10

interface GatheredTrades {
  readonly account: string | undefined
  /** Unix ms. */
  readonly since: number
  readonly fills: CountedLines
  readonly closed: CountedLines
  readonly made: Map<string, Decimal>
}

interface CountedLines {
  readonly shown: string[]
  count: number
}

export class TradeMessages {
  readonly #gathered = new Map<string, GatheredTrades>()

  hear(event: LogEvent, facts: LogFacts, now: number): void {
    if (event !== 'order.fill' && event !== 'trade.closed') return
    const account = facts['account'] === undefined ? undefined : showFact(facts['account'])
    const key = account ?? ''
    const gathered = this.#gathered.get(key) ?? beginGathering(account, now)
    this.#gathered.set(key, gathered)
    if (event === 'order.fill') return addLine(gathered.fills, () => describeFill(facts))
    addLine(gathered.closed, () => describeClosed(facts))
    const coin = showFact(facts['coin'])
    const net = decimal(showFact(facts['net']))
    gathered.made.set(coin, (gathered.made.get(coin) ?? ZERO).plus(net))
  }

  due(now: number, equityOf: (account: string | undefined) => string | undefined): Alert[] {
    return [...this.#gathered].flatMap(([key, gathered]) => {
      if (now - gathered.since < GATHERED_MS) return []
      this.#gathered.delete(key)
      const equity = equityOf(gathered.account)
      const end = equity === undefined ? [] : [`equity: ${equity}`]
      return writeMessages(gathered, end)
    })
  }
}

function beginGathering(account: string | undefined, since: number): GatheredTrades {
  const none = (): CountedLines => ({ shown: [], count: 0 })
  return { account, since, fills: none(), closed: none(), made: new Map() }
}

function addLine(lines: CountedLines, describe: () => string): void {
  lines.count += 1
  if (lines.shown.length < LINES_MAX) lines.shown.push(describe())
}

function writeMessages(gathered: GatheredTrades, end: readonly string[]): Alert[] {
  const { account, since, fills, closed } = gathered
  const common = { urgency: 'info', account, at: since, repeats: 0 } as const
  const made = closed.count === 0 ? [] : [describeMade(gathered)]
  const filled = fills.count === 0 ? [] : [showCount(fills.count, 'fill')]
  const alerts: Alert[] = [
    {
      ...common,
      event: 'alert.trades',
      key: 'alert.trades',
      title: [...made, ...filled].join(', '),
      lines: [...linesOf(closed), ...linesOf(fills), ...end],
    },
  ]
  const [title] = made
  if (title === undefined) return alerts
  const lines = [...linesOf(closed), ...end]
  return [...alerts, { ...common, event: 'alert.closed', key: 'alert.closed', title, lines }]
}

function linesOf({ shown, count: all }: CountedLines): readonly string[] {
  return all === shown.length ? shown : [...shown, `… and ${all - shown.length} more`]
}

function describeMade({ closed, made }: GatheredTrades): string {
  const sums = [...made].map(([coin, net]) => withSign(net.toString(), coin))
  return `${showCount(closed.count, 'trade')} closed: ${sums.join(', ')}`
}

function describeFill(facts: LogFacts): string {
  const [strategy, symbol, side, size, price] = ['strategy', 'symbol', 'side', 'size', 'price'].map(
    (name) => showFact(facts[name]),
  )
  return `${strategy} ${symbol} ${side} ${size} at ${price}`
}

function describeClosed(facts: LogFacts): string {
  const show = (name: string): string => showFact(facts[name])
  const share = facts['share']
  const result = withSign(show('net'), show('coin'))
  const perCent =
    typeof share === 'number' ? ` (${share < 0 ? '' : '+'}${(share * 100).toFixed(2)} %)` : ''
  const prices = `${show('entryPrice') || '?'} to ${show('exitPrice') || '?'}`
  const held = showDuration(Number(facts['heldMs']))
  const uncounted = show('uncounted')
  return [
    `${show('strategy')} ${show('symbol')} ${show('side')} ${show('size')}, ${prices}, ${held}`,
    `${show('reason')}: ${result}${perCent}`,
    ...(uncounted === '' ? [] : [uncounted]),
  ].join(', ')
}

function withSign(amount: string, coin: string): string {
  const shown = showCoin(Number(amount), coin)
  return `${shown.startsWith('-') ? '' : '+'}${shown} ${coin}`
}
