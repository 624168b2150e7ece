// Packs a block of old records, and stores keys ahead of a checkpoint, in a process that a test kills in the midst of
// it: `node pack-process.ts FILE RECORDS KEYS`.
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

const [, , file = '', records, keys] = process.argv
const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
for (let at = 1; at <= Number(records); at++) {
  journal.append({ kind: 'released', at, scope: '*', reason: 'looked', by: 'anna' })
}
journal.saveCheckpoint([])
journal.flush()
const orders = Array.from({ length: Number(keys) }, (_, index) => ({
  purpose: 'place',
  strategyId: 's',
  key: `order ${index}`,
}))
journal.append({ kind: 'send', at: Number(records) + 1, orders } as never)
journal.commit(() => undefined)
journal.prepareCheckpoint()
journal.close()
