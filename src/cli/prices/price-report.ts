import { nameInterval } from '../../prices/times.ts'
import type { Findings } from '../../prices/import/clean-tables.ts'
import type { Gaps } from '../../prices/import/gaps.ts'
import type { ImportedPrices, ImportedFunding } from '../../prices/import/import-prices.ts'
import { wrapForScreen } from '../../lib/text/wrap-words.ts'

const COLUMNS = 80

export interface PriceLine {
  readonly symbol: string
  readonly name: string
  readonly at: Float64Array
  readonly gaps: Gaps
}

export function describeHeader(): string {
  return lineOf(['symbol', 'kind', 'rows', 'from', 'to', 'gaps'])
}

export function describeLine({ symbol, name, at, gaps }: PriceLine): string {
  const [from, to] = [at[0] as number, at[at.length - 1] as number]
  return lineOf([
    symbol,
    name,
    at.length.toLocaleString('en'),
    toMinute(from),
    toMinute(to),
    String(gaps.count),
  ])
}

function lineOf([
  symbol = '',
  name = '',
  rows = '',
  from = '',
  to = '',
  gaps = '',
]: readonly string[]): string {
  return `${symbol.padEnd(14)} ${name.padEnd(7)}${rows.padStart(11)}  ${from.padEnd(16)}  ${to.padEnd(16)}  ${gaps.padStart(6)}`
}

const DONE: readonly [name: keyof Findings | 'otherPeriods', title: string, done: string][] = [
  ['disorder', 'disorder', 'out of order, sorted'],
  ['duplicates', 'duplicates', 'there already, the first kept'],
  ['conflicts', 'conflicts', 'of these with other values'],
  ['zeroPrices', 'zero prices', 'dropped'],
  ['impossible', 'impossible', 'dropped'],
  ['offInterval', 'off interval', 'between two candles, dropped'],
  ['otherPeriods', 'periods', 'are not as far after the payment before as the file says'],
  ['outliers', 'outliers', 'more than 5 times the price before, or less than a fifth of it, kept'],
]

export function describeImport(imported: ImportedPrices | ImportedFunding): string {
  const { findings, gaps, sources, written } = imported
  const { trades, leftAside, remarks } =
    'rows' in imported ? imported : { trades: 0, leftAside: [], remarks: [] }
  const lines = [
    ...(trades > 0 ? [['trades', `${trades.toLocaleString('en')}, made into candles`]] : []),
    ...describeGaps(gaps),
    ...describeFindings(findings),
    ...(leftAside.length > 0 ? [['left aside', `${leftAside.join(', ')}: not in all files`]] : []),
    ...remarks.map((remark) => ['remark', remark]),
    written
      ? [
          'written',
          `${written.file}, ${written.bytes.toLocaleString('en')} bytes, of ${countFiles(sources)}`,
        ]
      : ['refused', 'nothing is written: --strict'],
  ]
  return describeFacts(lines)
}

function countFiles(sources: readonly string[]): string {
  return sources.length === 1 ? '1 file' : `${sources.length} files`
}

export function describeFindings(
  findings: Partial<Findings & ImportedFunding['findings']>,
): readonly string[][] {
  return DONE.flatMap(([name, title, done]) => {
    const { count, first = '' } = findings[name] ?? { count: 0 }
    return count === 0 ? [] : [[title, `${count.toLocaleString('en')} ${done}; first ${first}`]]
  })
}

export function describeGaps({
  count,
  missing,
  longestMs,
  longestFrom,
}: Gaps): readonly string[][] {
  if (longestFrom === undefined) return []
  const rows = missing === undefined ? '' : `${missing.toLocaleString('en')} candles missing; `
  return [
    ['gaps', `${count}: ${rows}the longest ${nameSpan(longestMs)} from ${toMinute(longestFrom)}`],
  ]
}

export function describeFacts(facts: readonly (readonly string[])[]): string {
  return facts
    .map(([name = '', text = '']) => wrapForScreen(`  ${name.padEnd(12)} ${text}`, COLUMNS))
    .join('\n')
}

function nameSpan(ms: number): string {
  return nameInterval(ms > 60_000 ? Math.round(ms / 60_000) * 60_000 : ms)
}

function toMinute(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}
