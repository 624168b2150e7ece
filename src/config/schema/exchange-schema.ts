import { maintenanceSchema } from './liquidation-schema.ts'
import { z } from 'zod'
import { SYMBOL_PATTERN } from '../../domain/instrument.ts'
import { positiveDecimal, stepDecimal } from './decimal-text.ts'
import { wholeNumber } from './whole-number.ts'

export const symbolSchema = z
  .string()
  // Must equal `symbol` in src/protocol/values.ts.
  .regex(SYMBOL_PATTERN)
  .meta({
    title:
      'a symbol of capitals A to Z, digits, and perhaps _ and an ending, such as BTCUSDT or BTCUSDT_UMCBL (instruments with other characters in their name cannot be traded)',
  })

/** In the order of the API document. */
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

/** Nothing can be ordered without these. */
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
export const leverageSchema = (description: string) =>
  wholeNumber({ min: 1, max: 1000 }, description).optional()

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
      leverage: leverageSchema(
        'Leverage of the instrument at the exchange: nothing is added to a position that has another. Absent: account.leverage.',
      ),
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
