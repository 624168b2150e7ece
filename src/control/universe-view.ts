import { z } from 'zod'
import { instant } from './views.ts'

const UNIVERSE_STATES = ['in', 'leaving', 'out'] as const

export const universeSchema = z.strictObject({
  strategy: z.string(),
  evaluatedAt: instant
    .nullable()
    .meta({ description: 'exchange clock, of the last evaluation; null: none yet' }),
  dueAt: instant.nullable().meta({ description: 'of the next one; null: no evaluation yet' }),
  waitsFor: z
    .string()
    .nullable()
    .meta({ description: 'why the rule is not evaluated; null: it is' }),
  count: z.int().meta({ description: 'most instruments that it chooses' }),
  left: z.int().meta({ description: 'members that have left within 24 h' }),
  leftMax: z.int().nullable().meta({ description: 'most that may; null: any number' }),
  instruments: z
    .array(
      z.strictObject({
        symbol: z.string(),
        state: z.enum(UNIVERSE_STATES),
        reason: z.string().meta({ description: 'a word for each kind of reason' }),
        words: z
          .string()
          .meta({ description: 'the reason in words, with values as they were then' }),
        at: instant.meta({ description: 'exchange clock, since when the reason is this one' }),
        since: instant.nullable().meta({ description: 'when it joined; null: it is no member' }),
        waitsFor: z
          .string()
          .nullable()
          .meta({ description: 'why one that leaves is still there; null: nothing' }),
      }),
    )
    .meta({ description: 'members first, then by symbol' }),
})

export type UniverseView = z.infer<typeof universeSchema>
