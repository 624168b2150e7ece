// A thread that reads the journal and reports of backtests for whoever looks at a daemon: to read a week of records
// takes longer than a price may wait.

import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/failure.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { listBacktests } from './backtest-list.ts'
import { explainKey } from '../../views/explain/explain-key.ts'
import { explainOrder, type ExplainFrame } from '../../views/explain/explain-order.ts'
import { searchJournal } from './journal-search.ts'
import type { Asked, ReadingData, Reading } from './reading-data.ts'

const data = workerData as ReadingData

parentPort?.on('message', ({ id, reading }: Asked) => {
  try {
    parentPort?.postMessage({ id, found: answer(reading) })
  } catch (error) {
    parentPort?.postMessage({ id, reason: messageOf(error) })
  }
})

function answer(reading: Reading): unknown {
  if (reading.kind === 'backtests') return listBacktests(data.backtests)
  const reader = new JournalReader(data.journal)
  try {
    const { account, instruments } = data.config
    const frame: ExplainFrame = {
      reader,
      instruments: toInstruments({ account, instruments }),
      positionMode: account.positionMode,
    }
    if (reading.kind === 'journal') return searchJournal(frame, reading.query)
    const order = explainOrder(frame, reading.subject)
    return order === undefined ? explainKey(frame, reading.subject) : [order]
  } finally {
    reader.close()
  }
}
