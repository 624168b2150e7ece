import { cleanLine } from '../lib/text/clean-text.ts'
import { z } from 'zod'
import { restrictionSchema } from './views.ts'

const REASON_MAX = 500
const SCOPE_MAX = 100
const REQUEST_ID = /^[\w:.-]{8,100}$/

/**
 * A text from outside becomes one line, because it could otherwise forge lines that a person reads
 * before deciding.
 */
const lineOf = (max: number) => z.string().overwrite(cleanLine).min(1).max(max)

const scope = lineOf(SCOPE_MAX).meta({
  description: '*: the account; SYMBOL: an instrument; strategy:ID: a strategy',
})

export const orderFields = {
  scope,
  name: lineOf(SCOPE_MAX),
  mode: z.enum(['reducing', 'halted']),
  percent: z.number().positive().max(100),
  reason: lineOf(REASON_MAX),
}

const decimal = z.string().regex(/^\d{1,20}(\.\d{1,20})?$/)

/** No date is later. Unix ms. */
const INSTANT_MAX = 8_640_000_000_000_000

const byHand = {
  account: lineOf(SCOPE_MAX).optional().meta({
    description: 'name of the account; needed where the daemon trades several',
  }),
  dryRun: z.boolean().optional().meta({
    description: 'it is said what would be done, or which check denies it, and nothing is done',
  }),
}

const moved = {
  coin: z
    .string()
    .regex(/^[A-Z0-9]{2,20}$/)
    .optional()
    .meta({
      description: 'default: the margin coin; another one is in statements and nowhere else',
    }),
  movedAt: z
    .int()
    .positive()
    .max(INSTANT_MAX)
    .optional()
    .meta({ description: 'Unix ms; default: now' }),
  ...byHand,
}

const controlOrderSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('restrict'), scope, mode: orderFields.mode }),
  z.strictObject({ kind: z.literal('flatten'), scope }),
  z.strictObject({
    kind: z.literal('adopt'),
    symbol: lineOf(SCOPE_MAX).meta({ description: 'what no strategy holds of it is handed over' }),
    strategyId: lineOf(SCOPE_MAX).meta({ description: 'to this strategy' }),
  }),
  z.strictObject({
    kind: z.literal('release'),
    scope,
    newPeak: z.boolean().optional().meta({
      description:
        'every step of the drawdown counts from now on; else the last one keeps its peak',
    }),
    unclaimed: z.boolean().optional().meta({
      description:
        'what no strategy holds may stay so, although a strategy would order it again; else the release is refused there',
    }),
  }),
  z.strictObject({
    kind: z.literal('order'),
    symbol: lineOf(SCOPE_MAX),
    side: z.enum(['buy', 'sell']),
    size: decimal.meta({ description: 'in the base coin, a multiple of its lot size' }),
    price: decimal.optional().meta({ description: 'of a limit order; absent: at the market' }),
    force: z.enum(['gtc', 'ioc', 'fok', 'post_only']).optional(),
    reduceOnly: z.boolean().optional().meta({
      description: 'it closes what `manual` holds on the other side, and opens nothing',
    }),
    takeProfit: decimal.optional().meta({
      description: 'closes the whole position; refused of an order that only makes it smaller',
    }),
    stopLoss: decimal.optional().meta({
      description: 'closes the whole position; refused of an order that only makes it smaller',
    }),
    ...byHand,
  }),
  z.strictObject({
    kind: z.literal('close'),
    scope,
    percent: orderFields.percent.meta({
      description: 'share of what each strategy holds there',
    }),
    ...byHand,
  }),
  z.strictObject({
    kind: z.literal('cancel'),
    what: lineOf(SCOPE_MAX).meta({
      description: 'an instrument, a strategy, or the clientOid, orderId or key of an order',
    }),
    ...byHand,
  }),
  z.strictObject({
    kind: z.literal('deposit'),
    amount: decimal.meta({ description: 'what came into the account from outside' }),
    ...moved,
  }),
  z.strictObject({
    kind: z.literal('withdrawal'),
    amount: decimal.meta({ description: 'what left the account for outside' }),
    ...moved,
  }),
  z.strictObject({
    kind: z.literal('correctDeposit'),
    id: z
      .string()
      .regex(/^\d{1,9}$/)
      .meta({ description: 'the entry that is taken back, by another one of the opposite amount' }),
    ...byHand,
  }),
  z.strictObject({ kind: z.literal('kill') }),
  z.strictObject({ kind: z.literal('releaseKill') }),
  z.strictObject({ kind: z.literal('reload') }),
  z.strictObject({
    kind: z.literal('logLevel'),
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error']),
  }),
])

export const controlRequestSchema = z.strictObject({
  requestId: z.string().regex(REQUEST_ID).meta({
    description:
      'Names this command: sent again it is not obeyed again, and gets the answer of the first time; the last hundred also after a restart. If it begins with the time of sending (`1767225600000-…`, Unix ms), a request from before all that is remembered is refused (409, outdated), except `restrict` and `kill`.',
  }),
  reason: orderFields.reason.meta({ description: 'why, for the journal' }),
  by: lineOf(100).meta({
    description:
      'who, as you say; the journal has what was verified before it: `port:control.token says "anna"`',
  }),
  order: controlOrderSchema,
})

export const proposalSchema = z.strictObject({
  id: z.string(),
  order: controlOrderSchema,
  reason: z.string(),
  by: z.string().meta({ description: 'what was verified of the proposer, and the name it gave' }),
  proposedAt: z.int(),
  expiresAt: z.int(),
  changes: z.array(z.string()).meta({
    description: 'what it would change; if this is otherwise when it is confirmed, it is refused',
  }),
  notes: z.array(z.string()).meta({ description: 'what else to know; it may change meanwhile' }),
})

export const confirmationSchema = z.strictObject({
  id: z.string().min(1).max(20).meta({ description: 'of the proposal' }),
  code: z
    .string()
    .min(1)
    .max(20)
    .meta({ description: 'six digits, of the authenticator that `intentd pair` has paired' }),
  by: lineOf(100).meta({ description: 'who, as you say' }),
})

export const controlAnswerSchema = z.strictObject({
  requestId: z.string(),
  /** Carried out now or earlier; `status` shows how a flatten or a kill ends. */
  isObeyed: z.boolean(),
  isUncertain: z.literal(true).optional().meta({
    description:
      'the journal has not confirmed it: `text` says what can be relied on; send it again with the same requestId',
  }),
  text: z.string(),
  held: z.array(restrictionSchema),
  lifted: z.array(restrictionSchema),
  stillHeld: z.record(z.string(), z.string()).meta({
    description: 'what is still held where a flatten was ended before it was done',
  }),
  proposal: proposalSchema.optional().meta({
    description: 'nothing was done: this waits for a confirmation with a one-time code',
  }),
})

export const sessionRequestSchema = z.strictObject({
  code: z.string().min(1).max(100).meta({ description: 'of the address; good once, for a minute' }),
})

export const sessionSchema = z.strictObject({ token: z.string() })

export const addressSchema = z.strictObject({
  url: z.string().nullable().meta({
    description: 'of the dashboard, with a code that is good once, for a minute; null: no port',
  }),
})

export type ControlRequest = z.infer<typeof controlRequestSchema>
export type ProposalView = z.infer<typeof proposalSchema>
export type ControlAnswer = z.infer<typeof controlAnswerSchema>
