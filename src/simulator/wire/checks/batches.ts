import { isRecord } from '../../../lib/plain-data.ts'
import type { RefusedReply, Reply } from '../../shared/reply.ts'
import type { Parameters } from './parameters.ts'
import type { ServedName } from '../served-rows.ts'

export interface Batch {
  readonly list: string
  readonly toFailure: (item: unknown, refusal: RefusedReply) => Readonly<Record<string, string>>
}

export interface RefusedItem {
  readonly item: unknown
  readonly refusal: RefusedReply
}

/**
 * Document, Errors, 3: "Partial failure of batch operations is reported inside data.failureList".
 */
export const batches = {
  batchPlaceOrder: { list: 'orderList', toFailure: futuresFailure },
  batchCancelOrders: { list: 'orderIdList', toFailure: futuresFailure },
  cancelPlanOrder: { list: 'orderIdList', toFailure: futuresFailure },
  isolatedBatchCancelOrders: { list: 'orderIdList', toFailure: marginFailure },
  createVirtualSubaccounts: {
    list: 'subAccountList',
    toFailure: (item) => ({ subaAccountName: textOf(item) }),
  },
} as const satisfies { readonly [Name in ServedName]?: Batch }

export function batchOf(name: ServedName): Batch | undefined {
  return (batches as Partial<Record<ServedName, Batch>>)[name]
}

export function withRefusedItems(
  reply: Reply<unknown>,
  batch: Batch | undefined,
  refusedItems: readonly RefusedItem[],
): Reply<unknown> {
  if (!reply.ok || batch === undefined || refusedItems.length === 0) return reply
  const data = reply.data as { readonly failureList?: readonly unknown[] }
  const failures = refusedItems.map(({ item, refusal }) => batch.toFailure(item, refusal))
  return { ok: true, data: { ...data, failureList: [...failures, ...(data.failureList ?? [])] } }
}

function futuresFailure(item: unknown, { code, message }: RefusedReply) {
  return { ...idsOf(item), errorMsg: message, errorCode: code }
}

function marginFailure(item: unknown, { message }: RefusedReply) {
  return { clientOid: idsOf(item).clientOid, errorMsg: message }
}

function idsOf(item: unknown): { orderId: string; clientOid: string } {
  const { orderId, clientOid, clientId }: Parameters = isRecord(item) ? item : {}
  return { orderId: textOf(orderId), clientOid: textOf(clientOid ?? clientId) }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}
