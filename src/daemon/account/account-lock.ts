import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { processVariables } from '../../config/secrets.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { type LockHolder, type ProcessLock, readLockHolder, takeProcessLock } from '../../lib/process-lock.ts'
import { type ExchangeAccess } from '../../exchange/client/exchange-access.ts'
import { fingerprintOf } from './account-keys.ts'
import { describeTo } from '../state/state-directory.ts'

export interface AccountLockOptions {
  readonly access: ExchangeAccess
  readonly holder: LockHolder
  /** Where the locks of all accounts lie; the user's own place for state unless a test says otherwise. */
  readonly place?: string
  /** The lock cannot be made, and why: the run goes on without it. */
  readonly onUnlocked: (reason: string) => void
}

/**
 * Holds the account against other daemons of the same user on this machine, whatever their state directory:
 * each would take the other's orders for strangers and cancel them. Another machine, another user and another
 * key of the same account are not seen here; their fills are (`position.adopted`, `fill.foreign`).
 *
 * @throws Failure ACCOUNT_HELD, which names the one that has it
 */
export function holdAccount(options: AccountLockOptions): ProcessLock {
  const { access, holder, place = accountLocks() } = options
  const attempt = attemptLock(place, lockFileOf(access), {
    holder,
    onUnlocked: options.onUnlocked,
  })
  if (attempt.kind === 'held') return attempt.lock
  throw new Failure({
    code: 'ACCOUNT_HELD',
    sentence: 'another daemon trades this account',
    facts: { exchange: access.baseUrl, ...describeTo(attempt.by) },
    hint: 'stop the other one, or give this configuration an account of its own',
  })
}

/** Who trades the account now; undefined where nobody of this user does. */
export function readAccountHolder(access: ExchangeAccess): LockHolder | undefined {
  return readLockHolder(join(accountLocks(), lockFileOf(access)))
}

const lockFileOf = (access: ExchangeAccess): string => `${fingerprintOf(access)}.lock`

function attemptLock(
  place: string,
  file: string,
  { holder, onUnlocked }: Pick<AccountLockOptions, 'holder' | 'onUnlocked'>,
): ReturnType<typeof takeProcessLock> {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    return takeProcessLock(join(place, file), holder)
  } catch (error) {
    // A service may have no home of its own. The state directory is held all the same.
    onUnlocked(messageOf(error))
    return { kind: 'held', lock: { release: () => undefined } }
  }
}

/** A place that outlives a boot and that nothing tidies up: a lock whose file is removed is no lock. */
export function accountLocks(): string {
  const state = processVariables()['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state')
  return join(state, 'intentd', 'accounts')
}
