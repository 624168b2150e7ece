import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, messageOf } from '../../lib/failure.ts'
import {
  type LockHolder,
  type ProcessLock,
  readLockHolder,
  takeProcessLock,
} from '../../lib/process-lock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ExchangeAccess } from '../../exchange/client/request-writer.ts'
import { fingerprintOf } from './account-keys.ts'
import { describeTo } from '../state/state-directory.ts'
import { userStates } from '../state/user-state.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

export interface AccountLockOptions {
  readonly access: ExchangeAccess
  readonly holder: LockHolder
  readonly places?: readonly string[]
  readonly passedOver?: PassedOver | undefined
  /** Called if no place takes a lock; the run goes on without one. */
  readonly onUnlocked: (reason: string) => void
}

const LOOK_MS = 2500

/** A holder that lives but cannot sign: its lock is taken as soon as it is free. */
export interface PassedOver {
  readonly is: (by: LockHolder) => boolean
  readonly timers: Timers
  readonly onHeld: () => void
}

/**
 * Daemons of one user would cancel each other's orders as foreign, so the lock is taken in every
 * writable place. Daemons of other machines or users are noticed only by their fills. @throws
 * Failure ACCOUNT_HELD, which names the holder
 */
export function holdAccount(options: AccountLockOptions): ProcessLock {
  const { access, holder, passedOver, places = accountLocks() } = options
  const taken: ProcessLock[] = []
  const awaited: string[] = []
  const release = (): void => {
    for (const lock of taken.splice(0)) lock.release()
  }
  const reasons: string[] = []
  for (const place of places) {
    const attempt = attemptLock(place, lockFileOf(access), holder)
    if (attempt.kind === 'held') taken.push(attempt.lock)
    else if (attempt.kind === 'unmade') reasons.push(attempt.reason)
    else if (attempt.by && passedOver?.is(attempt.by) === true) {
      awaited.push(place)
      reasons.push(`the one that was passed over has not ended yet, pid ${attempt.by.pid}`)
    } else {
      release()
      throw refusedBy(access, attempt.by)
    }
  }
  // A service may have no such place; the state directory is locked in any case.
  if (taken.length === 0) options.onUnlocked(reasons.join('; '))
  if (passedOver === undefined || awaited.length === 0) return { release }
  const giveUp = takeOnceFree(options, passedOver, { awaited, taken })
  return {
    release: () => {
      giveUp()
      release()
    },
  }
}

function takeOnceFree(
  { access, holder }: AccountLockOptions,
  { timers, onHeld }: PassedOver,
  { awaited, taken }: { readonly awaited: readonly string[]; readonly taken: ProcessLock[] },
): () => void {
  const file = lockFileOf(access)
  const tryToTake = (place: string): boolean => {
    // An attempt that is refused can take two seconds, and this process trades.
    if (readLockHolder(join(place, file)) !== undefined) return false
    const attempt = attemptLock(place, file, holder)
    if (attempt.kind === 'held') taken.push(attempt.lock)
    return attempt.kind === 'held'
  }
  let left = awaited
  const look = (): void => {
    left = left.filter((place) => !tryToTake(place))
    if (left.length === 0) onHeld()
    else cancel = timers.after(LOOK_MS, look)
  }
  let cancel = timers.after(LOOK_MS, look)
  return () => cancel()
}

export function readAccountHolder(
  access: ExchangeAccess,
  places: readonly string[] = accountLocks(),
): LockHolder | undefined {
  const holders = places.map((place) => readLockHolder(join(place, lockFileOf(access))))
  return holders.find((holder) => holder !== undefined)
}

const lockFileOf = (access: ExchangeAccess): string => `${fingerprintOf(access)}.lock`

type Attempt =
  | ReturnType<typeof takeProcessLock>
  | { readonly kind: 'unmade'; readonly reason: string }

function attemptLock(place: string, file: string, holder: LockHolder): Attempt {
  try {
    if (isOfOthers(place)) {
      const by = readLockHolder(join(place, file))
      return by
        ? { kind: 'refused', by }
        : { kind: 'unmade', reason: `${place} belongs to another user` }
    }
    makeDirectory(place, 0o700)
    return takeProcessLock(join(place, file), holder)
  } catch (error) {
    return { kind: 'unmade', reason: messageOf(error) }
  }
}

/** Root leaves the places of others alone: the owner could not open what root creates there. */
function isOfOthers(place: string): boolean {
  if (process.getuid?.() !== 0) return false
  const folder = existsSync(place) || dirname(place) === place ? place : undefined
  return folder === undefined ? isOfOthers(dirname(place)) : statSync(folder).uid !== 0
}

function refusedBy(access: ExchangeAccess, by: LockHolder | undefined): Failure {
  return new Failure({
    code: 'ACCOUNT_HELD',
    sentence: 'another daemon trades this account',
    facts: { exchange: access.baseUrl, ...describeTo(by) },
    hint: 'stop the other one, or give this configuration another account; with the journal on PostgreSQL, `intentd standby` waits until the other ends, then takes over',
  })
}

export function accountLocks(): readonly string[] {
  return userStates().map((place) => join(place, 'accounts'))
}
