// Moves are shares: -0.1 is a fall of a tenth.

import { z } from 'zod'
import { amount, instant } from './views.ts'

export const ROW_MOVES = [0.2, 0.1, 0.05, -0.05, -0.1, -0.2] as const

export const MOVE_USUAL = -0.1

export const MOVE_MIN = -0.99
export const MOVE_MAX = 10
const MOVES_MAX = 200
const known = amount.nullable()

const move = z.coerce.number().min(MOVE_MIN).max(MOVE_MAX)

export const whatIfQuerySchema = z.object({
  move: move.default(0).meta({ description: 'share by which every price moves' }),
  moves: z
    .string()
    .max(MOVES_MAX * 40)
    .default('')
    .transform((text, context) => {
      const parts = text === '' ? [] : text.split(',').map((part) => part.split(':'))
      const read = parts.map(
        ([symbol = '', share = '']) => [symbol, move.safeParse(share || Number.NaN)] as const,
      )
      const given = read.flatMap(([symbol, share]) =>
        share.success ? [[symbol, share.data] as const] : [],
      )
      if (given.length === parts.length && parts.every((part) => part.length === 2))
        return new Map(given)
      context.addIssue('write SYMBOL:SHARE,SYMBOL:SHARE with shares from -0.99 to 10')
      return z.NEVER
    })
    .meta({ description: '`BTCUSDT:-0.2,ETHUSDT:-0.1`: those that move by another share' }),
  fill: z.enum(['none', 'reached', 'all']).default('reached').meta({
    description: 'which resting orders are filled: those that a straight move comes to, or all',
  }),
})

const outcome = {
  equity: known.meta({ description: 'null: a part of it is not known' }),
  change: amount.meta({ description: 'of the equity' }),
  need: known.meta({ description: 'maintenance margin and the fee of closing; null: not known' }),
  free: known.meta({ description: 'equity that nothing needs' }),
  marginRatio: z.number().nullable().meta({
    description:
      'the maintenance margin ratio of the account, need over equity; null: not known, or nothing is left',
  }),
  isLiquidated: z.boolean().meta({ description: 'on the way there' }),
}

/** @returns a note of `notCounted` */
export function describeStranger(symbol: string): string {
  return `${symbol} is not an instrument of this account`
}

export const whatIfSchema = z.strictObject({
  name: z.string(),
  coin: z.string().meta({ description: 'the margin coin, of all amounts' }),
  equity: known.meta({ description: 'now; null: not known' }),
  prices: z
    .record(z.string(), z.strictObject({ price: z.number(), at: instant }))
    .meta({ description: 'by instrument: from where it moves, and of when that price is' }),
  notCounted: z
    .array(z.string())
    .meta({ description: 'what is missing in these figures, in words' }),
  scenario: z.strictObject({
    moves: z.record(z.string(), z.number()),
    fill: z.enum(['none', 'reached', 'all']),
    filled: z.int().meta({ description: 'orders' }),
    realised: amount,
    fees: amount,
    funding: amount.meta({ description: 'the next payment: zero or less' }),
    ...outcome,
    liquidation: z
      .strictObject({
        moves: z.record(z.string(), z.number()),
        prices: z.record(z.string(), z.number()),
      })
      .nullable()
      .meta({
        description: 'the first one on this way, or farther on it; null: none, or not known',
      }),
    positions: z.array(
      z.strictObject({
        symbol: z.string(),
        side: z.enum(['long', 'short']),
        size: z.number(),
        entryPrice: z.number(),
        price: z.number(),
        worth: amount,
        profit: amount.meta({ description: 'not realised' }),
        need: known,
      }),
    ),
  }),
  rows: z.array(z.strictObject({ move: z.number(), ...outcome })),
  curve: z
    .strictObject({
      moves: z.array(z.number()),
      none: z
        .array(z.number().nullable())
        .meta({ description: 'equity, if no resting order is filled' }),
      reached: z
        .array(z.number().nullable())
        .meta({ description: 'equity, if those on the way are' }),
      liquidations: z
        .strictObject({
          none: z.array(z.number()),
          reached: z.array(z.number()),
        })
        .meta({ description: 'moves at which the first one comes, down and up' }),
    })
    .meta({ description: 'equity against the move of the whole market' }),
})

export type WhatIfQuery = z.output<typeof whatIfQuerySchema>
export type WhatIfView = z.infer<typeof whatIfSchema>
