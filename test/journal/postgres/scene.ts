import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JournalRecord } from '../../../src/domain/record.ts'
import type { BookedFill } from '../../../src/journal/booking.ts'
import type { Journal, OpenedJournal } from '../../../src/journal/journal.ts'
import type { PostgresPlace } from '../../../src/journal/postgres/connection.ts'
import {
  type OpenedPostgresJournal,
  openPostgresJournal,
  type OpenPostgresOptions,
} from '../../../src/journal/postgres/postgres-journal.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { systemTimers } from '../../../src/lib/timers.ts'

export type TestJournal = OpenedJournal

export const record = (at: number, reason = `number ${at}`): JournalRecord => ({
  kind: 'restricted',
  at,
  scope: '*',
  mode: 'halted',
  code: 'operator',
  by: 'a test',
  reason,
})

/** A record that uses a key. */
export const send = (at: number, key: string): JournalRecord =>
  ({ kind: 'send', at, orders: [{ purpose: 'place', strategyId: 's', key }], body: '' }) as never

export const fill = (tradeId: string, at: number): BookedFill => ({
  kind: 'fill',
  tradeId,
  at,
  orderId: `o${tradeId}`,
  clientOid: '',
  strategyId: '',
  owner: 'waiting',
  symbol: 'BTCUSDT',
  side: 'buy',
  tradeSide: 'open',
  price: '60000.1',
  size: '0.01',
  profit: '0',
  fee: '0.36',
  coin: 'USDT',
  scope: 'maker',
  source: 'API',
  fillKind: 'trade',
  otherFees: 'BGB 0.011',
  reason: 'takeProfit',
  tag: 'dip',
})

/** A machine: a folder that holds the replica of one journal. */
export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'intentd-machine-'))
  readonly name: string
  readonly #place: PostgresPlace

  constructor(name: string, place: PostgresPlace) {
    this.name = name
    this.#place = place
  }

  get file(): string {
    return join(this.folder, 'replica.sqlite')
  }

  open(more: Partial<OpenPostgresOptions> = {}): Promise<OpenedPostgresJournal> {
    return openPostgresJournal({
      place: this.#place,
      identity: 'live 1',
      file: this.file,
      keepSince: () => 0,
      taker: { place: this.name, name: this.name },
      terms: { lastingMs: 10_000, validityMs: 20_000 },
      clock: systemClock,
      timers: systemTimers,
      onAway: () => undefined,
      ...more,
    })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function instants(journal: Pick<Journal, 'load'>): number[] {
  return journal.load().records.map(({ at }) => at)
}
