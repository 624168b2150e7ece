import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { countJournal } from '../../src/journal/copy/prove-copy.ts'
import { backUpFile } from '../../src/journal/copy/backup-file.ts'
import {
  ACCOUNT_SERIES,
  parsePlotSeries,
  toPlotSeries,
  type CurvePoint,
  type CurveQuery,
  toAccountPoint,
  toAccountValue,
} from '../../src/journal/curves.ts'
import { JournalReader } from '../../src/journal/journal-reader.ts'
import { openReading } from '../../src/journal/journal-layout.ts'
import { repairJournal } from '../../src/journal/repair-journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { verifyJournal } from '../../src/journal/verify-journal.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const BEGIN = Date.UTC(2026, 0, 1)

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'curves-'))
  file = join(folder, 'journal.sqlite')
})

afterEach(() => rmSync(folder, { recursive: true }))

const open = () => openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })

function pointOf(at: number, value: string, series = ACCOUNT_SERIES): CurvePoint {
  return { series, at, value }
}

function note(...points: readonly CurvePoint[]): void {
  const journal = open()
  journal.notePoints(points)
  journal.flush()
  journal.close()
}

function readAll(query: Partial<CurveQuery> = {}, from = file): readonly CurvePoint[] {
  const reader = new JournalReader(from)
  try {
    return [...reader.curve({ series: ACCOUNT_SERIES, ...query })]
  } finally {
    reader.close()
  }
}

function damageBy(sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** A point each minute, which swings between 1 and 59 within each hour. */
function minutes(from: number, count: number): readonly CurvePoint[] {
  return Array.from({ length: count }, (_, index) =>
    pointOf(from + index * MINUTE_MS, String(((index * 7) % 60) + 1)),
  )
}

describe('the curve of an account', () => {
  test('outlives the run, and a span of it is read', () => {
    note(pointOf(BEGIN, '100 1 101'))
    note(pointOf(BEGIN + MINUTE_MS, '99 ? 101'), pointOf(BEGIN, '7', 'another'))

    expect(readAll()).toEqual([pointOf(BEGIN, '100 1 101'), pointOf(BEGIN + MINUTE_MS, '99 ? 101')])
    expect(readAll({ since: BEGIN + 1 })).toHaveLength(1)
    expect(readAll({ until: BEGIN + 1 })).toHaveLength(1)
    expect(readAll({ series: 'another' })).toEqual([pointOf(BEGIN, '7', 'another')])
  })

  test('is written with what is written next, and not alone', () => {
    const journal = open()
    journal.notePoints([pointOf(BEGIN, '100')])
    expect(readAll()).toEqual([])

    journal.append({ kind: 'foreign', at: 1, symbol: 'A', orderIds: [] })
    journal.commit(() => undefined)

    expect(readAll()).toHaveLength(1)
    journal.close()
  })

  test('[MON2] says of a figure that is not known that it is not', () => {
    const point = { equity: '100.5', netWithUnrealised: '-0.25', peak: null }

    expect(toAccountPoint(pointOf(5, toAccountValue(point)))).toEqual({ at: 5, ...point })
  })

  test('[BND1] of 64 plots those that are over, or of a run before, make room', () => {
    const plot = (index: number, at = BEGIN): CurvePoint =>
      pointOf(at, '1', toPlotSeries({ strategy: 's', symbol: `A${index}`, name: 'trend' }))
    const names = (): number[] => {
      const reader = new JournalReader(file)
      const all = reader.curveNames().flatMap((name) => parsePlotSeries(name)?.symbol ?? [])
      reader.close()
      return all.map((symbol) => Number(symbol.slice(1))).toSorted((one, other) => one - other)
    }
    const all = Array.from({ length: 64 }, (_, index) => plot(index, BEGIN + index * MINUTE_MS))
    const journal = open()
    journal.notePoints([pointOf(BEGIN, '100'), ...all])
    journal.notePoints([plot(64)])
    journal.flush()
    expect(names()).not.toContain(64)

    journal.notePoints([], [plot(7).series])
    journal.notePoints([plot(65)])
    journal.flush()
    journal.close()
    expect(names()).toHaveLength(64)
    expect(names()).not.toContain(7)

    // In another run only those count that have got a point: the oldest of the others goes.
    note(plot(0, BEGIN + DAY_MS), plot(66, BEGIN + DAY_MS))
    expect(names()).toContain(0)
    expect(names()).toContain(66)
    expect(names()).not.toContain(65)
    expect(readAll()).toHaveLength(1)
  })

  test('[BND1] keeps the lowest and the highest of an hour after a week, and nothing after two years', () => {
    note(...minutes(BEGIN, 120))
    const week = BEGIN + 7 * DAY_MS
    note(pointOf(week + HOUR_MS, '30'))
    expect(readAll({ until: BEGIN + HOUR_MS }).map(({ value }) => value)).toEqual(['1', '60'])
    expect(readAll({ since: BEGIN + HOUR_MS, until: week })).toHaveLength(60)

    note(pointOf(BEGIN + 740 * DAY_MS, '30'))

    expect(readAll()).toHaveLength(1)
  })

  test('[BND1] is thinned out little by little after a long stop', () => {
    note(...minutes(BEGIN, 10 * 60))
    const late = BEGIN + 8 * DAY_MS

    note(pointOf(late, '30'))
    expect(readAll({ until: late })).toHaveLength(4 * 2 + 6 * 60)
    for (let turn = 1; turn < 4; turn++) note(pointOf(late + turn * MINUTE_MS, '30'))

    expect(readAll({ until: late })).toHaveLength(20)
  })

  test('[BND1] is not kept beyond a number of curves, and the others go on', () => {
    const journal = open()
    journal.notePoints(
      Array.from({ length: 80 }, (_, index) => pointOf(BEGIN, '1', `plot ${index}`)),
    )
    journal.flush()
    journal.notePoints([pointOf(BEGIN + MINUTE_MS, '2', 'plot 3'), pointOf(BEGIN, '2', 'plot 70')])
    journal.flush()
    journal.close()

    expect(readAll({ series: 'plot 3' })).toHaveLength(2)
    expect(readAll({ series: 'plot 70' })).toEqual([])
  })

  test('is copied, counted and verified like the other tables', () => {
    note(...minutes(BEGIN, 3))
    const to = join(folder, 'copy.sqlite')

    expect(backUpFile({ file, identity: 'live 1', to }).counted).toMatchObject({ curves: 3 })

    expect(readAll({}, to)).toEqual(minutes(BEGIN, 3))
    damageBy("UPDATE curves SET value = '9'")
    expect(() => verifyJournal({ file, identity: 'live 1' }, { allRows: true })).toThrow(
      /JOURNAL_CORRUPT[^]*curves/,
    )
    expect(() => readAll()).toThrow(/JOURNAL_CORRUPT[^]*curve/)
  })

  test('is repaired to the points that are as they were written', () => {
    note(...minutes(BEGIN, 3))
    damageBy(`UPDATE curves SET value = '9' WHERE at = ${BEGIN + MINUTE_MS}`)
    const buildRecord = (reason: string) =>
      ({ kind: 'repaired', at: 1, strategies: [], symbols: [], reason }) as const

    repairJournal({ file, identity: 'live 1', buildRecord, stamp: 'x' })

    expect(readAll().map(({ at }) => at)).toEqual([BEGIN, BEGIN + 2 * MINUTE_MS])
    const database = openReading(file)
    expect(countJournal(database).curves).toBe(2)
    database.close()
  })
})
