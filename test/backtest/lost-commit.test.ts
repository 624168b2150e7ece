import { expect, test } from 'vitest'
import { DirectExchange, UID } from '../../src/backtest/direct-exchange.ts'
import { DirectNetwork } from '../../src/backtest/virtual-wire.ts'
import { VirtualAccount } from '../../src/backtest/backtest.ts'
import { VirtualTime } from '../../src/backtest/virtual-time.ts'
import type { JournalRecord, UsedKey } from '../../src/domain/record.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import type { JournalPort } from '../../src/interpreter/ports.ts'
import {
  differencesOf,
  openPaperAccount,
  type PaperAccount,
  POLLING,
  START_AT,
} from './paper-account.ts'

/** A disk that two runs use, one after the other: its commits hang when it is told so. */
class HangingDisk implements JournalPort {
  readonly durable: JournalRecord[] = []
  isHanging = false
  hasNote = false
  #appended: JournalRecord[] = []

  append(record: JournalRecord): void {
    this.#appended.push(structuredClone(record))
  }

  commit(done: () => void): void {
    if (this.isHanging) return
    this.flush()
    done()
  }

  flush(): void {
    if (!this.isHanging) this.durable.push(...this.#appended.splice(0))
  }

  readonly recordsSinceCheckpoint = 0

  usedKeys(): readonly UsedKey[] {
    return []
  }

  prepareCheckpoint(): boolean {
    return false
  }

  saveCheckpoint(): void {}

  leave(): boolean {
    this.hasNote = true
    return true
  }

  forget(): void {
    this.hasNote = false
  }

  /** What was not durable is gone. */
  crash(): void {
    this.#appended = []
    this.isHanging = false
  }
}

function openRun(paper: PaperAccount, time: VirtualTime, disk: HangingDisk) {
  const ends: boolean[] = []
  const settings: EngineSettings = disk.hasNote
    ? { ...paper.settings, onRestart: 'cancel', hasRetreated: true }
    : { ...paper.settings, onRestart: 'adopt' }
  const account = new VirtualAccount({
    ...paper,
    settings,
    time,
    journal: disk,
    polling: POLLING,
    pageFills: 100,
    book: rebuildBook(
      {
        checkpoint: undefined,
        records: disk.durable,
      },
      settings.positionMode,
    ),
    clock: time.clock,
    exchange: new DirectExchange(paper.core, () => time.now),
    network: new DirectNetwork(time, 10),
    hasPreviousRun: true,
    environment: {
      gate: {
        isStill: false,
        enter: (happens) => happens(),
        settle: (happens) => happens(),
      },
      isKilled: () => false,
      retreatNote: disk,
      listener: {},
      announcements: {
        killState: () => undefined,
        stopped: (clean) => ends.push(clean),
        broken: (error) => {
          throw error
        },
      },
    },
  })
  return { account, ends }
}

test('[ORD5] a process that dies between a cancel-all and its commit is followed by one that does not believe its book', async () => {
  const paper = await openPaperAccount('1')
  const [time, disk] = [new VirtualTime(START_AT), new HangingDisk()]
  const resting = (): number => paper.core.ledger(UID).openOrders.length
  const first = openRun(paper, time, disk)
  first.account.start()
  time.runUntil(START_AT + 120_000)
  const before = resting()

  disk.isHanging = true
  first.account.dispatch({ kind: 'commanded', command: { kind: 'stop', policy: 'cancel' } })
  time.runUntil(time.now + 5000)
  first.account.end()
  disk.crash()

  expect([before > 0, resting(), disk.hasNote, first.ends]).toEqual([true, 0, true, []])

  const second = openRun(paper, time, disk)
  second.account.start()
  time.runUntil(time.now + 60_000)

  const { book } = second.account.engine
  const known = [...book.open.values()].flatMap((orders) => [...orders.keys()])
  const there = paper.core.ledger(UID).openOrders.map(({ clientOid }) => clientOid)
  expect(known.length).toBeGreaterThan(0)
  expect(known.toSorted()).toEqual(there.toSorted())

  // What it found is settled: a crash from then on is one as any other.
  second.account.end()
  disk.crash()
  const third = openRun(paper, time, disk)
  third.account.start()
  time.runUntil(time.now + 5000)
  const kept = paper.core.ledger(UID).openOrders.map(({ clientOid }) => clientOid)
  expect([disk.hasNote, kept.filter((clientOid) => there.includes(clientOid)).length > 0]).toEqual([
    false,
    true,
  ])

  third.account.dispatch({ kind: 'commanded', command: { kind: 'stop', policy: 'flatten' } })
  time.runUntil(time.now + 120_000, () => third.ends.length > 0)

  expect(third.ends).toEqual([true])
  expect(differencesOf(third.account.engine.book, paper.core.ledger(UID))).toEqual([])
})
