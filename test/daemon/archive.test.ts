import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { type ArchiveReport, archiveState } from '../../src/assembly/state/archive-state.ts'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { journalPlaceOf } from '../../src/assembly/state/state-place.ts'
import { type BookedFill, type Booking } from '../../src/journal/booking.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { ManualTime } from '../support/manual-time.ts'

const DAY_MS = 86_400_000
const DAY_AT = Date.UTC(2025, 5, 2)
const { config } = loadConfig({
  file: 'config/paper.yaml',
  cwd: join(import.meta.dirname, '../..'),
})

const time = new ManualTime(DAY_AT + 2 * DAY_MS)
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'archive-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

function fillOf(tradeId: string, at: number): BookedFill {
  const owned = { clientOid: 'c', strategyId: 'a "grid", of mine', owner: 'strategy' } as const
  const words = {
    symbol: 'A',
    side: 'buy',
    tradeSide: 'open',
    coin: 'USDT',
    scope: 'maker',
    source: 'API',
  }
  const amounts = { price: '10.5', size: '0.1', profit: '-0.2', fee: '0.01' }
  const added = { fillKind: 'trade', otherFees: 'BGB 0.011', reason: 'stop', tag: 'dip' }
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

function openJournal() {
  return openSqliteJournal({ ...journalPlaceOf(config, directory), keepSince: () => 0 })
}

function bookSome(): void {
  const funding = { id: 'f', symbol: 'A', side: 'short', amount: '-0.5', coin: 'USDT' }
  const bookings: Booking[] = [
    fillOf('2', DAY_AT + 5),
    fillOf('1', DAY_AT - 5),
    { kind: 'funding', at: DAY_AT - DAY_MS, ...funding },
  ]
  const journal = openJournal()
  journal.append({ kind: 'foreign', at: 1, symbol: 'A', orderIds: [] }, bookings)
  journal.close()
}

function archive(file?: string): Promise<ArchiveReport | undefined> {
  return archiveState({
    config,
    directory,
    before: DAY_AT,
    file,
    password: undefined,
    clock: time,
    timers: time,
    logger: { log: () => undefined },
    configOption: '',
  })
}

function fillsLeft(): readonly string[] {
  const journal = openJournal()
  try {
    return Array.from(journal.bookings('fill'), (row) => (row.kind === 'fill' ? row.tradeId : ''))
  } finally {
    journal.close()
  }
}

describe('[ORD5] an archive', () => {
  test('has what is older as a table with a header, and the journal has the rest', async () => {
    bookSome()

    const report = await archive()

    const file = join(directory, 'fills-before-2025-06-02.csv')
    expect(report).toEqual({ file, fills: 1, fundings: 1 })
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      'kind,time,id,orderId,clientOid,strategy,owner,symbol,side,tradeSide,price,size,profit,fee,funding,coin,scope,source,fillKind,otherFees,reason,tag',
      'fill,2025-06-01T23:59:59.995Z,1,o1,c,"a ""grid"", of mine",strategy,A,buy,open,10.5,0.1,-0.2,0.01,,USDT,maker,API,trade,BGB 0.011,stop,dip',
      'funding,2025-06-01T00:00:00.000Z,f,,,,,A,short,,,,,,-0.5,USDT,,,,,,',
      '',
    ])
    expect(fillsLeft()).toEqual(['2'])
    expect(await archive()).toBeUndefined()
  })

  test('overwrites no file, and takes nothing out of the journal then', async () => {
    bookSome()
    const file = join(directory, 'mine.csv')
    writeFileSync(file, 'precious')

    await expect(archive(file)).rejects.toThrow(/ARCHIVE_EXISTS/)

    expect([readFileSync(file, 'utf8'), fillsLeft()]).toEqual(['precious', ['1', '2']])
  })

  test('takes nothing out of the journal where it cannot be written', async () => {
    bookSome()

    await expect(archive(join(directory, 'nowhere', 'mine.csv'))).rejects.toThrow(
      /ARCHIVE_UNWRITABLE/,
    )

    expect(fillsLeft()).toEqual(['1', '2'])
  })

  test('leaves no file of rows that are not as they were written', async () => {
    bookSome()
    const database = new DatabaseSync(journalPlaceOf(config, directory).file)
    database.exec("UPDATE fills SET price = '10.6' WHERE tradeId = '1'")
    database.close()
    const file = join(directory, 'mine.csv')

    await expect(archive(file)).rejects.toThrow(/JOURNAL_CORRUPT[^]*a fill of 2025-06-01/)

    expect(existsSync(file)).toBe(false)
  })

  test('that was broken off before the rows were taken out is made again under another name', async () => {
    bookSome()
    await archive(join(directory, 'first.csv'))
    const whole = readFileSync(join(directory, 'first.csv'), 'utf8')
    rmSync(journalPlaceOf(config, directory).file)
    rmSync(`${journalPlaceOf(config, directory).file}.mark`)
    bookSome()

    await expect(archive(join(directory, 'first.csv'))).rejects.toThrow(
      /ARCHIVE_EXISTS[^]*interrupted archive/,
    )
    await archive(join(directory, 'second.csv'))

    expect(readFileSync(join(directory, 'second.csv'), 'utf8')).toBe(whole)
  })

  test('is refused while a daemon runs, and where there is no journal', async () => {
    await expect(archive()).rejects.toThrow(/ARCHIVE_NO_JOURNAL/)
    bookSome()
    const lock = holdDirectory(directory, describeHolder('another', 0))

    await expect(archive()).rejects.toThrow(/STATE_HELD[^]*another/)

    lock.release()
    expect(fillsLeft()).toEqual(['1', '2'])
  })
})
