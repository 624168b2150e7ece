/** All resting orders count as filled. */
import { z } from 'zod'
import { symbolSchema } from './exchange-schema.ts'

const share = z.number().positive().max(0.9)

export const survivalSchema = z
  .strictObject({
    move: z.union([share, z.record(symbolSchema, share)]).meta({
      title: 'a share of the price such as 0.12, or a mapping with one for each instrument',
      description:
        'Move of one instrument alone, down or up, as a share of its price: a number for all, or one for each symbol.',
    }),
    joint: share.optional().meta({
      description:
        'Move of all instruments at once, each against the account. Absent: each by its own move.',
    }),
    gap: z.boolean().default(true).meta({
      description:
        'true: nothing is filled on the way, so orders that rest count as filled at the price now and lose the whole move. false: each counts at its own price.',
    }),
  })
  .optional()
  .meta({
    description:
      'Moves that the account must survive: an order is denied (WORST_CASE) if loss, fees, funding and maintenance margin after such a move, with all that rests filled, could exceed the equity. At 80 % a warning is logged; beyond 100 % the daemon reduces until 80 %. Needs account.capital, crossed margin and the maintenance of the instruments. Absent: no such limit.',
  })
