import { type z } from 'zod'
import { accountRows } from './neighbours/account-rows.ts'
import { marginRows } from './neighbours/margin-rows.ts'
import { marketRows } from './neighbours/market-rows.ts'
import { orderRows } from './neighbours/order-rows.ts'
import { planOrderRows } from './neighbours/plan-order-rows.ts'
import { spotRows } from './neighbours/spot-rows.ts'

/**
 * Endpoints outside the document that public clients call before anything else. Their schemas are minimal and let
 * unknown parameters through. The daemon never depends on them.
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
