import { applyRecord } from '../../../src/engine/book/apply-record.ts'
import { type Book, createBook } from '../../../src/engine/book/book.ts'
import { fromBookRows, toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { type BookRow, type JournalContents } from '../../../src/journal/journal.ts'
import { violate, type World, type WorldWatcher } from '../world/world.ts'

/**
 * One of this many prefixes is also written as a checkpoint, folded on, and used to begin a run.
 */
const LOOK_EVERY = 40

/** A book and a run can be made of any prefix of the journal, with a checkpoint at any place. */
export function watchPrefixes(world: World): WorldWatcher {
  if (!world.plan.hasPrefixes) return {}
  const check = (): void => checkPrefixes(world, world.process.journal.loadOlder())
  return { onDeath: check, atEnd: check }
}

function checkPrefixes(world: World, { checkpoint, records }: JournalContents): void {
  const { positionMode } = world.plan
  const whole = textOf(rebuildBook({ checkpoint, records }, positionMode))
  const book = checkpoint === undefined ? createBook(positionMode) : fromBookRows(checkpoint)
  for (const [index, record] of records.entries()) {
    if (index % LOOK_EVERY === 0) {
      const kept = JSON.parse(textOf(book)) as readonly BookRow[]
      const rest = records.slice(index)
      if (textOf(rebuildBook({ checkpoint: kept, records: rest }, positionMode)) !== whole)
        violate(world, 'DET2', `a checkpoint before record ${index} makes another book`)
      createEngine(
        world.settings,
        rebuildBook({ checkpoint: kept, records: [] }, positionMode),
      ).step({ kind: 'started' }, world.time.now)
    }
    applyRecord(book, record)
  }
  if (textOf(book) !== whole) violate(world, 'DET2', 'record by record the book is another')
}

function textOf(book: Book): string {
  return JSON.stringify(toBookRows(book))
}
