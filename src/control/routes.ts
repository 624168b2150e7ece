import { z } from 'zod'
import { type Controlled } from './controlled.ts'
import {
  fillSchema,
  limiterSchema,
  orderSchema,
  positionSchema,
  profitSchema,
  statusSchema,
} from './views.ts'

const FILLS_SHOWN_MAX = 500

const nothing = z.object({})
const limit = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(FILLS_SHOWN_MAX)
    .default(100)
    .meta({ description: 'at most so many' }),
})

/** One thing that can be read. */
export interface ReadRoute<Query extends z.ZodType = z.ZodType> {
  readonly path: string
  readonly summary: string
  readonly query: Query
  readonly response: z.ZodType
  read(daemon: Controlled, query: z.output<Query>): unknown
}

/** Keeps the type of the query for the reader. */
function route<Query extends z.ZodType>(row: ReadRoute<Query>): ReadRoute {
  return row
}

/** Everything that is read once; what is followed and what is ordered have rows of their own in `openapi.ts`. */
export const READ_ROUTES: readonly ReadRoute[] = [
  route({
    path: '/v1/status',
    summary: 'Everything at a glance: mode and reasons, ages of data, positions, orders, profit, limits.',
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
    query: nothing,
    response: z.array(orderSchema),
    read: (daemon) => daemon.orders(),
  }),
  route({
    path: '/v1/fills',
    summary:
      'The last fills of this run, the newest first; `intentd fills` reads older ones from the journal.',
    query: limit,
    response: z.array(fillSchema),
    read: (daemon, query) => daemon.fills(query.limit),
  }),
  route({
    path: '/v1/profit',
    summary: 'Profit today and in all, by strategy and by instrument.',
    query: nothing,
    response: z.record(
      z.string(),
      z.object({
        today: profitSchema,
        total: profitSchema,
        strategies: z.record(z.string(), profitSchema),
        instruments: z.record(z.string(), profitSchema),
      }),
    ),
    read: (daemon) => Object.fromEntries(daemon.status().accounts.map(({ name, profit }) => [name, profit])),
  }),
  route({
    path: '/v1/limiter',
    summary: "How much of the exchange's limits is used, by endpoint.",
    query: nothing,
    response: z.record(z.string(), z.array(limiterSchema)),
    read: (daemon) =>
      Object.fromEntries(daemon.status().accounts.map(({ name, limiter }) => [name, limiter])),
  }),
]
