import type { DatabaseSync } from 'node:sqlite'
import { fillKey } from '../../domain/fill.ts'
import { BLOCKS_TABLE, FILLS_TABLE, type JournalNature, LAYOUT } from '../journal-layout.ts'
import { renameRows } from '../tables/book-table.ts'
import { readBuckets } from '../tables/key-table.ts'
import { type RowsSum, sumToText } from '../tables/rows-sum.ts'
import { sealOf } from '../verify-journal.ts'

/** What makes a journal of the next layout. */
interface LayoutStep {
  /** How the tables of a file change. */
  readonly file: string
  /** How those on a server change, in its schema; empty where they stay as they are. */
  readonly server: string
  /**
   * Which rows become others, in a file whose tables have the present layout already. The rows of a server are changed
   * in such a file too, and go back from there. Records are never changed; rows of the book get new digests and seal.
   */
  readonly rows?: (database: DatabaseSync, nature: JournalNature) => void
}

/** By the layout from which a step leads to the next one. A new layout is one more entry. */
const STEPS: Readonly<Record<number, LayoutStep>> = {
  // Packed records. A server's are never packed.
  5: { file: BLOCKS_TABLE, server: '' },
  // A fill is named by trade and order. Its kind and its fees in other coins are unknown for fills of before.
  // On a server a standby says what it would trade otherwise.
  6: {
    file: `
      DROP INDEX fills_by_time;
      ALTER TABLE fills RENAME TO fills_before;
      ${FILLS_TABLE}
      INSERT INTO fills SELECT tradeId, at, orderId, clientOid, strategyId, owner, symbol, side, tradeSide, price, size,
        profit, fee, coin, scope, source, '', '', digest FROM fills_before;
      DROP TABLE fills_before;`,
    server: `
      ALTER TABLE fills ADD COLUMN "fillKind" text NOT NULL DEFAULT '', ADD COLUMN "otherFees" text NOT NULL DEFAULT '';
      ALTER TABLE fills ALTER COLUMN "fillKind" DROP DEFAULT, ALTER COLUMN "otherFees" DROP DEFAULT,
        DROP CONSTRAINT fills_pkey, ADD PRIMARY KEY ("tradeId", "orderId");
      ALTER TABLE followers ADD COLUMN differs text NOT NULL DEFAULT '';`,
    rows: nameFillsByOrder,
  },
}

/** The steps from a layout to the present one. */
export function stepsFrom(layout: number): readonly LayoutStep[] {
  return Array.from({ length: LAYOUT - layout }, (_, index) => {
    const step = STEPS[layout + index]
    if (step === undefined)
      throw new Error(`unreachable: no step leads from layout ${layout + index} on`)
    return step
  })
}

/** The book has known fills by trade alone. One whose row is archived stays so: the book takes it for any order's. */
function nameFillsByOrder(database: DatabaseSync, { first }: JournalNature): void {
  const orders = database.prepare('SELECT orderId FROM fills WHERE tradeId = ?')
  const book = renameRows(database, first, 'trades', (tradeId) => {
    const orderId = orders.get(tradeId)?.['orderId']
    return orderId === undefined ? tradeId : fillKey({ tradeId, orderId: String(orderId) })
  })
  sealAnew(database, book)
}

/** @param book The sum of its rows as they are now. */
function sealAnew(database: DatabaseSync, book: RowsSum): void {
  const row = database.prepare('SELECT sequence, link, booked FROM checkpoints').get()
  if (row === undefined) return
  const mark = { sequence: Number(row['sequence']), link: String(row['link']) }
  const seal = sealOf(mark, {
    book,
    keys: readBuckets(database).sum,
    booked: String(row['booked']),
  })
  database
    .prepare('UPDATE checkpoints SET rows = ?, sum = ?, seal = ?')
    .run(book.rows, sumToText(book), seal)
}
