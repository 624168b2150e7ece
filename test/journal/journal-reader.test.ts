import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type JournalRecord } from '../../src/domain/record.ts'
import { JournalReader, type RecordQuery } from '../../src/journal/journal-reader.ts'
import { type Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { appendDurable } from './specimen.ts'

let folder: string
let file: string
let writer: Journal
let reader: JournalReader | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  file = join(folder, 'journal.sqlite')
  writer = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
})

afterEach(() => {
  reader?.close()
  reader = undefined
  writer.close()
  rmSync(folder, { recursive: true })
})

const halt = (at: number, symbol = 'BTCUSDT'): JournalRecord => ({
  kind: 'restricted',
  at,
  scope: symbol,
  mode: 'halted',
  code: 'operator',
  by: 'a test',
  reason: '',
})
const resume = (at: number): JournalRecord => ({
  kind: 'released',
  at,
  scope: 'ETHUSDT',
  reason: 'looked',
  by: 'anna',
})

function read(query?: RecordQuery): number[] {
  reader ??= new JournalReader(file)
  return [...reader.records(query)].map(({ record }) => record.at)
}

describe('a reader beside the writer', () => {
  test('sees what is durable, and what becomes so', () => {
    appendDurable(writer, halt(1))
    expect(read()).toEqual([1])

    appendDurable(writer, halt(2))
    writer.append(halt(3))

    expect(read()).toEqual([1, 2])
  })

  test.each<[string, RecordQuery, number[]]>([
    ['everything', {}, [1, 2, 3, 4]],
    ['the newest first', { newestFirst: true }, [4, 3, 2, 1]],
    ['from an instant on', { since: 2 }, [2, 3, 4]],
    ['before an instant', { until: 3, newestFirst: true }, [2, 1]],
    ['of one kind', { kinds: ['released'] }, [3]],
    ['of two kinds', { kinds: ['released', 'restricted'] }, [1, 2, 3, 4]],
    ['that name a symbol', { containing: '"ETHUSDT"' }, [2, 3]],
    [
      'by everything at once',
      { containing: '"ETHUSDT"', kinds: ['restricted'], since: 1, until: 9 },
      [2],
    ],
  ])('gives records: %s', (_, query, expected) => {
    for (const record of [halt(1), halt(2, 'ETHUSDT'), resume(3), halt(4)])
      appendDurable(writer, record)

    expect(read(query)).toEqual(expected)
  })

  test('goes from page to page, while the writer writes and stores checkpoints', () => {
    for (let at = 1; at <= 1200; at++) writer.append(halt(at))
    writer.flush()
    reader = new JournalReader(file)
    const seen: number[] = []

    for (const { sequence } of reader.records()) {
      seen.push(sequence)
      if (sequence === 600) appendDurable(writer, halt(1201))
      if (sequence === 700) writer.saveCheckpoint([{ name: 'halts', key: '', value: '1201' }])
    }

    expect(seen).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1))
  })

  test('reads on after the writer has gone', () => {
    appendDurable(writer, halt(1))
    writer.close()

    expect(read()).toEqual([1])
    writer = openSqliteJournal({ file, identity: 'live 1', keepSince: () => 0 })
  })

  test('refuses a record that is not as it was written', () => {
    for (const at of [1, 2, 3]) appendDurable(writer, halt(at))
    const database = new DatabaseSync(file)
    database.exec("UPDATE records SET body = replace(body, '2', '7') WHERE at = 2")
    database.close()

    expect(() => read()).toThrow(/JOURNAL_CORRUPT[^]*sequence +2/)
    expect(read({ since: 3 })).toEqual([3])
  })

  test('says that there is no journal', () => {
    expect(() => new JournalReader(join(folder, 'other.sqlite'))).toThrow(/JOURNAL_UNREADABLE/)
  })
})
