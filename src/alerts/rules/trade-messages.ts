import { showCoin } from '../../domain/coin-amount.ts'
import type { LogEvent } from '../../domain/log-events.ts'
import { decimal, ZERO } from '../../lib/decimal.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import type { Alert } from '../alert.ts'
import { type LogFacts, showFact } from './facts.ts'

/** Fills and closed trades of this time share a message: a ladder is filled in several at once. */
const GATHERED_MS = 10_000
const LINES_MAX = 10

interface ClosedLine {
  readonly text: string
  readonly net: string
  readonly coin: string
}

interface Gathered {
  readonly account: string | undefined
  /** Unix ms. */
  readonly since: number
  readonly fills: string[]
  readonly closed: ClosedLine[]
}

/** Turns fills and closed trades into messages for the targets that ask for them. */
export class TradeMessages {
  /** Keyed by account; the key of the only account is empty. */
  readonly #gathered = new Map<string, Gathered>()

  /** @param now Unix ms */
  hear(event: LogEvent, facts: LogFacts, now: number): void {
    if (event !== 'order.fill' && event !== 'trade.closed') return
    const account = facts['account'] === undefined ? undefined : showFact(facts['account'])
    const key = account ?? ''
    const gathered = this.#gathered.get(key) ?? { account, since: now, fills: [], closed: [] }
    this.#gathered.set(key, gathered)
    if (event === 'order.fill') gathered.fills.push(describeFill(facts))
    else gathered.closed.push(describeClosed(facts))
  }

  /**
   * @param now Unix ms; infinity: all that is gathered
   * @param equityOf equity of an account in words; undefined: not known
   */
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

function writeMessages({ account, since, fills, closed }: Gathered, end: string[]): Alert[] {
  const common = { urgency: 'info', account, at: since, repeats: 0 } as const
  const trades = closed.map(({ text }) => text)
  const made = closed.length === 0 ? [] : [describeMade(closed)]
  const filled = fills.length === 0 ? [] : [count(fills.length, 'fill')]
  const alerts: Alert[] = [
    {
      ...common,
      event: 'alert.trades',
      key: 'alert.trades',
      title: [...made, ...filled].join(', '),
      lines: [...cutLines(trades), ...cutLines(fills), ...end],
    },
  ]
  if (closed.length === 0) return alerts
  const title = describeMade(closed)
  const lines = [...cutLines(trades), ...end]
  return [...alerts, { ...common, event: 'alert.closed', key: 'alert.closed', title, lines }]
}

function cutLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= LINES_MAX) return lines
  return [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} more`]
}

/** `2 trades closed: +3.21 USDT` */
function describeMade(closed: readonly ClosedLine[]): string {
  const sums = [...Map.groupBy(closed, ({ coin }) => coin)].map(([coin, lines]) => {
    const net = lines.reduce((sum, line) => sum.plus(decimal(line.net)), ZERO)
    return withSign(net.toString(), coin)
  })
  return `${count(closed.length, 'trade')} closed: ${sums.join(', ')}`
}

function describeFill(facts: LogFacts): string {
  const [strategy, symbol, side, size, price] = ['strategy', 'symbol', 'side', 'size', 'price'].map(
    (name) => showFact(facts[name]),
  )
  return `${strategy} ${symbol} ${side} ${size} at ${price}`
}

function describeClosed(facts: LogFacts): ClosedLine {
  const show = (name: string): string => showFact(facts[name])
  const [net, coin, share] = [show('net'), show('coin'), facts['share']]
  const result = withSign(net, coin)
  const perCent =
    typeof share === 'number' ? ` (${share < 0 ? '' : '+'}${(share * 100).toFixed(2)} %)` : ''
  const prices = `${show('entryPrice') || '?'} to ${show('exitPrice') || '?'}`
  const held = showDuration(Number(facts['heldMs']))
  const uncounted = show('uncounted')
  const text = [
    `${show('strategy')} ${show('symbol')} ${show('side')} ${show('size')}, ${prices}, ${held}`,
    `${show('reason')}: ${result}${perCent}`,
    ...(uncounted === '' ? [] : [uncounted]),
  ].join(', ')
  return { text, net, coin }
}

function withSign(amount: string, coin: string): string {
  const shown = showCoin(Number(amount), coin)
  return `${shown.startsWith('-') ? '' : '+'}${shown} ${coin}`
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
