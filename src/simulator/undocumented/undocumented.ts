import { accountRows } from './account-rows.ts'
import { marginRows } from './margin-rows.ts'
import { marketRows } from './market-rows.ts'
import { orderRows } from './order-rows.ts'
import { planOrderRows } from './plan-order-rows.ts'
import { spotRows } from './spot-rows.ts'

/** Every endpoint outside the document, by the part of the exchange that answers it. */
export const undocumentedParts = {
  futures: { ...marketRows, ...accountRows, ...orderRows, ...planOrderRows },
  spot: spotRows,
  margin: marginRows,
}

/** All of them in one table. */
export const undocumentedRows = {
  ...undocumentedParts.futures,
  ...undocumentedParts.spot,
  ...undocumentedParts.margin,
}

/** What answers the rows, by their names. */
export function answersOf<Rows extends Readonly<Record<string, { readonly answer: unknown }>>>(rows: Rows) {
  const answers = Object.entries(rows).map(([name, { answer }]) => [name, answer])
  return Object.fromEntries(answers) as { readonly [Name in keyof Rows]: Rows[Name]['answer'] }
}
