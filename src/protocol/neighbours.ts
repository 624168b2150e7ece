import { type z } from 'zod'
import * as accountRows from './neighbours/account-rows.ts'
import * as marginRows from './neighbours/margin-rows.ts'
import * as marketRows from './neighbours/market-rows.ts'
import * as orderRows from './neighbours/order-rows.ts'
import * as planOrderRows from './neighbours/plan-order-rows.ts'
import * as spotRows from './neighbours/spot-rows.ts'

/**
 * Endpoints outside the document that public clients call before anything else, each row under the name that it
 * is exported by. Their schemas are minimal and let unknown parameters through. The daemon never depends on them.
 */
export const neighbours = {
  ...marketRows,
  ...accountRows,
  ...orderRows,
  ...planOrderRows,
  ...spotRows,
  ...marginRows,
} as const

type NeighbourName = keyof typeof neighbours
export type NeighbourRequestOf<Name extends NeighbourName> = z.input<(typeof neighbours)[Name]['request']>
