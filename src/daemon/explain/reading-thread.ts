// Reading a week of records takes longer than a price may wait, so it is done in this thread.

import { dirname } from 'node:path'
import { readGrids } from '../../assembly/state/known-grids.ts'
import { messageOf } from '../../lib/failure.ts'
import { hearPosted, runTask } from '../../lib/supervised-thread.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { listBacktests } from './backtest-list.ts'
import { findStories } from '../../views/explain/find-stories.ts'
import type { ExplainContext } from '../../views/explain/explain-order.ts'
import { TradeHistory } from '../../views/closed-trades.ts'
import { readLastFills } from '../../views/last-fills.ts'
import { readProfit } from '../../views/profit-sums.ts'
import { viewKeptCurve, viewKeptPlots } from '../../views/kept-curve.ts'
import type { ReadingReply, ReadingRequest, ReadingData, Reading } from './background-readings.ts'
import type { JournalQuery, JournalRowView } from '../../control/detail-views.ts'
import type { JournalRecord } from '../../domain/record.ts'
import { describeRecord } from '../../views/explain/explain-symbol.ts'

/** Ends the search for a text that is in no record. */
const RECORDS_READ_MAX = 200_000
const TEXT_MAX = 1000

/** Kept as long as the thread lives, because an open page asks again and again. */
let trades: TradeHistory | undefined

await runTask<ReadingData, ReadingReply>((data, report) =>
  hearPosted<ReadingRequest>(({ id, reading }) => {
    try {
      report({ id, found: answer(data, reading) })
    } catch (error) {
      report({ id, reason: messageOf(error) })
    }
  }),
)

function answer(data: ReadingData, reading: Reading): unknown {
  if (reading.kind === 'backtests') return listBacktests(data.backtests)
  const reader = new JournalReader(data.journal)
  try {
    if (reading.kind === 'curve') return viewKeptCurve(reader, reading.since)
    if (reading.kind === 'plots') return viewKeptPlots(reader, reading.symbol, reading.since)
    const { account, instruments, calendar } = data.config
    const { positionMode } = account
    if (reading.kind === 'fills') return readLastFills(reader, positionMode, reading.query)
    if (reading.kind === 'profit')
      return readProfit(reader, { positionMode, timeZone: calendar.timezone }, reading.query)
    const frame: ExplainContext = {
      reader,
      instruments: new Map([
        ...readGrids(dirname(data.journal)),
        ...toInstruments({ account, instruments }),
      ]),
      positionMode,
    }
    if (reading.kind === 'journal') return searchJournal(frame, reading.query)
    if (reading.kind === 'trades')
      return (trades ??= new TradeHistory(frame.positionMode)).read(reader, reading.query)
    return findStories(frame, reading.query)
  } finally {
    reader.close()
  }
}

function searchJournal(frame: ExplainContext, query: JournalQuery): readonly JournalRowView[] {
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
