import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, coin, orderReference, positiveDecimal } from '../values.ts'

/** A Lightning Network invoice has over a thousand characters. */
const ADDRESS_CHARS_MAX = 4096

const INTERNAL_ADDRESS = {
  uid: { form: /^\d{1,32}$/, message: 'address must be a UID of digits when innerToType is uid' },
  email: {
    form: /^[^@\s]+@[^@\s]+$/,
    message: 'address must be an e-mail when innerToType is email',
  },
  mobile: {
    form: /^\+?\d{4,20}$/,
    message: 'address must be a mobile number when innerToType is mobile',
  },
} as const

/**
 * A second withdrawal is a second payment, so it is never repeated automatically. The address must
 * be in the address book.
 */
export const spotWithdrawal = defineEndpoint({
  name: 'spotWithdrawal',
  method: 'POST',
  path: '/api/v2/spot/wallet/withdrawal',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid' },
  retry: 'protocol',
  section: 'POST /api/v2/spot/wallet/withdrawal (withdraw)',
  request: z
    .strictObject({
      coin: coin.describe('Coin name'),
      transferType: z
        .enum(['on_chain', 'internal_transfer'])
        .describe('On chain, or to another account'),
      address: z
        .string()
        .min(1, 'address must not be empty')
        .max(ADDRESS_CHARS_MAX)
        .describe(
          'Chain address when on_chain; else a UID, e-mail or mobile number as innerToType says',
        ),
      chain: z
        .string()
        .min(1)
        .max(60)
        .describe('Chain network such as erc20; must be sent when transferType is on_chain')
        .optional(),
      innerToType: z
        .enum(['email', 'mobile', 'uid'])
        .meta({ description: 'What the address of an internal transfer is', default: 'uid' })
        .optional(),
      areaCode: z
        .string()
        .regex(/^\+?\d{1,6}$/, 'an area code of digits')
        .describe('Required when the internal address type is mobile')
        .optional(),
      tag: z.string().max(200).describe('Address tag, for some coins').optional(),
      size: positiveDecimal.describe(
        'Amount; for a Lightning invoice exactly its amount, without fees',
      ),
      remark: z.string().max(400).describe('Note').optional(),
      clientOid: clientOid.describe('Client unique ID').optional(),
    })
    .superRefine((body, context) => {
      const refuse = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message })
      if (body.innerToType === 'mobile' && body.areaCode === undefined) {
        refuse('areaCode', 'areaCode is required when innerToType is mobile')
      }
      if (body.transferType === 'on_chain') {
        if (body.chain === undefined)
          refuse('chain', 'chain must be sent when transferType is on_chain')
        return
      }
      const { form, message } = INTERNAL_ADDRESS[body.innerToType ?? 'uid']
      if (!form.test(body.address)) refuse('address', message)
    }),
  response: orderReference,
})
