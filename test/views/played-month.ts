import { Backtest, PassingJournal } from '../../src/backtest/backtest.ts'
import { AccountMarks } from '../../src/daemon/reporting/account-curves.ts'
import type { Deposit } from '../../src/domain/deposit.ts'
import type { JournalRecord } from '../../src/domain/record.ts'
import { applyRecord } from '../../src/engine/book/apply-record.ts'
import type { Booking } from '../../src/journal/booking.ts'
import type { CurvePoint } from '../../src/journal/curves.ts'
import type { LedgerStatement } from '../../src/simulator/futures/accounts/ledger-view.ts'
import type { ShownAccount } from '../../src/views/shown-account.ts'
import { NO_MONEY } from '../../src/domain/fill-money.ts'
import { ZERO } from '../../src/lib/decimal.ts'
import { defineStrategy, z } from '../../src/strategy/contract.ts'
import { openPaperAccount, START_AT } from '../backtest/paper-account.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Rarer than a daemon looks, so that weeks are played in seconds. */
const POLLING = { tickersMs: 60_000, fillsMs: 60_000, positionsMs: 60_000, timeMs: 60_000 }

/** The parts of a journal that a statement is made from. */
export interface TakenJournal {
  append(record: JournalRecord, bookings?: readonly Booking[]): void
  notePoints(points: readonly CurvePoint[]): void
  flush(): void
}

export interface PlayedMonth {
  /** The exchange's own ledger at each of the asked instants. */
  readonly ledgers: ReadonlyMap<number, LedgerStatement>
  readonly endAt: number
}

interface MonthRequest {
  readonly seed: string
  readonly days: number
  readonly timeZone: string
  /** When the exchange's ledger is written down; Unix ms. */
  readonly ledgersAt: readonly number[]
  readonly deposits?: readonly Deposit[]
  /** Fees are taken in BGB while so much of it is there. */
  readonly feeCoins?: string
}

/**
 * Turns its position every three hours, also as a day begins in New York; but not as funding is
 * paid, since a payment of a position that is gone before it is read is known to nobody.
 */
const TURNING = defineStrategy({
  name: 'turning',
  params: z.strictObject({ place: z.number() }),
  initialState: () => ({}),
  decide(snapshot, { params: { place }, state }) {
    const hours = snapshot.exchangeTime / HOUR_MS
    const isPaid = Math.floor(hours) % 8 === 0 && hours % 1 < 1 / 6
    const turn = Math.floor(((isPaid ? Math.floor(hours) - 1 : hours) + 2) / 3)
    const lots = 5 * (((turn * (place + 1)) % 5) - 2)
    return { state, intents: snapshot.instruments.map((market) => market.target(lots)) }
  },
})

/** Plays an account in virtual time, and writes its journal as a daemon would. */
export async function playMonth(
  journal: TakenJournal,
  { seed, days, timeZone, ledgersAt, deposits = [], feeCoins }: MonthRequest,
): Promise<PlayedMonth> {
  let waiting = 0
  const paper = await openPaperAccount(seed, {
    stepMs: 10_000,
    ...(feeCoins !== undefined && { feeCoins }),
  })
  const backtest = new Backtest({
    startAt: START_AT,
    ...paper,
    strategies: new Map(
      [...paper.strategies.keys()].map((id, place) => [
        id,
        { strategy: TURNING, params: { place } },
      ]),
    ),
    polling: POLLING,
    latencyMs: 10,
    createJournal: () =>
      new PassingJournal((record, bookings) => {
        journal.append(record, bookings)
        waiting += 1
        if (waiting % 200 === 0) journal.flush()
      }),
  })
  const shown = (): ShownAccount =>
    ({
      book: backtest.book,
      engine: backtest.engine,
      settings: backtest.engine.settings,
      state: 'begun',
      recent: { today: new Map(), fundingToday: ZERO, week: { money: NO_MONEY, funding: ZERO } },
    }) as unknown as ShownAccount
  const marks = new AccountMarks({
    config: { calendar: { timezone: timeZone } } as never,
    journal: { notePoints: (points) => journal.notePoints(points), curve: () => [] },
    trusted: { clock: { now: () => backtest.now } },
    shown,
    logger: { log: () => undefined },
  })
  const endAt = START_AT + days * 86_400_000
  const ledgers = new Map([[START_AT, backtest.ledger]])
  const left = [...deposits]
  while (backtest.now < endAt) {
    const next = Math.min(endAt, ...ledgersAt.filter((at) => at > backtest.now))
    const step = Math.min(MINUTE_MS, next - backtest.now)
    backtest.runUntil(backtest.now + step)
    if (ledgersAt.includes(backtest.now)) ledgers.set(backtest.now, backtest.ledger)
    while (left[0] !== undefined && left[0].enteredAt <= backtest.now) {
      const deposit = { ...left[0], enteredAt: backtest.now }
      left.shift()
      const record = { kind: 'deposit', at: backtest.now, deposit } as const
      applyRecord(backtest.book, record)
      journal.append(record)
    }
    marks.look()
  }
  journal.flush()
  return { ledgers, endAt }
}
