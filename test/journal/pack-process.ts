// Packs a block of old records, in a process that a test kills in the midst of it: `node pack-process.ts FILE RECORDS`.
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

const [, , file = '', records] = process.argv
const journal = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
for (let at = 1; at <= Number(records); at++) {
  journal.append({ kind: 'released', at, scope: '*', reason: 'looked', by: 'anna' })
}
journal.saveCheckpoint([])
journal.flush()
journal.close()
