import type { z } from 'zod'
import type { storySchema } from '../../control/detail-views.ts'
import type { OrderView, PositionView, StatusView } from '../../control/views.ts'
import { type ChatPicture, drawEquity } from './equity-picture.ts'
import {
  describeOrders,
  describePositions,
  describeProfit,
  describeStatus,
  describeStories,
  describeTrades,
  type ProfitRow,
  type TradeRow,
} from './phone-text.ts'

export interface ChatQuestion {
  readonly name: string
  /** One line for the list of commands in the chat. */
  readonly help: string
  /** Words of the command line; undefined: the chat's words are not understood. */
  words(given: readonly string[]): readonly string[] | undefined
  describe(json: unknown): string
  /** Pictures of what the words print are the answer, unless there are none. */
  draw?(output: string): readonly ChatPicture[]
}

/** An instrument, a strategy, an order: no text that a command line could take for an option. */
const NAME = /^[A-Za-z0-9*][A-Za-z0-9*_:.#-]{0,99}$/
const SPAN = /^[1-9]\d{0,2}[hd]$/
const GROUPS = ['day', 'week', 'month', 'strategy', 'instrument']
const TRADES_SHOWN = 10

export const CHAT_QUESTIONS: readonly ChatQuestion[] = [
  {
    name: 'status',
    help: 'mode, equity, profit, what is in the way',
    words: () => ['status', '--json'],
    describe: (json) => describeStatus(json as StatusView),
  },
  {
    name: 'positions',
    help: 'what is held, and how near a liquidation is',
    words: () => ['positions', '--json'],
    describe: (json) => describePositions(json as readonly PositionView[]),
  },
  {
    name: 'orders',
    help: 'open orders: /orders or /orders BTCUSDT',
    words: ([symbol]) => {
      if (symbol === undefined) return ['orders', '--json']
      return NAME.test(symbol) ? ['orders', '--json', `--symbol=${symbol}`] : undefined
    },
    describe: (json) => describeOrders(json as readonly OrderView[]),
  },
  {
    name: 'profit',
    help: 'by day of the last week: /profit, or /profit strategy, week, month, instrument',
    words: ([by = 'day']) =>
      GROUPS.includes(by)
        ? ['profit', '--json', `--by=${by}`, ...(by === 'day' ? ['--since=7d'] : [])]
        : undefined,
    describe: (json) => describeProfit(json as readonly ProfitRow[]),
  },
  {
    name: 'curve',
    help: 'equity of the last week as a picture: /curve, or /curve 24h, 30d',
    words: ([since = '7d']) =>
      SPAN.test(since) ? ['profit', '--curve', '--csv', `--since=${since}`] : undefined,
    describe: () => 'no equity is known yet: a daemon keeps a point each minute',
    draw: drawEquity,
  },
  {
    name: 'trades',
    help: 'the last closed trades',
    words: () => ['trades', '--json', `--limit=${TRADES_SHOWN}`],
    describe: (json) => describeTrades(json as readonly TradeRow[]),
  },
  {
    name: 'why',
    help: 'what became of an order or an instrument: /why BTCUSDT',
    words: ([subject]) =>
      subject !== undefined && NAME.test(subject) ? ['explain', subject, '--json'] : undefined,
    describe: (json) => describeStories(json as readonly z.infer<typeof storySchema>[]),
  },
]

export interface ChatOrder {
  readonly name: string
  readonly help: string
  /** Undefined: the chat's words are not understood. */
  read(given: readonly string[]): AskedOrder | undefined
}

export interface AskedOrder {
  /** Words of the command line, without the reason. */
  readonly words: readonly string[]
  /** Completes "Really …?". */
  readonly what: string
}

function scopeOrder(name: string, help: string, toOrder: (scope: string) => AskedOrder): ChatOrder {
  return {
    name,
    help,
    read: ([scope]) => (scope !== undefined && NAME.test(scope) ? toOrder(scope) : undefined),
  }
}

function nameScope(scope: string): string {
  return scope === '*' ? 'the whole account' : scope
}

/** Each takes risk away, and stays until it is ended at the machine. */
export const CHAT_ORDERS: readonly ChatOrder[] = [
  scopeOrder('reduce', 'only orders that reduce from now on: /reduce BTCUSDT, or *', (scope) => ({
    words: ['restrict', scope, 'reducing'],
    what: `let only orders that reduce leave on ${nameScope(scope)}`,
  })),
  scopeOrder('halt', 'no order from now on: /halt BTCUSDT, strategy:ID, or *', (scope) => ({
    words: ['restrict', scope, 'halted'],
    what: `halt ${nameScope(scope)}`,
  })),
  scopeOrder('flatten', 'close what is held: /flatten BTCUSDT, strategy:ID, or *', (scope) => ({
    words: ['flatten', scope],
    what: `close everything on ${nameScope(scope)}, at market prices`,
  })),
  {
    name: 'kill',
    help: 'stop all trading and cancel every order',
    read: () => ({ words: ['kill'], what: 'kill: stop all trading and cancel every order' }),
  },
]
