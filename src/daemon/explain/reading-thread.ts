// Reading a week of records takes longer than a price may wait.

import { dirname } from 'node:path'
import { readGrids } from '../../assembly/state/known-grids.ts'
import { messageOf } from '../../lib/failure.ts'
import { hearPosted, runTask } from '../../lib/supervised-thread.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { listBacktests } from './backtest-list.ts'
import { explainKey } from '../../views/explain/explain-key.ts'
import { explainOrder, type ExplainFrame } from '../../views/explain/explain-order.ts'
import { TradeHistory } from '../../views/closed-trades.ts'
import { viewKeptCurve } from '../../views/kept-curve.ts'
import { viewKeptPlots } from '../../views/kept-plots.ts'
import { searchJournal } from './journal-search.ts'
import type { ReadingReply, ReadingRequest, ReadingData, Reading } from './readings.ts'

/** Kept as long as the thread: a page that is looked at asks again and again. */
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
    const { account, instruments } = data.config
    const frame: ExplainFrame = {
      reader,
      instruments: new Map([
        ...readGrids(dirname(data.journal)),
        ...toInstruments({ account, instruments }),
      ]),
      positionMode: account.positionMode,
    }
    if (reading.kind === 'journal') return searchJournal(frame, reading.query)
    if (reading.kind === 'trades')
      return (trades ??= new TradeHistory(frame.positionMode)).read(reader, reading.query)
    const order = explainOrder(frame, reading.subject)
    return order === undefined ? explainKey(frame, reading.subject) : [order]
  } finally {
    reader.close()
  }
}
