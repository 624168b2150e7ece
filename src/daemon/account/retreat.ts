import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Instrument } from '../../domain/instrument.ts'
import { type StopPolicy } from '../../engine/event.ts'
import { type ExchangeClient } from '../../exchange/exchange-client.ts'
import { type Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { type Timers } from '../../lib/timers.ts'
import { type DaemonLogger } from '../reporting/logger.ts'

/** A cancel-all that failed, or found something, is repeated no sooner. */
const ROUND_MS = 1000

const NOTE_FILE = 'cancelled-unrecorded'

export interface RetreatOptions {
  /** The state directory. */
  readonly directory: string
  readonly policy: StopPolicy
  readonly onRestart: 'cancel' | 'adopt'
  readonly instruments: Iterable<Instrument>
  readonly client: Pick<ExchangeClient, 'send'>
  readonly logger: DaemonLogger
  readonly clock: Clock
  readonly timers: Timers
  /** Resolves when nothing that was sent before is on the wire any more. */
  readonly idle: () => Promise<void>
  /** How long it is tried, ms. */
  readonly patienceMs: number
}

/**
 * What is left to do when the journal cannot be written: nothing is created any more, and what rests is left or
 * cancelled as `onStop` says. A cancel-all needs no record to be safe, it can be repeated. A position is not
 * closed: an order without a record could be doubled after the restart (ORD1); recovery closes it.
 *
 *     leave ──────────────────────────────────────────────────────────► left
 *     cancel, flatten ──noted, or looked at anyway──► cancelling ──a round that finds nothing──► cancelled
 *                     └──no note can be made─► left        └──the time is over──► unproved
 */
export async function retreat(options: RetreatOptions): Promise<'left' | 'cancelled' | 'unproved'> {
  const { policy, logger } = options
  const end = policy === 'leave' || !leaveNote(options) ? 'left' : await cancelAll(options)
  logger.log(end === 'unproved' ? 'error' : 'warn', 'retreat.ended', { policy, end })
  return end
}

/** Whether an earlier run cancelled without a record: then what the book says of resting orders is not believed. */
export function hasRetreated(directory: string): boolean {
  return existsSync(join(directory, NOTE_FILE))
}

/** A run ended in good order: what it knows of resting orders is in its journal. */
export function forgetRetreat(directory: string): void {
  rmSync(join(directory, NOTE_FILE), { force: true })
}

/** A next run that cancels everything at its start needs no note. */
function leaveNote({ directory, onRestart, logger }: RetreatOptions): boolean {
  try {
    const descriptor = openSync(join(directory, NOTE_FILE), 'w', 0o600)
    fsyncSync(descriptor)
    closeSync(descriptor)
    return true
  } catch (error) {
    logger.log('error', 'retreat.notNoted', { reason: messageOf(error), onRestart })
    return onRestart === 'cancel'
  }
}

/** Once at once; then, when nothing sent before can still arrive and be answered, until a round finds nothing. */
async function cancelAll(options: RetreatOptions): Promise<'cancelled' | 'unproved'> {
  const { clock, timers, idle, patienceMs } = options
  const endAt = clock.monotonic() + patienceMs
  await cancelRound(options)
  await idle()
  while (!(await cancelRound(options))) {
    if (clock.monotonic() >= endAt) return 'unproved'
    await new Promise<void>((resolve) => timers.after(ROUND_MS, resolve))
  }
  return 'cancelled'
}

/** One cancel-all an instrument; true when each was answered and none found an order. */
async function cancelRound(options: RetreatOptions): Promise<boolean> {
  const found = await Promise.all([...options.instruments].map((instrument) => cancel(options, instrument)))
  return found.every((orders) => orders === 0)
}

/** How many orders there were; undefined when that is not known. */
async function cancel(
  { client, logger }: RetreatOptions,
  { symbol, productType, marginCoin }: Instrument,
): Promise<number | undefined> {
  const body = JSON.stringify({ symbol, productType, marginCoin })
  const answer = await client.send({ endpoint: 'cancelAllOrders', body, query: '' }, { priority: 0 })
  if (answer.kind === 'accepted') {
    const orders = answer.data.successList.length + answer.data.failureList.length
    logger.log('warn', 'retreat.cancelled', { symbol, orders })
    return orders
  }
  if (answer.kind === 'refused' && answer.topic === 'orderGone') return 0
  logger.log('error', 'retreat.failed', { symbol, code: answer.code, reason: answer.message })
  return undefined
}
