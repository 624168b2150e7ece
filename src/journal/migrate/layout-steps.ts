import type { DatabaseSync } from 'node:sqlite'
import { fillKey } from '../../domain/fill.ts'
import { BLOCKS_TABLE, FILLS_TABLE, type JournalNature, LAYOUT } from '../journal-layout.ts'
import { renameRows } from '../tables/book-table.ts'
import { readBuckets } from '../tables/key-table.ts'
import { type RowsSum, sumToText } from '../tables/rows-sum.ts'
import { sealOf } from '../verify-journal.ts'

interface LayoutStep {
  /** SQL for a file's tables. */
  readonly file: string
  /** SQL for a server's schema; empty if tables stay. */
  readonly server: string
  /**
   * Changes rows, in a file of the present layout; a server's rows too, which are then written
   * back. Records never change; rows of the book get new digests and a new seal.
   */
  readonly rows?: (database: DatabaseSync, nature: JournalNature) => void
}

/** Keyed by the layout that a step starts from. */
const STEPS: Readonly<Record<number, LayoutStep>> = {
  // Packed records; a server's are never packed.
  5: { file: BLOCKS_TABLE, server: '' },
  // A fill is named by trade and order. Kind and other fees of earlier fills are unknown. On a
  // server a standby states how its trading would differ.
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

export function stepsFrom(layout: number): readonly LayoutStep[] {
  return Array.from({ length: LAYOUT - layout }, (_, index) => {
    const step = STEPS[layout + index]
    if (step === undefined)
      throw new Error(`unreachable: no step leads from layout ${layout + index} on`)
    return step
  })
}

/**
 * Earlier books named fills by trade alone. A fill whose row is archived keeps that name: the book
 * accepts it for any order.
 */
function nameFillsByOrder(database: DatabaseSync, { first }: JournalNature): void {
  const orders = database.prepare('SELECT orderId FROM fills WHERE tradeId = ?')
  const book = renameRows(database, first, 'trades', (tradeId) => {
    const orderId = orders.get(tradeId)?.['orderId']
    return orderId === undefined ? tradeId : fillKey({ tradeId, orderId: String(orderId) })
  })
  sealAnew(database, book)
}

/** @param book sum of its present rows */
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
