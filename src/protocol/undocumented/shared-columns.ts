import { z } from 'zod'
import { exchangeId, foreignClientOid } from '../values.ts'

/** What rows outside the document have in common. */
const columns = {
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  section: 'outside the document',
  outside: true,
} as const

export const readColumns = { ...columns, method: 'GET', retry: 'safe' } as const
export const placeColumns = { ...columns, method: 'POST', retry: 'protocol' } as const
/** Of cancels and settings. */
export const changeColumns = { ...columns, method: 'POST', retry: 'repeatable' } as const
export const publicColumns = {
  ...readColumns,
  auth: 'public',
  limit: { calls: 20, perMs: 1000, scope: 'ip' },
} as const

/** How an order is named in a request. */
export const byEitherId = { orderId: exchangeId.optional(), clientOid: foreignClientOid.optional() }

/** How a page of a list is asked for. */
export const pageFields = {
  idLessThan: exchangeId.optional(),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  limit: z.string().optional(),
}
