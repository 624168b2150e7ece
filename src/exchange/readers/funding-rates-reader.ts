import type { Answer } from '../../domain/answer.ts'
import { FUNDING_PAGE_MAX } from '../../protocol/beyond/funding-rates.ts'
import type { ProductType } from '../../domain/instrument.ts'
import { PRIORITY } from '../limiter/grant.ts'
import { type BeyondCaller, unreadableRow } from './candles-reader.ts'

export interface FundingPayment {
  readonly at: number
  /** A share of the position, paid by longs: 0.0001 is 1 bp. */
  readonly rate: number
}

export interface FundingRatesQuery {
  readonly productType: ProductType
  readonly symbol: string
  /** From 1: the newest payments. */
  readonly page: number
}

const RATE = /^-?\d{1,5}(\.\d{1,20})?$/

export async function readFundingRates(
  caller: BeyondCaller,
  { productType, symbol, page }: FundingRatesQuery,
): Promise<Answer<readonly FundingPayment[]>> {
  const request = { productType, symbol, pageSize: String(FUNDING_PAGE_MAX), pageNo: String(page) }
  const options = { priority: PRIORITY.background }
  const answer = await caller.call('historyFundRate', request, options)
  if (answer.kind !== 'accepted') return answer
  const payments: FundingPayment[] = []
  for (const { fundingTime, fundingRate } of answer.data) {
    if (!/^\d{10,16}$/.test(fundingTime) || !RATE.test(fundingRate))
      return unreadableRow(answer, `${fundingTime}, ${fundingRate} is no payment of funding`)
    payments.push({ at: Number(fundingTime), rate: Number(fundingRate) })
  }
  return { ...answer, data: payments }
}
