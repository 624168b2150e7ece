import { z } from 'zod'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** Digits and sign of the wire: negative when the account pays. Document: feeDetail structure. */
export interface SpotFees {
  /** Earlier data have fields under a coin's name. */
  readonly source: 'newFees' | 'coin'
  readonly total: string | undefined
  /** Deducted by coupons, in the obtained coin (`c`). */
  readonly byCoupons: string | undefined
  /** Deducted in the platform's coin (`d`, or `totalDeductionFee`). */
  readonly byPlatformCoin: string | undefined
  /** The platform coin did not cover this part (`r`). */
  readonly fromObtainedCoin: string | undefined
  /** They may be present beside `newFees`. */
  readonly coin: PaidCoinFees | undefined
}

export interface PaidCoinFees {
  readonly feeCoin: string | undefined
  readonly isDeducted: boolean | undefined
  readonly deduction: string | undefined
  readonly total: string | undefined
}

/** A number in the JSON's own digits, or in a string. */
const amount = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) =>
    value === null || value === undefined || value === '' ? undefined : String(value),
  )

const newFees = z.object({ c: amount, d: amount, r: amount, t: amount })
const coinFees = z.object({
  deduction: z.boolean().nullish(),
  feeCoinCode: z.string().nullish(),
  totalDeductionFee: amount,
  totalFee: amount,
})
const document = z.looseObject({ newFees: newFees.nullish() })

/** @returns undefined for an empty text, a sentence if it cannot be read */
export function parseFeeDetail(text: string): SpotFees | undefined | string {
  if (text === '') return undefined
  let json: unknown
  try {
    json = parseBoundedJson(text, keepDigits)
  } catch {
    return 'feeDetail is not a JSON document'
  }
  if (json === null) return undefined
  const read = document.safeParse(json)
  if (!read.success) return 'feeDetail is not an object of fees'
  const named = Object.entries(read.data).find(([key]) => key !== 'newFees')
  const coin = named === undefined ? undefined : readCoin(named)
  if (typeof coin === 'string') return coin
  const fees = read.data.newFees
  if (fees) {
    const { c: byCoupons, d: byPlatformCoin, r: fromObtainedCoin, t: total } = fees
    return { source: 'newFees', total, byCoupons, byPlatformCoin, fromObtainedCoin, coin }
  }
  if (coin === undefined) return undefined
  const { total, deduction: byPlatformCoin } = coin
  return {
    source: 'coin',
    total,
    byCoupons: undefined,
    byPlatformCoin,
    fromObtainedCoin: undefined,
    coin,
  }
}

function readCoin([key, value]: [string, unknown]): PaidCoinFees | string {
  const read = coinFees.safeParse(value)
  if (!read.success) return `feeDetail.${key.slice(0, 30)} is not an object of fees`
  const { feeCoinCode, deduction, totalDeductionFee, totalFee } = read.data
  return {
    feeCoin: feeCoinCode || key,
    isDeducted: deduction ?? undefined,
    deduction: totalDeductionFee,
    total: totalFee,
  }
}

/** A float would lose digits. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && PLAIN.test(source) ? source : value
}

const PLAIN = /^-?\d+(\.\d+)?$/
