import { expect, test } from 'vitest'
import { DirectExchange, UID } from '../../src/backtest/direct-exchange.ts'
import { DirectNetwork } from '../../src/backtest/virtual-wire.ts'
import { VirtualAccount } from '../../src/backtest/backtest.ts'
import { VirtualTime } from '../../src/backtest/virtual-time.ts'
import { JournalPace } from '../../src/views/journal-pace.ts'
import { createBook } from '../../src/engine/book/book.ts'
import type { JournalPort } from '../../src/interpreter/ports.ts'
import { openPaperAccount, POLLING, START_AT } from './paper-account.ts'

/** A server that is far away: a commit takes its time, and the next waits for it. */
class SlowServer implements JournalPort {
  commitMs = 0
  readonly recordsSinceCheckpoint = 0
  readonly #time: VirtualTime
  #freeAt = 0

  constructor(time: VirtualTime) {
    this.#time = time
  }

  commit(done: () => void): void {
    this.#freeAt = Math.max(this.#freeAt, this.#time.now) + this.commitMs
    this.#time.after(this.#freeAt - this.#time.now, done)
  }

  append(): void {}
  flush(): void {}
  prepareCheckpoint = (): boolean => false
  saveCheckpoint(): void {}
  usedKeys = (): [] => []
}

async function openScene() {
  const paper = await openPaperAccount('1')
  const time = new VirtualTime(START_AT)
  const journal = new SlowServer(time)
  const logged: string[] = []
  let isKilled = false
  const pace = new JournalPace({
    clock: time.clock,
    logger: { log: (_, event) => void logged.push(event) },
  })
  const account = new VirtualAccount({
    ...paper,
    time,
    journal,
    polling: POLLING,
    pageFills: 100,
    clock: time.clock,
    book: createBook(paper.settings.positionMode),
    exchange: new DirectExchange(paper.core, () => time.now),
    network: new DirectNetwork(time, 10),
    hasPreviousRun: false,
    environment: {
      gate: {
        isStill: false,
        enter: (happens) => happens(),
        settle: (happens) => happens(),
      },
      isKilled: () => isKilled,
      retreatNote: {
        leave: () => true,
        forget: () => undefined,
      },
      listener: { batchDurable: (wait) => pace.hear(wait) },
      announcements: {
        killState: () => undefined,
        stopped: () => undefined,
        broken: (error) => {
          throw error
        },
      },
    },
  })
  account.start()
  const ordersOf = () => paper.core.ledger(UID).openOrders.map(({ clientOid }) => clientOid)
  const sent = () => paper.core.ledger(UID).counts.ordersAccepted
  return {
    account,
    time,
    journal,
    pace,
    logged,
    ordersOf,
    sent,
    pass: (ms: number) => time.runUntil(time.now + ms),
    kill: () => (isKilled = true),
  }
}

test('[ORD7] a journal whose commits take too long: no order leaves, and it is known why until they are faster', async () => {
  const { journal, pace, logged, sent, pass } = await openScene()
  journal.commitMs = 4000
  pass(120_000)
  const [before, late] = [sent(), pace.late]
  journal.commitMs = 10
  pass(60_000)

  expect(before).toBe(0)
  expect(late?.wait.waitedMs).toBeGreaterThanOrEqual(4000)
  expect(late?.wait.mostMs).toBeLessThanOrEqual(3500)
  expect(late?.batches).toBeGreaterThan(5)
  expect(sent()).toBeGreaterThan(0)
  expect([pace.late, logged]).toEqual([undefined, ['journal.late', 'journal.inTime']])
})

test('[RSK3] a kill takes everything away while the commits take too long', async () => {
  const { account, journal, ordersOf, pass, kill } = await openScene()
  pass(120_000)
  const before = ordersOf().length
  journal.commitMs = 8000
  pass(20_000)
  kill()
  pass(5000)

  expect(before).toBeGreaterThan(0)
  expect(ordersOf()).toEqual([])
  pass(120_000)
  expect(account.engine.kill?.phase).toBe('clean')
})
