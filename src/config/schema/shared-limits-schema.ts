import { z } from 'zod'
import { withoutTlsSchema } from './journal-schema.ts'
import { wholeNumber } from './whole-number.ts'

export const sharedLimitsSchema = z
  .strictObject({
    redis: z
      .string()
      .max(2000)
      .regex(/^rediss?:\/\/./)
      .meta({
        title: 'an address such as "rediss://cache.example:6379"',
        description:
          'The server of Redis or Valkey that all of them reach. Its password is the variable INTENTD_LIMITS_PASSWORD.',
      }),
    withoutTls: withoutTlsSchema,
    members: wholeNumber(
      { min: 1, max: 64 },
      'Daemons that call from this address at a time, at most: the same number in each of them.',
    ),
    group: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/)
      .default('default')
      .meta({
        title: 'a name such as "office" (lower case letters, digits, _ . -; at most 63)',
        description: 'The address and the exchange, where daemons of several share the server.',
      }),
    marketData: z.boolean().default(false).meta({
      description:
        'Tickers are read by one daemon for all that have this, and handed on through the server. Whoever may write there can say prices.',
    }),
  })
  .meta({
    description:
      'Limits of the address, shared with other daemons through Redis. Absent: this one has them alone.',
  })
