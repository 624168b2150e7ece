import { z } from 'zod'
import { EXIT_REASONS, type ExitReason } from '../domain/closed-trade.ts'
import type { GroupBy } from '../domain/row-groups.ts'
import { amount, instant, journalPlaceSchema } from './views.ts'

export const CANDLE_INTERVALS_MS = [5000, 60_000, 900_000] as const

export const candleSchema = z.strictObject({
  at: instant.meta({ description: 'Unix ms, exchange clock: its begin' }),
  open: z.number(),
  high: z.number(),
  low: z.number(),
  close: z.number(),
})

export const curvesSchema = z.strictObject({
  peak: z.number().nullable().meta({ description: 'of the equity, when the curve began' }),
  at: z.array(instant),
  netWithUnrealised: z.array(z.number().nullable()).meta({
    description:
      'what the account has made in all runs, as `profit.total.netWithUnrealised`; null: not known then',
  }),
  equity: z.array(z.number().nullable()),
  strategies: z.record(z.string(), z.array(z.number())).meta({
    description:
      'what each strategy has made in all runs: `netWithUnrealised`, and `net` while that is not known',
  }),
})

export const keptCurveSchema = z.strictObject({
  at: z.array(instant).meta({ description: 'Unix ms: by minute for a week, then by hour' }),
  equity: z.array(z.number().nullable()),
  netWithUnrealised: z.array(z.number().nullable()),
  peak: z.array(z.number().nullable()).meta({ description: 'the highest equity, as it was then' }),
})

export const keptPlotSchema = z.strictObject({
  strategy: z.string(),
  name: z.string(),
  points: z
    .array(z.strictObject({ at: instant, value: z.number() }))
    .meta({ description: 'where it has changed, at most once a minute' }),
})

export const instrumentSchema = z.strictObject({
  symbol: z.string(),
  tickSize: amount,
  lotSize: amount,
  marginCoin: z.string(),
  bid: z.number().nullable(),
  ask: z.number().nullable(),
  last: z.number().nullable(),
  phase: z.enum(['idle', 'placing', 'resolving']),
  waits: z
    .array(z.string())
    .meta({ description: 'what the order flow waits for, in words; empty: nothing' }),
  displaced: z.array(z.string()).meta({
    description:
      'clientOids of wanted orders that a cancel-all took away, and that do not rest again yet',
  }),
})

const REASONS = Object.keys(EXIT_REASONS) as [ExitReason, ...ExitReason[]]

const closedTradeSchema = z.strictObject({
  strategyId: z.string(),
  symbol: z.string(),
  side: z.enum(['long', 'short']),
  openedAt: instant,
  closedAt: instant,
  size: amount.meta({ description: 'base coin: the largest size that was held' }),
  entryPrice: amount.nullable().meta({ description: 'mean price; null: not known' }),
  exitPrice: amount.nullable().meta({ description: 'mean price; null: not known' }),
  gross: amount.meta({ description: "at the strategy's own average price" }),
  fees: amount,
  otherFees: z.record(z.string(), amount).meta({ description: 'taken in other coins, by coin' }),
  funding: amount.meta({ description: 'negative when paid' }),
  net: amount.meta({ description: 'gross - fees + funding' }),
  coin: z.string(),
  share: z.number().nullable().meta({
    description: 'net over the largest size at the mean entry price; null: not known',
  }),
  fills: z.int(),
  reason: z.enum(REASONS).meta({
    description: REASONS.map((reason) => `${reason}: ${EXIT_REASONS[reason]}`).join('; '),
  }),
  entryTag: z.string().meta({
    description: 'what the strategy wrote on the order that opened it; empty: nothing',
  }),
  exitTag: z.string().meta({ description: 'the same of the order that closed it' }),
  uncounted: z.string().meta({ description: 'what is not known of it, in words; empty: nothing' }),
})

export const closedTradesSchema = z.strictObject({
  journal: journalPlaceSchema,
  trades: z.array(closedTradeSchema).meta({ description: 'the oldest first, by their ends' }),
  unexplained: z.array(z.tuple([z.string(), z.string()])).meta({
    description:
      'strategy and symbol where the fills of the journal do not explain what is held: these trades may be wrong',
  }),
})

const bookedFillSchema = z.strictObject({
  kind: z.literal('fill'),
  tradeId: z.string().meta({ description: 'shared by the two fills of a self-trade' }),
  at: instant.meta({ description: 'Unix ms, exchange clock' }),
  orderId: z.string(),
  clientOid: z.string(),
  strategyId: z.string().meta({ description: 'empty: of no strategy' }),
  owner: z.enum(['strategy', 'waiting', 'nobody']).meta({
    description: 'waiting: its order is not known yet; nobody: no strategy here placed it',
  }),
  symbol: z.string(),
  side: z.string(),
  tradeSide: z.string(),
  price: amount,
  size: amount,
  profit: z.string().meta({
    description: "realised by closing, at the account's average price; empty: not known",
  }),
  fee: z.string().meta({ description: 'negative when received; empty: not known' }),
  coin: z.string(),
  scope: z.string().meta({ description: 'maker or taker' }),
  source: z.string().meta({ description: "the exchange's word: API, SYS, or a person's client" }),
  fillKind: z.string().meta({ description: 'empty: not known' }),
  otherFees: z.string().meta({
    description: 'fees in other coins: BGB 0.011 at 4.2; without a price it is not counted',
  }),
  reason: z.string().meta({
    description: 'flatten, or the exit of the strategy; empty: a plain order',
  }),
  tag: z.string().meta({ description: 'what the strategy wrote on its order; empty: nothing' }),
})

export const journalFillsSchema = z.strictObject({
  journal: journalPlaceSchema,
  fills: z.array(bookedFillSchema).meta({ description: 'the oldest first' }),
})

const profitRowSchema = z.strictObject({
  name: z.string().meta({ description: 'the day, week, month, strategy, instrument or coin' }),
  coin: z.string(),
  fills: z.int(),
  net: amount.meta({ description: 'realised - fees + funding, as far as they are known' }),
  realised: amount.meta({
    description:
      "the exchange's figure, at the account's average price; of a strategy its own, at its own average price",
  }),
  fees: amount,
  funding: z.string().meta({
    description: 'negative when paid; empty for a strategy: it is paid for the account',
  }),
  uncounted: z.string().meta({ description: 'what is not known of it, in words; empty: nothing' }),
})

export const journalProfitSchema = z.strictObject({
  journal: journalPlaceSchema,
  rows: z.array(profitRowSchema),
  uncounted: z.string().meta({ description: 'the same of all rows together' }),
})

export const denialsSchema = z.record(z.string(), z.record(z.string(), z.int())).meta({
  description: 'by strategy and code, of this run',
})

const momentSchema = z.strictObject({
  sequence: z.int().meta({ description: 'of the record in the journal' }),
  at: instant,
  what: z.string(),
  text: z.string(),
})

export const storySchema = z.strictObject({
  title: z.string(),
  moments: z.array(momentSchema),
  verdict: z.string(),
})

export const journalRowSchema = momentSchema.extend({ symbols: z.array(z.string()) })

export const backtestSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  coin: z.string(),
  writtenAt: instant,
  given: z.array(z.string()).meta({ description: 'what `--set` and `--param` changed' }),
  madeUp: z
    .array(z.string())
    .meta({ description: 'instruments whose prices follow a seed; empty: all prices are real' }),
  runs: z.array(
    z.strictObject({
      model: z.string(),
      fromAt: instant,
      toAt: instant,
      opening: amount,
      final: amount,
      fees: amount,
      ratios: z.array(z.strictObject({ name: z.string(), text: z.string() })),
      curve: z
        .array(z.number())
        .meta({ description: 'equity, from the first to the last instant' }),
    }),
  ),
})

export type CandleDetail = z.infer<typeof candleSchema>
export type KeptPlotView = z.infer<typeof keptPlotSchema>
export type KeptCurveView = z.infer<typeof keptCurveSchema>
export type CurvesView = z.infer<typeof curvesSchema>
export type InstrumentDetail = z.infer<typeof instrumentSchema>
export type DenialsView = z.infer<typeof denialsSchema>
export type StoryView = z.infer<typeof storySchema>
export type JournalRowView = z.infer<typeof journalRowSchema>
export type BacktestView = z.infer<typeof backtestSchema>

export type ClosedTradesView = z.infer<typeof closedTradesSchema>

export type JournalFillsView = z.infer<typeof journalFillsSchema>
export type JournalProfitRow = z.infer<typeof profitRowSchema>
export type JournalProfitView = z.infer<typeof journalProfitSchema>

/** An absent property restricts nothing. */
export interface FillsQuery {
  readonly strategy?: string | undefined
  readonly symbol?: string | undefined
  /** Unix ms, exchange clock: `since` is included, `until` is not. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The last ones. */
  readonly limit: number
}

export interface ProfitQuery extends Pick<FillsQuery, 'since' | 'until'> {
  readonly by: GroupBy
}

/** An absent property restricts nothing. */
export interface ClosedTradesQuery {
  readonly strategy?: string | undefined
  readonly symbol?: string | undefined
  /** Unix ms, of a trade's end: `since` is included, `until` is not. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly limit: number
}

export interface ExplainQuery {
  readonly subject: string
  /** Unix ms, for an instrument; absent: as far back as something happened, a week at most. */
  readonly since?: number | undefined
  /** The newest moments; absent: all. */
  readonly limit?: number | undefined
}

export interface JournalQuery {
  readonly containing: string
  readonly strategy?: string | undefined
  readonly kind?: string | undefined
  readonly before?: number | undefined
  readonly limit: number
}

const member = z.strictObject({
  holder: z.string(),
  state: z.record(z.string(), z.unknown()).meta({ description: 'what it said of itself last' }),
  startedAt: z.int(),
  seenAgoMs: z.number(),
})

/** Only computed, not done. */
export const reloadSchema = z.strictObject({
  problems: z
    .array(z.string())
    .meta({ description: 'why it would be refused; empty: it would be taken' }),
  changes: z.array(z.string()).meta({ description: 'what it would change' }),
  secrets: z
    .array(z.string())
    .meta({ description: 'those of the changes that are secrets of signals, by their names' }),
  worst: z
    .array(z.string())
    .meta({ description: 'the worst loss of each account by the new risk.survives' }),
})

/** As printed by `intentd fleet status --json`. */
export const fleetSchema = z.strictObject({
  now: z.int().meta({ description: 'Unix ms, clock of the server, as all times here' }),
  accounts: z.array(
    z.strictObject({
      schema: z.string().meta({ description: 'of its journal' }),
      state: z.enum(['writes', 'vanished', 'ended', 'new', 'moved']),
      holder: z.string().meta({ description: 'who writes the journal, or wrote it last' }),
      takenAt: z.int(),
      leaseLeftMs: z.number().meta({ description: 'below zero since when it is over' }),
      freeInMs: z.number().meta({ description: 'until a standby may take over' }),
      isHandoverAsked: z.boolean(),
      lastSequence: z.int(),
      movedTo: z
        .string()
        .optional()
        .meta({ description: 'machine and file of the journal, where it was moved' }),
      standbys: z.array(
        z.strictObject({
          holder: z.string(),
          behind: z.int().meta({ description: 'transactions' }),
          seenAgoMs: z.number(),
          isFollowing: z.boolean(),
          differs: z.string().meta({
            description: 'what it would trade otherwise than the writer; empty: nothing',
          }),
        }),
      ),
      shown: member.optional(),
      kill: z
        .strictObject({
          number: z.int(),
          state: z.enum(['asked', 'seen', 'clean', 'released']),
          reason: z.string(),
          by: z.string(),
          orderedAt: z.int(),
          answeredBy: z.string(),
          answeredAt: z.int().optional(),
        })
        .optional()
        .meta({ description: 'ordered last for all accounts' }),
    }),
  ),
  unread: z.array(z.strictObject({ schema: z.string(), reason: z.string() })),
  workers: z.array(member).meta({ description: 'of sweeps' }),
  alerts: z
    .array(
      z.strictObject({
        id: z.int(),
        at: z.int(),
        holder: z.string(),
        schema: z.string(),
        urgency: z.string(),
        event: z.string(),
        title: z.string(),
        lines: z.array(z.string()),
      }),
    )
    .meta({ description: 'the last ones of all accounts, the newest last' }),
  trouble: z.string().optional().meta({ description: 'why workers and alerts could not be read' }),
})

export type FleetView = z.infer<typeof fleetSchema>
export type ReloadView = z.infer<typeof reloadSchema>
