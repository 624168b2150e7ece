import type { DatabaseSync } from 'node:sqlite'
import { fillKey } from '../../domain/fill.ts'
import {
  BLOCKS_TABLE,
  CURVES_TABLE,
  FILLS_TABLE,
  type JournalMeta,
  LAYOUT,
} from '../journal-layout.ts'
import { renameRows } from '../tables/book-table.ts'
import { readBuckets } from '../tables/key-table.ts'
import { type RowsSum, sumToText } from '../tables/rows-sum.ts'
import { sealOf } from '../verified-prefix.ts'

interface LayoutStep {
  readonly file: string
  /** Empty if the server's tables stay. */
  readonly server: string
  /**
   * Changes rows in a file whose tables are already the new ones; a server's rows are fetched,
   * changed, and written back. Records never change.
   */
  readonly rows?: (database: DatabaseSync, meta: JournalMeta) => void
}

const FILLS_TABLE_7 = `
  CREATE TABLE fills (
    tradeId TEXT NOT NULL, at INTEGER NOT NULL, orderId TEXT NOT NULL, clientOid TEXT NOT NULL,
    strategyId TEXT NOT NULL, owner TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL,
    tradeSide TEXT NOT NULL, price TEXT NOT NULL, size TEXT NOT NULL, profit TEXT NOT NULL, fee TEXT NOT NULL,
    coin TEXT NOT NULL, scope TEXT NOT NULL, source TEXT NOT NULL, fillKind TEXT NOT NULL,
    otherFees TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (tradeId, orderId)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fills_by_time ON fills (at);
`

const STEPS: Readonly<Record<number, LayoutStep>> = {
  // A server's records are never packed.
  5: { file: BLOCKS_TABLE, server: '' },
  // Fills are named by trade and order, and have kind and other fees; a standby states how its
  // trading would differ.
  6: {
    file: `
      DROP INDEX fills_by_time;
      ALTER TABLE fills RENAME TO fills_before;
      ${FILLS_TABLE_7}
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
  // Fills have the reason and the tag of their order. Curves begin empty.
  7: {
    file: `
      DROP INDEX fills_by_time;
      ALTER TABLE fills RENAME TO fills_before;
      ${FILLS_TABLE}
      INSERT INTO fills SELECT tradeId, at, orderId, clientOid, strategyId, owner, symbol, side, tradeSide, price, size,
        profit, fee, coin, scope, source, fillKind, otherFees, '', '', digest FROM fills_before;
      DROP TABLE fills_before;
      ${CURVES_TABLE}`,
    server: `
      ALTER TABLE fills ADD COLUMN "reason" text NOT NULL DEFAULT '', ADD COLUMN "tag" text NOT NULL DEFAULT '';
      ALTER TABLE fills ALTER COLUMN "reason" DROP DEFAULT, ALTER COLUMN "tag" DROP DEFAULT;
      CREATE TABLE curves ("series" text NOT NULL, "step" bigint NOT NULL, "at" bigint NOT NULL,
        "value" text NOT NULL, "digest" text NOT NULL, PRIMARY KEY ("series", "step", "at"));`,
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
 * Earlier books named fills by trade alone. An archived fill keeps that name, and the book accepts
 * it for any order.
 */
function nameFillsByOrder(database: DatabaseSync, { firstLink }: JournalMeta): void {
  const orders = database.prepare('SELECT orderId FROM fills WHERE tradeId = ?')
  const book = renameRows(database, firstLink, 'trades', (tradeId) => {
    const orderId = orders.get(tradeId)?.['orderId']
    return orderId === undefined ? tradeId : fillKey({ tradeId, orderId: String(orderId) })
  })
  sealAnew(database, book)
}

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
