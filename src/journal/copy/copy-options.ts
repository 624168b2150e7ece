import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import { type JournalSize, rowsOf } from './prove-copy.ts'
import type { Mark } from '../durable-mark.ts'
import type { PostgresPlace } from '../postgres/connection.ts'
import type { LeaseTaker, LeaseTerms } from '../postgres/lease.ts'

export const COPY_ANSWER_MS_MAX = 600_000

export interface CopyOptions {
  readonly place: PostgresPlace
  readonly file: string
  readonly replicaFile: string
  readonly identity: string
  /** `HOST FILE`, which differs on every machine. */
  readonly fileName: string
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  readonly clock: Clock
  readonly timers: Timers
  readonly onProgress: (progress: CopyProgress) => void
}

export interface CopyProgress {
  readonly doing: 'copying' | 'reading back'
  readonly rows: number
  readonly of: number
}

export interface CopyReport {
  /** `kept`: an unfinished copy was cancelled; `done`: an earlier call had finished it. */
  readonly kind: 'copied' | 'kept' | 'done'
  readonly counted: JournalSize | undefined
  readonly last: Mark
}

export function countProgress(
  { onProgress }: Pick<CopyOptions, 'onProgress'>,
  doing: CopyProgress['doing'],
  counted: JournalSize,
): (table: string, rows: number) => void {
  const of = rowsOf(counted)
  let rows = 0
  return (_table, more) => {
    rows += more
    onProgress({ doing, rows, of })
  }
}
