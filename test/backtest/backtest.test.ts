import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { Backtest, type BacktestOptions, MemoryJournal } from '../../src/backtest/backtest.ts'
import type { VirtualTime } from '../../src/backtest/virtual-time.ts'
import type { JournalRecord } from '../../src/domain/record.ts'
import type { JournalPort } from '../../src/interpreter/ports.ts'
import type { BookedFill, Booking } from '../../src/journal/booking.ts'
import { decimal, sumDecimals } from '../../src/lib/decimal.ts'
import type { ExchangeCore } from '../../src/simulator/futures/exchange-core.ts'
import { differencesOf, openPaperAccount, POLLING, START_AT } from './paper-account.ts'

const HOUR_MS = 3_600_000
/** A commit of a slow journal is done after this, ms. */
const COMMIT_MS = 30

async function openBacktest(seed: string, change: Partial<BacktestOptions> = {}) {
  const hash = createHash('sha256')
  const backtest = new Backtest({
    startAt: START_AT,
    ...(await openPaperAccount(seed)),
    polling: POLLING,
    latencyMs: 10,
    listener: { recorded: (record) => hash.update(JSON.stringify(record)) },
    ...change,
  })
  return { backtest, digest: () => hash.digest('hex') }
}

/** A journal whose commits are done after a while; it holds each batch that leaves against what is durable. */
function watchSlowJournal() {
  const early: string[] = []
  const appended: string[] = []
  let [sent, durable] = [0, 0]
  const createJournal = (time: VirtualTime): JournalPort => ({
    append: (record) => appended.push(record.kind === 'send' ? record.body : ''),
    commit(done) {
      const upTo = appended.length
      time.after(COMMIT_MS, () => {
        durable = upTo
        done()
      })
    },
    flush: () => undefined,
    usedKeys: () => [],
    recordsSinceCheckpoint: 0,
    prepareCheckpoint: () => false,
    saveCheckpoint: () => undefined,
  })
  /** Without latency a batch is there when it leaves. */
  const watch = (core: ExchangeCore): void => {
    const answer = core.answer.bind(core)
    core.answer = (name, caller, request, at) => {
      if (name !== 'batchPlaceOrder') return answer(name, caller, request, at)
      sent += 1
      const place = appended.findIndex(
        (body) => body !== '' && isDeepStrictEqual(JSON.parse(body), request),
      )
      if (place < 0 || place >= durable) early.push(JSON.stringify(request))
      return answer(name, caller, request, at)
    }
  }
  return { createJournal, watch, early, count: () => sent }
}

/** A journal in memory that says what is booked. */
function watchBookings(onBooking: (booking: Booking) => void): JournalPort {
  const journal = new MemoryJournal('salt')
  const append = journal.append.bind(journal)
  return Object.assign(journal, {
    append: (record: JournalRecord, bookings: readonly Booking[] = []) => {
      append(record)
      bookings.forEach(onBooking)
    },
  })
}

describe('grid and trend on a seeded market', () => {
  test("[ORD5] after a virtual hour the exchange's ledger is the book's to the last digit", async () => {
    const { backtest } = await openBacktest('1')

    backtest.runUntil(backtest.now + HOUR_MS)
    const clean = backtest.stop('flatten')

    expect(clean).toBe(true)
    expect(backtest.ledger.counts.fills).toBeGreaterThan(40)
    expect(differencesOf(backtest.book, backtest.ledger)).toEqual([])
  })

  test('[DET1] run twice to the same journal, and with another seed to another', async () => {
    const digests = await Promise.all(
      ['1', '1', '2'].map(async (seed) => {
        const { backtest, digest } = await openBacktest(seed)
        backtest.runUntil(backtest.now + HOUR_MS)
        return digest()
      }),
    )

    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  test('[ORD5] each fill is booked once: by strategy they come to the money of the book', async () => {
    const booked = new Map<string, BookedFill>()
    const { backtest } = await openBacktest('1', {
      createJournal: () =>
        watchBookings((booking) => {
          if (booking.kind === 'fill') booked.set(booking.tradeId, booking)
          const fill = booking.kind === 'owner' ? booked.get(booking.tradeId) : undefined
          if (fill) booked.set(fill.tradeId, { ...fill, ...booking, kind: 'fill' })
        }),
    })

    backtest.runUntil(backtest.now + HOUR_MS / 4)
    backtest.stop('flatten')

    expect(booked.size).toBeGreaterThan(10)
    expect(booked.size).toBe(backtest.ledger.counts.fills)
    const wallet = [...backtest.book.money].filter(([, { fills }]) => fills > 0)
    expect(
      Map.groupBy(booked.values(), ({ strategyId, symbol }) => `${strategyId}|${symbol}`).size,
    ).toBe(wallet.length)
    for (const [pair, money] of wallet) {
      const own = [...booked.values()].filter(
        ({ strategyId, symbol }) => `${strategyId}|${symbol}` === pair,
      )
      const sum = (of: 'profit' | 'fee'): string =>
        sumDecimals(own.map((fill) => decimal(fill[of]))).toString()
      expect([pair, own.length, sum('profit'), sum('fee')]).toEqual([
        pair,
        money.fills,
        money.profit.toString(),
        money.fees.toString(),
      ])
    }
  })

  test('[ORD1] on a journal whose commits take time no batch leaves before its own', async () => {
    const { createJournal, watch, early, count } = watchSlowJournal()
    const { core, ...paper } = await openPaperAccount('1')
    watch(core)
    const { backtest } = await openBacktest('1', { ...paper, core, createJournal, latencyMs: 0 })

    backtest.runUntil(backtest.now + HOUR_MS / 4)
    const clean = backtest.stop('flatten')

    expect([clean, early]).toEqual([true, []])
    expect(count()).toBeGreaterThan(20)
    expect(differencesOf(backtest.book, backtest.ledger)).toEqual([])
  })
})
