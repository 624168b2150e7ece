import { type z } from 'zod'
import { accountRows } from './undocumented/account-rows.ts'
import { marginRows } from './undocumented/margin-rows.ts'
import { marketRows } from './undocumented/market-rows.ts'
import { orderRows } from './undocumented/order-rows.ts'
import { planOrderRows } from './undocumented/plan-order-rows.ts'
import { spotRows } from './undocumented/spot-rows.ts'

/**
 * Endpoints outside the document that public clients call before anything else. Their schemas are minimal and let
 * unknown parameters through. The daemon never depends on them.
 */
export const undocumented = {
  ...marketRows,
  ...accountRows,
  ...orderRows,
  ...planOrderRows,
  ...spotRows,
  ...marginRows,
} as const

type UndocumentedName = keyof typeof undocumented
export type UndocumentedRequestOf<Name extends UndocumentedName> = z.input<
  (typeof undocumented)[Name]['request']
>
