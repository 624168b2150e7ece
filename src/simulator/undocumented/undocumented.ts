import { futuresAccountRows } from './futures-account.ts'
import { futuresMarketRows } from './futures-market.ts'
import { futuresOrderRows } from './futures-orders.ts'
import { marginRows } from './margin.ts'
import { planOrderRows } from './plan-orders.ts'
import { spotRows } from './spot.ts'

export const undocumentedParts = {
  futures: { ...futuresMarketRows, ...futuresAccountRows, ...futuresOrderRows, ...planOrderRows },
  spot: spotRows,
  margin: marginRows,
}

export const undocumentedRows = {
  ...undocumentedParts.futures,
  ...undocumentedParts.spot,
  ...undocumentedParts.margin,
}

export function answersOf<Rows extends Readonly<Record<string, { readonly answer: unknown }>>>(
  rows: Rows,
) {
  const answers = Object.entries(rows).map(([name, { answer }]) => [name, answer])
  return Object.fromEntries(answers) as { readonly [Name in keyof Rows]: Rows[Name]['answer'] }
}
