import { z } from 'zod'
import { presetNumber } from './setting-values.ts'

export const withoutTlsSchema = z.boolean().default(false).meta({
  description:
    'Ask a server on another machine without TLS: whoever is on the way reads the password and may change what is said. Each start warns of it.',
})

export const journalSchema = z
  .strictObject({
    url: z
      .string()
      .max(2000)
      .regex(/^postgres(?:ql)?:\/\/./)
      .meta({
        title: 'an address such as "postgresql://intentd@db.example/intentd"',
        description:
          'The PostgreSQL server and database, with the user. Its password is the variable INTENTD_JOURNAL_PASSWORD.',
      }),
    withoutTls: withoutTlsSchema,
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,62}$/)
      .optional()
      .meta({
        title: 'a name such as "intentd_live" (lower case letters, digits, _; at most 63)',
        description:
          'Where in the database the journal of this account is; made where there is none. Absent: intentd_ and the name.',
      }),
    onDifference: z.enum(['warn', 'refuse']).optional().meta({
      description:
        'What a standby does that would trade with other settings or strategy code than the writer. warn: it says so, and takes over. refuse: it takes nothing over. Absent: warn.',
    }),
    leaseMs: presetNumber(
      { min: 2000, max: 300_000, preset: 10_000 },
      'The right to write lasts so long without being renewed, in ms. It is renewed four times in it; another machine ' +
        'takes over when it is over, and what was signed under it has expired.',
    ),
  })
  .meta({
    description:
      'The journal on PostgreSQL, for several machines. Absent: SQLite, in a file in state.directory.',
  })
