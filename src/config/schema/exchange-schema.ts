import { z } from 'zod'
import { SYMBOL_PATTERN } from '../../domain/instrument.ts'
import { positiveDecimal, stepDecimal, wholeNumber } from './setting-values.ts'
import { withoutTlsSchema } from './journal-schema.ts'

const tierSchema = z.strictObject({
  upTo: positiveDecimal(
    'Value up to which the tier goes, in the quote coin. Absent: it is the last one.',
  ).optional(),
  rate: z
    .number()
    .positive()
    .max(1)
    .meta({ description: 'What a position needs as margin, as a share of its value.' }),
})

const maintenanceSchema = z
  .array(tierSchema)
  .min(1)
  .max(100)
  .check((context) => {
    let before = 0
    for (const [index, { upTo }] of context.value.entries()) {
      const isLast = index === context.value.length - 1
      const end = upTo === undefined ? Number.POSITIVE_INFINITY : Number(upTo)
      if (end > before && (isLast || upTo !== undefined)) {
        before = end
        continue
      }
      const message =
        upTo === undefined
          ? 'only the last tier goes without upTo'
          : 'is not above the tier before it: write tiers from the smallest to the largest'
      context.issues.push({ code: 'custom', input: context.value, path: [index, 'upTo'], message })
    }
  })
  .optional()
  .meta({
    description:
      "Maintenance margin by the value of a position, from the exchange's contract page. With environment simulator absent: that of the simulator. Otherwise absent: how far a liquidation is, is known by the exchange alone.",
  })

export const symbolSchema = z
  .string()
  // Must equal `symbol` in src/protocol/values.ts.
  .regex(SYMBOL_PATTERN)
  .meta({
    title:
      'a symbol of capitals A to Z, digits, and perhaps _ and an ending, such as BTCUSDT or BTCUSDT_UMCBL (instruments with other characters in their name cannot be traded)',
  })

const productTypeSchema = z
  .enum([
    'USDT-FUTURES',
    'COIN-FUTURES',
    'USDC-FUTURES',
    'SUSDT-FUTURES',
    'SCOIN-FUTURES',
    'SUSDC-FUTURES',
  ])
  .meta({ description: 'Product type; those that begin with S are the demo ones.' })

export const accountShape = {
  productType: productTypeSchema,
  marginCoin: z
    .string()
    .regex(/^[A-Z0-9]{2,12}$/)
    .meta({
      title: 'a coin in capitals such as USDT',
      description: 'The coin that margin and profit are counted in.',
    }),
  marginMode: z.enum(['crossed', 'isolated']).meta({ description: 'Margin mode of every order.' }),
  positionMode: z
    .enum(['one_way_mode', 'hedge_mode'])
    .meta({ description: 'Whether an instrument has one net position or a long and a short one.' }),
}

const ruleShape = {
  tickSize: stepDecimal('Smallest step of a price, in the quote coin.'),
  lotSize: stepDecimal('Smallest step of a size, in the base coin.'),
  minSize: positiveDecimal('Smallest size of an order, in the base coin.'),
  minNotional: positiveDecimal('Smallest price times size of an order, in the quote coin.'),
}

export const RULE_NAMES = ['tickSize', 'lotSize', 'minSize', 'minNotional'] as const

/** The API document has no endpoint for precision. */
const instrumentSchema = z
  .strictObject({
    ...ruleShape,
    fundingHours: z.literal([1, 2, 4, 8, 12, 24]).optional().meta({
      description:
        'Hours between two payments of funding, from midnight UTC. Absent: as calendar.funding says, where there is one; else 8. Recorded payments go before.',
    }),
  })
  .meta({ description: 'Contract precision of one instrument.' })

export const instrumentsSchema = z
  .record(
    symbolSchema,
    instrumentSchema.extend({
      productType: productTypeSchema.optional().meta({
        description:
          'Product type of the contract. Absent: that of the contract of this name which the simulator knows, else that of the accounts, where they have one.',
      }),
    }),
  )
  .meta({
    description: 'Contract precision by symbol: the API document has no endpoint for it.',
    minProperties: 1,
  })

/** Compared with positions; the daemon changes no leverage. */
export const leverageSchema = z.int().min(1).max(1000)

const absentRule = 'Absent: as the exchange lists the contract.'

const tradedRules = {
  tickSize: stepDecimal(`Smallest step of a price, in the quote coin. ${absentRule}`).optional(),
  lotSize: stepDecimal(`Smallest step of a size, in the base coin. ${absentRule}`).optional(),
  minSize: positiveDecimal(`Smallest size of an order, in the base coin. ${absentRule}`).optional(),
  minNotional: positiveDecimal(
    `Smallest price times size of an order, in the quote coin. ${absentRule}`,
  ).optional(),
}

export const tradedInstrumentsSchema = z
  .record(
    symbolSchema,
    instrumentSchema.extend({
      ...tradedRules,
      leverage: leverageSchema
        .describe(
          'Leverage of the instrument at the exchange: nothing is added to a position that has another. Absent: account.leverage.',
        )
        .optional(),
      maintenance: maintenanceSchema,
    }),
  )
  .meta({
    title: 'a list of symbols, or a mapping of symbols',
    description:
      'The instruments and their rules by symbol, or a list of symbols alone. Rules that are absent come from the contracts of the exchange (exchange.beyondDocument: true), or of the simulator inside the daemon; what is written here wins. At least one, unless a strategy has a `universe`.',
    names: true,
  })

export type InstrumentSettings = z.infer<typeof instrumentSchema> & {
  readonly productType?: z.infer<typeof productTypeSchema> | undefined
}

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
  })
  .meta({
    description:
      'Limits of the address, shared with other daemons through Redis. Absent: this one has them alone.',
  })
