import { type Decimal } from '../../lib/decimal.ts'
import { type SpotFeeSums } from './spot-order.ts'

/** What a fee detail is written from. */
export interface FeeDetailFacts {
  readonly fees: SpotFeeSums
  readonly deductsFee: boolean
  readonly obtainedCoin: string
  readonly platformCoin: string
}

/**
 * Document: feeDetail, "a JSON document serialized into a string". Amounts are JSON numbers, negative when
 * the account pays, in all their digits. Recent orders have the key `newFees`; earlier ones a key named
 * after the fee-deduction coin; the detail endpoint writes both, in the alphabet's order.
 */
export function feeDetailText(facts: FeeDetailFacts, keys: readonly ('newFees' | 'coin')[]): string {
  const name = facts.deductsFee ? facts.platformCoin : facts.obtainedCoin
  const parts = keys.map((key) =>
    key === 'coin'
      ? ([name, coinText(facts, name)] as const)
      : (['newFees', newFeesText(facts.fees)] as const),
  )
  const sorted = [...parts].sort(([one], [other]) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1))
  return `{${sorted.map(([key, text]) => `"${key}":${text}`).join(',')}}`
}

function newFeesText({ deducted, remainder, total }: SpotFeeSums): string {
  const [d, r, t] = [paid(deducted), paid(remainder), paid(total)]
  return `{"c":0,"d":${d},"deduction":false,"r":${r},"t":${t},"totalDeductionFee":0}`
}

function coinText({ fees, deductsFee }: FeeDetailFacts, name: string): string {
  const [deducted, total] = [paid(fees.deducted), paid(fees.total)]
  return `{"deduction":${deductsFee},"feeCoinCode":"${name}","totalDeductionFee":${deducted},"totalFee":${total}}`
}

function paid(amount: Decimal): string {
  return amount.eq('0') ? '0' : amount.times('-1').toString()
}
