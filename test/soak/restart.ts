// A restart, measured: `node test/soak/restart.ts JOURNAL` opens the journal of a soak, which waits meanwhile, and
// rebuilds the book. Prints a Restart as JSON.

import { createHash } from 'node:crypto'
import { type Book } from '../../src/engine/book/book.ts'
import { toBookRows } from '../../src/engine/book/book-rows.ts'
import { openSoakJournal, restoreBook } from './soak-journal.ts'

export interface Restart {
  /** CPU of the process, ms. */
  readonly cpuMs: number
  /** Of the book. */
  readonly digest: string
}

export function digestOf(book: Book): string {
  const hash = createHash('sha256')
  for (const { name, key, value } of toBookRows(book)) hash.update(`${name} ${key} ${value}\n`)
  return hash.digest('hex')
}

function measureRestart(file: string): Restart {
  const before = process.cpuUsage()
  const journal = openSoakJournal(file, () => 0)
  const book = restoreBook(journal)
  const { user, system } = process.cpuUsage(before)
  journal.close()
  return { cpuMs: (user + system) / 1000, digest: digestOf(book) }
}

const [, script, file] = process.argv
if (script === import.meta.filename && file !== undefined)
  console.log(JSON.stringify(measureRestart(file)))
