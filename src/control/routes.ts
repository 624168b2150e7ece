import { z } from 'zod'
import { ROW_GROUPS } from '../domain/row-groups.ts'
import type { Controlled } from './controlled.ts'
import {
  backtestSchema,
  CANDLE_INTERVALS_MS,
  candleSchema,
  closedTradesSchema,
  curvesSchema,
  denialsSchema,
  fleetSchema,
  reloadSchema,
  instrumentSchema,
  keptCurveSchema,
  keptPlotSchema,
  journalFillsSchema,
  journalProfitSchema,
  journalRowSchema,
  storySchema,
} from './detail-views.ts'
import {
  fillSchema,
  limiterSchema,
  orderSchema,
  positionSchema,
  profitSchema,
  journalPlaceSchema,
  statusSchema,
} from './views.ts'
import { universeSchema } from './universe-view.ts'
import { whatIfQuerySchema, whatIfSchema } from './what-if-view.ts'

export const ROWS_SHOWN_MAX = 500
const JOURNAL_ROWS_SHOWN_MAX = 500

const nothing = z.object({})
const limit = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(ROWS_SHOWN_MAX)
    .default(100)
    .meta({ description: 'at most so many' }),
})

const TEXT_MAX = 200
export const text = z.string().max(TEXT_MAX)
const symbol = text.min(1)
const ofSymbol = symbol.optional().meta({ description: 'only of this instrument' })

const ofStrategy = text.min(1).optional().meta({ description: 'only of this strategy' })
const since = z.coerce.number().optional().meta({ description: 'Unix ms: then or later' })
const until = z.coerce.number().optional().meta({ description: 'Unix ms: before' })

export interface ReadRoute<Query extends z.ZodType = z.ZodType> {
  readonly path: string
  readonly summary: string
  readonly query: Query
  readonly response: z.ZodType
  /** Undefined if the resource does not exist. */
  read(daemon: Controlled, query: z.output<Query>): unknown
}

function route<Query extends z.ZodType>(row: ReadRoute<Query>): ReadRoute {
  return row
}

/** Streams and commands are in `openapi.ts`. */
export const READ_ROUTES: readonly ReadRoute[] = [
  route({
    path: '/v1/status',
    summary:
      'Everything at a glance: mode and reasons, ages of data, positions, orders, profit, limits.',
    query: nothing,
    response: statusSchema,
    read: (daemon) => daemon.status(),
  }),
  route({
    path: '/v1/positions',
    summary: 'What the accounts hold, and which strategy holds it.',
    query: nothing,
    response: z.array(positionSchema),
    read: (daemon) => daemon.positions(),
  }),
  route({
    path: '/v1/orders',
    summary: 'Orders that are not over, unknown ones too.',
    query: z.object({ symbol: ofSymbol }),
    response: z.array(orderSchema),
    read: (daemon, query) => daemon.orders(query.symbol),
  }),
  route({
    path: '/v1/fills',
    summary:
      'The last fills of this run, the newest first; `/v1/journal/fills` has those of all runs.',
    query: limit.extend({ symbol: ofSymbol }),
    response: z.array(fillSchema),
    read: (daemon, query) => daemon.fills(query.limit, query.symbol),
  }),
  route({
    path: '/v1/trades',
    summary:
      'Closed trades of all runs, each of one strategy from flat to flat, from the journal: the last ones.',
    query: limit.extend({
      strategy: ofStrategy,
      symbol: ofSymbol,
      since: z.coerce.number().optional().meta({ description: 'Unix ms: closed then or later' }),
      until: z.coerce.number().optional().meta({ description: 'Unix ms: closed before' }),
    }),
    response: closedTradesSchema,
    read: (daemon, query) => daemon.trades(query),
  }),
  route({
    path: '/v1/journal/fills',
    summary: 'The last fills of all runs, from the journal; the oldest of them first.',
    query: limit.extend({ strategy: ofStrategy, symbol: ofSymbol, since, until }),
    response: journalFillsSchema,
    read: (daemon, query) => daemon.journalFills(query),
  }),
  route({
    path: '/v1/journal/profit',
    summary: 'What trading has made in a span of time, in groups, from the journal.',
    query: z.object({ by: z.enum(ROW_GROUPS).default('day'), since, until }),
    response: journalProfitSchema,
    read: (daemon, query) => daemon.journalProfit(query),
  }),
  route({
    path: '/v1/profit',
    summary: 'Profit today and in all, by strategy and by instrument.',
    query: nothing,
    response: z.record(
      z.string(),
      z.object({
        journal: journalPlaceSchema,
        today: profitSchema,
        week: profitSchema,
        total: profitSchema,
        strategies: z.record(z.string(), profitSchema),
        instruments: z.record(z.string(), profitSchema),
      }),
    ),
    read: (daemon) =>
      Object.fromEntries(
        daemon.status().accounts.map(({ name, profit, journal }) => [name, { journal, ...profit }]),
      ),
  }),
  route({
    path: '/v1/limiter',
    summary: "How much of the exchange's limits is used, by endpoint.",
    query: nothing,
    response: z.record(z.string(), z.array(limiterSchema)),
    read: (daemon) =>
      Object.fromEntries(daemon.status().accounts.map(({ name, limiter }) => [name, limiter])),
  }),
  route({
    path: '/v1/candles',
    summary: 'Candles of the prices that this run has read, the oldest first.',
    query: z.object({
      symbol,
      intervalMs: z.coerce
        .number()
        .default(CANDLE_INTERVALS_MS[1])
        .meta({ description: CANDLE_INTERVALS_MS.join(', ') }),
    }),
    response: z.array(candleSchema),
    read: (daemon, query) => daemon.candles(query.symbol, query.intervalMs),
  }),
  route({
    path: '/v1/curves',
    summary: 'Profit and equity since the start, by account and strategy: at most 1,200 points.',
    query: nothing,
    response: curvesSchema,
    read: (daemon) => daemon.curves(),
  }),
  route({
    path: '/v1/equity',
    summary:
      'Equity, net profit and peak over all runs, from the journal: at most 1,200 points, which hold the lowest and highest ones.',
    query: z.object({
      since: z.coerce.number().optional().meta({ description: 'Unix ms: from then on' }),
    }),
    response: keptCurveSchema,
    read: (daemon, query) => daemon.keptCurve(query.since),
  }),
  route({
    path: '/v1/plots',
    summary: 'The values that strategies plot beside the price of an instrument, from the journal.',
    query: z.object({
      symbol,
      since: z.coerce.number().optional().meta({ description: 'Unix ms: from then on' }),
    }),
    response: z.array(keptPlotSchema),
    read: (daemon, query) => daemon.plots(query.symbol, query.since),
  }),
  route({
    path: '/v1/whatif',
    summary:
      'What would be held, worth and left if the market moved; a row for usual moves, and a curve.',
    query: whatIfQuerySchema,
    response: z.array(whatIfSchema),
    read: (daemon, query) => daemon.whatIf(query),
  }),
  route({
    path: '/v1/universe',
    summary: 'What the rules of strategies have chosen, and why each instrument is in or out.',
    query: nothing,
    response: z.array(universeSchema),
    read: (daemon) => daemon.universes(),
  }),
  route({
    path: '/v1/instrument',
    summary: 'How an instrument stands, and what its order flow waits for.',
    query: z.object({ symbol }),
    response: instrumentSchema,
    read: (daemon, query) => daemon.instrument(query.symbol),
  }),
  route({
    path: '/v1/denials',
    summary: 'What was denied in this run, by strategy and cause.',
    query: nothing,
    response: denialsSchema,
    read: (daemon) => daemon.denials(),
  }),
  route({
    path: '/v1/explain',
    summary:
      'The whole history of an order or an intent key, or what happened on an instrument, from the journal.',
    query: z.object({
      subject: text.min(1).meta({
        description: 'a symbol, a clientOid, an intent key, or the tradeId or orderId of a fill',
      }),
      since: z.coerce.number().optional().meta({
        description:
          'Unix ms, of an instrument: from then on; absent: the last 10 minutes, or further back where nothing happened in them',
      }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(ROWS_SHOWN_MAX)
        .optional()
        .meta({ description: 'the newest moments alone, at most so many' }),
    }),
    response: z.array(storySchema),
    read: (daemon, query) => daemon.explain(query),
  }),
  route({
    path: '/v1/journal',
    summary:
      'Records of the journal in words, the newest first; a record comes whole, even past the limit.',
    query: z.object({
      containing: text.default('').meta({ description: 'stands in the record as it was written' }),
      strategy: text.min(1).optional(),
      kind: z
        .string()
        .regex(/^[a-zA-Z]{1,30}$/)
        .optional(),
      before: z.coerce
        .number()
        .int()
        .optional()
        .meta({ description: 'sequence: only records before it' }),
      limit: z.coerce.number().int().min(1).max(JOURNAL_ROWS_SHOWN_MAX).default(100),
    }),
    response: z.array(journalRowSchema),
    read: (daemon, query) => daemon.journal(query),
  }),
  route({
    path: '/v1/backtests',
    summary:
      'Reports of backtests below the folder that the daemon was started in, the newest first.',
    query: nothing,
    response: z.array(backtestSchema),
    read: (daemon) => daemon.backtests(),
  }),
  route({
    path: '/v1/reload',
    summary:
      'What a reload of the configuration as it is now would be refused for; nothing is changed.',
    query: nothing,
    response: reloadSchema,
    read: (daemon) => daemon.tryReload(),
  }),
  route({
    path: '/v1/fleet',
    summary:
      "All accounts, standbys and workers of the journal's server, and the last alerts; 404 where it is a file.",
    query: nothing,
    response: fleetSchema,
    read: (daemon) => daemon.fleet(),
  }),
]
