import type { z } from 'zod'
import type { OfferedVerb } from '../../control/powers.ts'
import type { storySchema } from '../../control/detail-views.ts'
import type { OrderView, PositionView, StatusView } from '../../control/views.ts'
import type { ChatPicture } from './chat-picture.ts'
import { drawEquity } from './equity-picture.ts'
import { drawTrade } from './trade-picture.ts'
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

interface ChatCommand {
  readonly name: string
  /** The command of the command line, whose power is this one's. */
  readonly verb: OfferedVerb
  readonly help: string
}

export interface ChatQuestion extends ChatCommand {
  /** The command's arguments; undefined: not understood. */
  words(given: readonly string[]): readonly string[] | undefined
  describe(json: unknown): string
  /** Replaces the answer, unless there is no picture. */
  draw?(output: string): readonly ChatPicture[]
}

/** Must not look like an option. */
const NAME = /^[A-Za-z0-9*][A-Za-z0-9*_:.#-]{0,99}$/
const NUMBER = /^[1-9]\d{0,2}$/
const SPAN = /^[1-9]\d{0,2}[hd]$/
const GROUPS = ['day', 'week', 'month', 'strategy', 'instrument']
const TRADES_SHOWN = 10

export const CHAT_QUESTIONS: readonly ChatQuestion[] = [
  {
    name: 'status',
    verb: 'status',
    help: 'mode, equity, profit, what is in the way',
    words: () => ['--json'],
    describe: (json) => describeStatus(json as StatusView),
  },
  {
    name: 'positions',
    verb: 'positions',
    help: 'what is held, and how near a liquidation is',
    words: () => ['--json'],
    describe: (json) => describePositions(json as readonly PositionView[]),
  },
  {
    name: 'orders',
    verb: 'orders',
    help: 'open orders: /orders or /orders BTCUSDT',
    words: ([symbol]) => {
      if (symbol === undefined) return ['--json']
      return NAME.test(symbol) ? ['--json', `--symbol=${symbol}`] : undefined
    },
    describe: (json) => describeOrders(json as readonly OrderView[]),
  },
  {
    name: 'profit',
    verb: 'profit',
    help: 'by day of the last week: /profit, or /profit strategy, week, month, instrument',
    words: ([by = 'day']) =>
      GROUPS.includes(by)
        ? ['--json', `--by=${by}`, ...(by === 'day' ? ['--since=7d'] : [])]
        : undefined,
    describe: (json) => describeProfit(json as readonly ProfitRow[]),
  },
  {
    name: 'curve',
    verb: 'profit',
    help: 'equity of the last week as a picture: /curve, or /curve 24h, 30d',
    words: ([since = '7d']) =>
      SPAN.test(since) ? ['--curve', '--csv', `--since=${since}`] : undefined,
    describe: () => 'no equity is known yet: a daemon keeps a point each minute',
    draw: drawEquity,
  },
  {
    name: 'trades',
    verb: 'trades',
    help: 'the last closed trades',
    words: () => ['--json', `--limit=${TRADES_SHOWN}`],
    describe: (json) => describeTrades(json as readonly TradeRow[]),
  },
  {
    name: 'trade',
    verb: 'trades',
    help: 'the last closed trade as a picture: /trade, or /trade 3, the third last',
    words: ([number = '1']) => (NUMBER.test(number) ? ['--json', `--course=${number}`] : undefined),
    describe: () => 'so many trades were not closed',
    draw: drawTrade,
  },
  {
    name: 'why',
    verb: 'explain',
    help: 'what became of an order or an instrument: /why BTCUSDT',
    words: ([subject]) =>
      subject !== undefined && NAME.test(subject) ? [subject, '--json'] : undefined,
    describe: (json) => describeStories(json as readonly z.infer<typeof storySchema>[]),
  },
]

export interface ChatOrder extends ChatCommand {
  /** Undefined: the chat's words are not understood. */
  read(given: readonly string[]): AskedOrder | undefined
}

export interface AskedOrder {
  /** The command's arguments, without the reason. */
  readonly words: readonly string[]
  /** Completes "Really …?". */
  readonly what: string
}

interface ScopeRow extends ChatCommand {
  readonly words?: readonly string[]
  readonly what: (scope: string) => string
}

function scopeOrder({ name, verb, help, words = [], what }: ScopeRow): ChatOrder {
  const read: ChatOrder['read'] = ([scope]) => {
    if (scope === undefined || !NAME.test(scope)) return undefined
    return { words: [scope, ...words], what: what(scope === '*' ? 'the whole account' : scope) }
  }
  return { name, verb, help, read }
}

/**
 * Orders that reduce risk need a second look; the others become proposals, which a one-time code
 * confirms.
 */
export const CHAT_ORDERS: readonly ChatOrder[] = [
  scopeOrder({
    name: 'reduce',
    verb: 'restrict',
    help: 'only orders that reduce from now on: /reduce BTCUSDT, or *',
    words: ['reducing'],
    what: (scope) => `let only orders that reduce leave on ${scope}`,
  }),
  scopeOrder({
    name: 'halt',
    verb: 'restrict',
    help: 'no order from now on: /halt BTCUSDT, strategy:ID, or *',
    words: ['halted'],
    what: (scope) => `halt ${scope}`,
  }),
  scopeOrder({
    name: 'flatten',
    verb: 'flatten',
    help: 'close what is held: /flatten BTCUSDT, strategy:ID, or *',
    what: (scope) => `close everything on ${scope}, at market prices`,
  }),
  {
    name: 'kill',
    verb: 'kill',
    help: 'stop all trading and cancel every order',
    read: () => ({ words: [], what: 'kill: stop all trading and cancel every order' }),
  },
  scopeOrder({
    name: 'release',
    verb: 'release',
    help: 'propose to end what restricts: /release BTCUSDT, strategy:ID, or *',
    what: (scope) => `release ${scope}`,
  }),
  {
    name: 'unkill',
    verb: 'release',
    help: 'propose to end a kill',
    read: () => ({ words: [], what: 'end the kill' }),
  },
  {
    name: 'reload',
    verb: 'reload',
    help: 'propose that the daemon uses the files as they are now',
    read: () => ({ words: [], what: 'use the files as they are now' }),
  },
]

export const CONFIRM_HELP =
  'do what is proposed: /confirm ID CODE, with a code of the authenticator'

const PROPOSAL_ID = /^[0-9a-f]{6}$/

/** Undefined: not understood. The code never is an argument, which others could see. */
export function readConfirmation([id = '', code = '', ...rest]: readonly string[]):
  | { readonly id: string; readonly code: string }
  | undefined {
  return PROPOSAL_ID.test(id) && /^\d{6}$/.test(code) && rest.length === 0
    ? { id, code }
    : undefined
}
