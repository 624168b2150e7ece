import { z } from 'zod'
import { knownText, listOf, textIfAny } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'

/** Document: "each an alias of 8 English letters, globally unique". */
const alias = z.string().regex(/^[A-Za-z]{8}$/, 'an alias is 8 English letters')

/** Document: Virtual sub-account. The wire spells it `suba…`. */
const subAccount = z
  .object({
    subaAccountUid: z.string().describe('Sub-account UID (spelled so)'),
    subaAccountName: textIfAny.describe('Sub-account name (spelled so)'),
    status: knownText('normal', 'freeze', 'del').describe('Status; a new one is normal'),
    permList: listOf(
      z.string().meta({ knownValues: ['spot_trade', 'contract_trade', 'read'] }),
    ).describe('Permissions; contract_trade is futures read-write'),
    label: textIfAny.describe('Note'),
    cTime: textIfAny.describe('Creation time, Unix ms'),
    uTime: textIfAny.describe('Update time, Unix ms'),
  })
  .transform(({ subaAccountUid: subAccountUid, subaAccountName: subAccountName, ...rest }) => ({
    subAccountUid,
    subAccountName,
    ...rest,
  }))

const failure = z
  .object({ subaAccountName: textIfAny.describe('The alias that was not created (spelled so)') })
  .transform(({ subaAccountName: subAccountName }) => ({ subAccountName }))

const request = z.strictObject({
  subAccountList: z.array(alias).min(1).describe('Aliases of 8 English letters, globally unique'),
})

/**
 * The API key must be bound to an IP address. Repeating creates nothing twice: the alias is in the
 * second failureList.
 */
export const createVirtualSubaccounts = defineEndpoint({
  name: 'createVirtualSubaccounts',
  method: 'POST',
  path: '/api/v2/user/create-virtual-subaccount',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'POST /api/v2/user/create-virtual-subaccount (create virtual sub-accounts in batch)',
  request,
  response: z.object({
    successList: listOf(subAccount).describe('Sub-accounts that were created'),
    failureList: listOf(failure).describe('Aliases that exist already, or are beyond the limit'),
  }),
  rules,
})

/** The exchange would report it in failureList, too late for a typing error. */
function rules({ subAccountList }: z.output<typeof request>): string[] {
  const isTwice = new Set(subAccountList).size < subAccountList.length
  return isTwice ? ['an alias is unique: one stands here twice'] : []
}
