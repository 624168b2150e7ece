import {
  type ImportedPrices,
  type ImportedFunding,
  isClean,
} from '../../prices/import/import-prices.ts'
import { writeOut } from '../../lib/write-out.ts'
import { EXITS } from '../process/exit-codes.ts'
import { describeFeed, type WrittenFeed } from './feed-report.ts'
import { describeHeader, describeImport, describeLine } from './price-report.ts'

interface PrintOptions {
  readonly json: boolean
  readonly isStrict: boolean
  readonly feeds?: () => readonly WrittenFeed[]
}

export async function printImports(
  imports: AsyncIterable<ImportedPrices | ImportedFunding> | Iterable<ImportedPrices>,
  { json, isStrict, feeds }: PrintOptions,
): Promise<number> {
  const all: object[] = []
  let exitCode = 0
  for await (const one of imports) {
    if (isStrict && !isClean(one)) exitCode = EXITS.inputWrong
    const at = 'rows' in one ? one.rows.at : one.at
    if (!json && all.length === 0) writeOut(`${describeHeader()}\n`)
    if (!json) writeOut(`${describeLine({ ...one, at })}\n${describeImport(one)}\n`)
    all.push(toJson(one, at))
  }
  const written = feeds?.() ?? []
  if (!json) for (const feed of written) writeOut(`${describeFeed(feed)}\n`)
  else {
    all.push(...written.map((feed) => ({ kind: 'feed', ...feed })))
    writeOut(`${JSON.stringify(all, undefined, 2)}\n`)
  }
  return exitCode
}

function toJson(one: ImportedPrices | ImportedFunding, at: Float64Array): object {
  const span = { rows: at.length, from: at[0], to: at[at.length - 1] }
  if ('rows' in one) return { kind: one.rows.kind, ...one, ...span }
  const { symbol, name, sources, findings, gaps, written } = one
  return { kind: 'funding', symbol, name, sources, findings, gaps, written, ...span }
}
