import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type BookedFill,
  type BookedFunding,
  type BookedRow,
  type Booking,
} from '../../src/journal/booking.ts'
import { type BookingStore, type Journal } from '../../src/journal/journal.ts'
import { repairJournal } from '../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

const DAY_MS = 86_400_000

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bookings-'))
  file = join(folder, 'journal.sqlite')
})

afterEach(() => rmSync(folder, { recursive: true }))

const open = (): Journal & BookingStore =>
  openSqliteJournal({ file, identity: 'live 1', keepSince: () => Number.MAX_SAFE_INTEGER })

function fillOf(tradeId: string, at: number): BookedFill {
  const owned = { clientOid: 'c', strategyId: 's', owner: 'strategy' } as const
  const words = {
    symbol: 'A',
    side: 'buy',
    tradeSide: 'open',
    coin: 'U',
    scope: 'maker',
    source: 'API',
  }
  const amounts = { price: '10.5', size: '0.1', profit: '-0.2', fee: '0.01' }
  const added = { fillKind: 'trade', otherFees: 'BGB 0.011', reason: 'stop', tag: 'dip' } as const
  return {
    kind: 'fill',
    tradeId,
    at,
    orderId: `o${tradeId}`,
    ...owned,
    ...words,
    ...amounts,
    ...added,
  }
}

const fundingOf = (id: string, at: number): BookedFunding => ({
  kind: 'funding',
  id,
  at,
  symbol: 'A',
  side: 'long',
  amount: '-0.5',
  coin: 'U',
})

function book(journal: Journal, ...bookings: Booking[]): void {
  journal.append({ kind: 'foreign', at: 1, symbol: 'A', orderIds: [] }, bookings)
  journal.flush()
}

function damageBy(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

function reading<Value>(read: (journal: Journal & BookingStore) => Value): Value {
  const journal = open()
  try {
    return read(journal)
  } finally {
    journal.close()
  }
}

const idsOf = (rows: Iterable<BookedRow>): readonly string[] =>
  [...rows].map((row) => (row.kind === 'fill' ? row.tradeId : row.id))

describe('[DET2] what records have booked', () => {
  test('is read back to the digit, the oldest first, whatever becomes of the records', () => {
    const rows = [fillOf('b', 2), fillOf('a', DAY_MS + 1), fillOf('c', 1)]
    reading((journal) => {
      for (const row of rows) book(journal, row)
      book(journal, fundingOf('f', 5))
      journal.saveCheckpoint([])
      book(journal, fillOf('d', 3 * DAY_MS))
      journal.saveCheckpoint([])
    })

    const [fills, fundings] = reading((journal) => [
      [...journal.bookings('fill')],
      [...journal.bookings('funding')],
    ])
    expect(fills).toEqual([rows[2], rows[0], rows[1], fillOf('d', 3 * DAY_MS)])
    expect(fundings).toEqual([fundingOf('f', 5)])
    expect(reading((journal) => journal.load().records)).toEqual([])
  })

  test('is given out of a span of time alone', () => {
    reading((journal) => {
      for (const at of [1, 2, DAY_MS, DAY_MS + 5, 4 * DAY_MS]) book(journal, fillOf(`${at}`, at))
    })

    const span = { since: 2, until: DAY_MS + 5 }
    expect(idsOf(reading((journal) => [...journal.bookings('fill', span)]))).toEqual([
      '2',
      `${DAY_MS}`,
    ])
  })

  test('gets its owner when that is known, and stands once when it is booked twice', () => {
    const waiting = { ...fillOf('a', 1), clientOid: '', strategyId: '', owner: 'waiting' } as const
    reading((journal) => {
      book(journal, waiting)
      book(journal, { ...fillOf('b', 1), at: DAY_MS })
      book(journal, fillOf('b', 1))
    })
    const noted = { reason: 'stop', tag: 'dip' } as const
    const owned = { clientOid: 'c', strategyId: 's', owner: 'strategy', ...noted } as const
    const owner = { kind: 'owner', tradeId: 'a', orderId: 'oa', ...owned } as const
    reading((journal) => book(journal, owner, { ...owner, tradeId: 'of an archived fill' }))

    expect(reading((journal) => [...journal.bookings('fill')])).toEqual([
      fillOf('a', 1),
      fillOf('b', 1),
    ])
  })

  test('stands for each order of a trade, and an owner found is that of one of the two', () => {
    const waiting = { clientOid: '', strategyId: '', owner: 'waiting' } as const
    const twins = ['buyer', 'seller'].map((orderId) => ({ ...fillOf('a', 1), orderId, ...waiting }))
    reading((journal) => book(journal, ...twins))
    const noted = { reason: 'stop', tag: 'dip' } as const
    const owned = { clientOid: 'c', strategyId: 's', owner: 'strategy', ...noted } as const
    reading((journal) =>
      book(journal, { kind: 'owner', tradeId: 'a', orderId: 'seller', ...owned }),
    )

    expect(reading((journal) => [...journal.bookings('fill')])).toEqual([
      twins[0],
      { ...twins[1], ...owned },
    ])
  })

  test('is lost with its record, and only then, when the process is killed', () => {
    const journal = open()
    book(journal, fillOf('a', 1))
    journal.append({ kind: 'foreign', at: 1, symbol: 'A', orderIds: [] }, [fillOf('b', 1)])
    const copy = join(folder, 'copy.sqlite')
    for (const part of ['', '-wal', '.mark'])
      writeFileSync(`${copy}${part}`, readFileSync(`${file}${part}`))
    journal.close()
    file = copy

    const [records, ids] = reading((killed) => [
      killed.load().records.length,
      idsOf(killed.bookings('fill')),
    ])
    expect([records, ids]).toEqual([1, ['a']])
  })

  test.each([
    ['has another price', "UPDATE fills SET price = '10.6' WHERE tradeId = 'b'"],
    ['has another kind', "UPDATE fills SET fillKind = 'liquidation' WHERE tradeId = 'b'"],
    ['has no kind any more', "UPDATE fills SET fillKind = '', otherFees = '' WHERE tradeId = 'b'"],
    ['has another reason', "UPDATE fills SET reason = 'flatten' WHERE tradeId = 'b'"],
    [
      'has no reason and tag any more',
      "UPDATE fills SET reason = '', tag = '' WHERE tradeId = 'b'",
    ],
    ['has another order', "UPDATE fills SET orderId = 'other' WHERE tradeId = 'b'"],
    ['has another owner', "UPDATE fills SET strategyId = 't' WHERE tradeId = 'b'"],
    ['is of another day', "UPDATE fills SET at = 5 WHERE tradeId = 'b'"],
    ['is gone', "DELETE FROM fills WHERE tradeId = 'b'"],
    ['is as it was before', 'REPLACE INTO fills SELECT * FROM older'],
    ['lies on a day that has no sum', 'UPDATE booked_days SET day = -9 WHERE day = 1'],
    [
      'lies on a day whose sum is of another kind',
      "UPDATE booked_days SET kind = 'f' WHERE day = 1",
    ],
  ])('is refused when it is read, and not before, where a row %s', (_, damage) => {
    reading((journal) => {
      book(journal, fillOf('a', 1), { ...fillOf('b', DAY_MS), owner: 'waiting' })
      damageBy("CREATE TABLE older AS SELECT * FROM fills WHERE tradeId = 'b'")
      book(journal, fillOf('b', DAY_MS), fillOf('c', 2 * DAY_MS))
    })
    damageBy(damage)

    expect(() => reading((journal) => [...journal.bookings('fill')])).toThrow(
      /JOURNAL_CORRUPT[^]*a fill of 1970-01-0/,
    )
    expect(
      idsOf(reading((journal) => [...journal.bookings('fill', { since: 2 * DAY_MS })])),
    ).toEqual(['c'])
  })

  test.each([
    ['a day is gone', 'DELETE FROM booked_days WHERE day = 1'],
    ['a day has another number', 'UPDATE booked_days SET rows = 7 WHERE day = 1'],
    ['a day has another sum', "UPDATE booked_days SET sum = 'ab' WHERE day = 1"],
  ])('is refused at the start where %s', (_, damage) => {
    reading((journal) => book(journal, fillOf('a', 1), fillOf('b', DAY_MS)))
    damageBy(damage)

    expect(() => open()).toThrow(/JOURNAL_CORRUPT[^]*fills and funding payments/)
  })

  test('is carried over by a repair as far as it is whole', () => {
    reading((journal) => {
      book(journal, fillOf('a', 1), fillOf('b', DAY_MS))
      journal.saveCheckpoint([])
      book(journal, fundingOf('f', 5))
    })
    damageBy("UPDATE fills SET price = '10.6' WHERE tradeId = 'b'")

    const report = repairJournal({
      file,
      identity: 'live 1',
      stamp: 'now',
      buildRecord: (reason) => ({
        kind: 'repaired',
        at: 9,
        strategies: [],
        symbols: [],
        reason,
      }),
    })

    expect(report?.refusal.message).toContain(
      'the fills and funding payments are not as they were written',
    )
    expect(
      reading((journal) => [idsOf(journal.bookings('fill')), idsOf(journal.bookings('funding'))]),
    ).toEqual([['a'], ['f']])
  })

  test('is taken away by an archive before a time, with a record that says so', () => {
    reading((journal) => {
      book(
        journal,
        fillOf('a', 1),
        fillOf('b', DAY_MS),
        fillOf('c', DAY_MS + 5),
        fundingOf('f', 5),
        fundingOf('g', DAY_MS + 9),
      )
      journal.saveCheckpoint([])
      const counts = { fills: 2, fundings: 1, file: 'x.csv' }
      journal.dropBookings({ kind: 'archived', at: 9, before: DAY_MS + 5, ...counts })
    })

    const left = reading((journal) => [
      idsOf(journal.bookings('fill')),
      idsOf(journal.bookings('funding')),
    ])
    expect(left).toEqual([['c'], ['g']])
    expect(reading((journal) => journal.load().records)).toMatchObject([
      { kind: 'archived', before: DAY_MS + 5 },
    ])
    reading((journal) => book(journal, fillOf('d', DAY_MS + 6)))
    expect(idsOf(reading((journal) => [...journal.bookings('fill')]))).toEqual(['c', 'd'])
  })
})
