import type { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../../lib/failure.ts'
import type { Flaw } from '../journal-failures.ts'
import { type JournalMeta, makeTables, removeDatabase } from '../journal-layout.ts'
import { openReplica } from '../postgres/replica.ts'
import { type ExpectedCopy, findCopyFlaw } from './prove-copy.ts'

interface FileToMake {
  readonly file: string
  readonly meta: JournalMeta
  readonly refuse: (flaw: Flaw) => Failure
}

/**
 * Makes the file anew, has it filled, and proves it; the caller closes the database.
 * @param read fetches the tables, and returns what they must be
 * @throws the failure that `refuse` builds of the first flaw
 */
export async function makeProvedFile(
  { file, meta, refuse }: FileToMake,
  read: (database: DatabaseSync) => Promise<ExpectedCopy>,
): Promise<ExpectedCopy & { readonly database: DatabaseSync }> {
  removeDatabase(file)
  const database = openReplica(file)
  try {
    makeTables(database, meta)
    const expected = await read(database)
    const flaw = findCopyFlaw({ database, meta }, expected)
    if (flaw) throw refuse(flaw)
    return { ...expected, database }
  } catch (error) {
    database.close()
    throw error
  }
}
