import type { JournalQuery, JournalRowView } from '../../control/detail-views.ts'
import type { JournalRecord } from '../../domain/record.ts'
import type { ExplainFrame } from '../../views/explain/explain-order.ts'
import { describeRecord } from '../../views/explain/explain-symbol.ts'

/** Ends the search for a text that is in no record. */
const RECORDS_READ_MAX = 200_000
const TEXT_MAX = 1000

export function searchJournal(frame: ExplainFrame, query: JournalQuery): readonly JournalRowView[] {
  const { containing, strategy, kind, before, limit } = query
  const text = strategy === undefined ? containing : JSON.stringify(strategy)
  const rows: JournalRowView[] = []
  let looked = 0
  const records = frame.reader.records({
    newestFirst: true,
    ...(text === '' ? {} : { containing: text }),
    ...(kind === undefined ? {} : { kinds: [kind as JournalRecord['kind']] }),
    ...(before === undefined ? {} : { behind: before }),
  })
  for (const { sequence, record } of records) {
    if (++looked > RECORDS_READ_MAX || rows.length >= limit) break
    if (strategy !== undefined && (!('strategyId' in record) || record.strategyId !== strategy))
      continue
    const symbols = symbolsOf(record)
    for (const symbol of symbols.length === 0 ? [''] : symbols) {
      for (const [what, words] of describeRecord(frame.instruments, record, symbol))
        rows.push({
          sequence,
          at: record.at,
          what,
          text: words.slice(0, TEXT_MAX),
          symbols: [...symbols],
        })
    }
  }
  return rows
}

function symbolsOf(record: JournalRecord): readonly string[] {
  if (record.kind === 'decision') {
    const changes = [...(record.quotes ?? []), ...(record.targets ?? []), ...(record.places ?? [])]
    return [...new Set(changes.map(({ symbol }) => symbol))]
  }
  if (record.kind === 'fills') return [...new Set(record.fills.map(({ symbol }) => symbol))]
  if (record.kind === 'cancel') return record.symbols.slice(0, 1)
  if ('symbol' in record) return [record.symbol]
  return 'scope' in record ? [record.scope] : []
}
