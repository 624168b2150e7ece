/** Only of `intentd simulate`: accounts, and services other than futures. */
import { z } from 'zod'
import { positiveDecimal, signedDecimal } from './decimal-text.ts'
import { accountShape } from './exchange-schema.ts'
import { presetNumber } from './whole-number.ts'

const count = (max: number, preset: number, description: string) =>
  z.int().min(0).max(max).default(preset).meta({ description })

const gatewayClientSchema = z
  .strictObject({
    isWhitelisted: z.boolean().default(true).meta({
      description: 'Whether it is on the whitelist; a client that is not is answered with 403.',
    }),
  })
  .meta({ description: 'A client of the signed gateway, with a key and a secret of its own.' })

export const simulatedAccountSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "alice" (lower case letters, digits, -)',
        description:
          'Its API credentials are made from this and the seed, so that they are the same at every start: play money.',
      }),
    ...accountShape,
    startingBalance: positiveDecimal('Margin coin in the account at the start.'),
    leverage: presetNumber({ min: 1, max: 125, preset: 10 }, 'Leverage of every instrument.'),
    role: z.enum(['ordinary', 'copyTrader']).default('ordinary').meta({
      description:
        'Whether others copy its trades: only a copyTrader has copy settings and followers.',
    }),
    boundToIps: z
      .array(z.union([z.ipv4(), z.ipv6()]).meta({ title: 'an IP address such as "127.0.0.1"' }))
      .min(1)
      .max(20)
      .optional()
      .meta({
        description:
          'Addresses that its API key is bound to: refused from any other. Absent: bound to none, and refused ' +
          'where the exchange wants a bound key.',
      }),
    demo: z.boolean().optional().meta({
      description:
        'true: its key is one of a demo environment, and refused (40099) without the header paptrading: 1; false: refused with it. Absent: it makes no difference.',
    }),
    boundAt: z.iso.datetime({ offset: true }).optional().meta({
      title: 'an instant such as "2026-01-31T12:00:00Z"',
      description:
        'Makes it a managed sub-account, bound to its manager at this time: earlier fills and spot orders are not shown.',
    }),
    gateway: gatewayClientSchema.optional(),
  })
  .meta({ description: 'One account of the simulated exchange.' })

/** Interpretations where the API document leaves futures orders open. */
export const readingsSchema = z
  .strictObject({
    postOnlyCross: z.enum(['reject', 'cancel']).default('reject').meta({
      description: 'A post-only order that would take: refused, or accepted and cancelled at once.',
    }),
    cancelAllEmpty: z.enum(['error', 'emptyLists']).default('error').meta({
      description: 'A cancel-all with nothing to cancel: error 22001, or two empty lists.',
    }),
    reduceOnlyExcess: z.enum(['cancelOlder', 'reject']).default('cancelOlder').meta({
      description:
        'Reduce-only orders beyond the position: older ones are cancelled, or the new is refused.',
    }),
    hedgeCloseExcess: z
      .enum(['closeRemainder', 'reject', 'cancelResting'])
      .default('closeRemainder')
      .meta({ description: 'A close beyond what is available in hedge mode.' }),
    oneWayTradeSide: z.enum(['openClose', 'single']).default('openClose').meta({
      description:
        'tradeSide of fills in one-way mode: open and close, or buy_single and the like.',
    }),
    selfTrades: z.enum(['never', 'meet']).default('never').meta({
      description:
        'An order with stpMode none that reaches a resting one of its own account: both trade with the market alone, or with each other; then both fills have one tradeId.',
    }),
    presetTriggerType: z
      .enum(['fill_price', 'mark_price'])
      .default('fill_price')
      .meta({ description: 'What preset take-profits and stop-losses watch.' }),
    unknownParameters: z
      .enum(['ignore', 'refuse'])
      .default('ignore')
      .meta({ description: 'What happens to parameters that no endpoint has.' }),
    limitAboveMaximum: z
      .enum(['refuse', 'cut'])
      .default('refuse')
      .meta({
        description:
          'A limit above the maximum of a page: refused with 40053, or cut in silence. Clients report that the real ' +
          'exchange cuts: its pages then look like the last one.',
      }),
  })
  .meta({
    description:
      'How the exchange reads what its document leaves open: a client must bear them all.',
  })

const platformCoinSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Z0-9]{2,12}$/)
      .default('HOUSE')
      .meta({
        title: 'a coin in capitals such as HOUSE',
        description: 'In small letters it stands in a path.',
      }),
    price: positiveDecimal('About what it is worth, in USDT.').default('1.25'),
  })
  .meta({
    description: "The platform's own coin: pays fees, and small balances are converted into it.",
  })

const coinSchema = z
  .string()
  .regex(/^[A-Z0-9]{2,12}$/)
  .meta({ title: 'a coin in capitals such as USDT' })

const spotSchema = z
  .strictObject({
    opening: z
      .record(coinSchema, positiveDecimal('Amount of the coin.'))
      .default({ USDT: '50000', BTC: '0.8', ETH: '12' })
      .meta({ description: 'What every account has in its spot account at the start.' }),
    platformOpening: positiveDecimal("The same of the platform's own coin.").default('400'),
    deductsFees: z.boolean().default(false).meta({
      description: "Whether fees are paid in the platform's own coin while there is any.",
    }),
    deductionRatio: positiveDecimal(
      'What of a fee remains then: 0.8 is a discount of 20 %.',
    ).default('0.8'),
  })
  .meta({ description: 'The spot service.' })

const marginSchema = z
  .strictObject({
    liquidationRatio: positiveDecimal('Risk ratio at which the platform takes over.').default('1'),
    isolatedMaintenanceRate: positiveDecimal('Of the debts, isolated.').default('0.05'),
    crossedMaintenanceRate: positiveDecimal('Of the debts, crossed.').default('0.1'),
    liquidationFeeRate: signedDecimal('Of what forced orders traded.').default('0.01'),
    loanTermMs: presetNumber(
      { min: 1000, max: 31_536_000_000, preset: 7_776_000_000 },
      'A crossed loan older than this is repaid by the system at the next full hour, in ms.',
    ),
    liquidationSide: z.enum(['hyphen', 'underscore']).default('hyphen').meta({
      description:
        'liquidation-sell as in the sample of the document, or liquidation_sell as in its table.',
    }),
    openOrdersMax: count(10_000, 200, 'Open orders an account may have in each mode.'),
  })
  .meta({ description: 'The margin service.' })

const convertSchema = z
  .strictObject({
    feeRate: signedDecimal('A share of what is received: 0.02 is 2 %.').default('0.02'),
  })
  .meta({ description: 'The conversion service.' })

const subaccountsSchema = z
  .strictObject({ subaccountsMax: count(1000, 20, 'Sub-accounts that one account may have.') })
  .meta({ description: 'The sub-account service.' })

export const servicesSchema = z
  .strictObject({
    platformCoin: platformCoinSchema.prefault({}),
    spot: spotSchema.prefault({}),
    margin: marginSchema.prefault({}),
    convert: convertSchema.prefault({}),
    subaccounts: subaccountsSchema.prefault({}),
  })
  .meta({ description: 'The services beside futures.' })
