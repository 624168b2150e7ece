import { killOf } from '../../engine/book/book.ts'
import type { KillAnswer, OrderedKill, WriterLease } from '../../journal/journal.ts'
import type { Account } from '../account/account.ts'
import { dropReleasedOrder, throwKillSwitch } from '../../assembly/state/kill-switch.ts'

/**
 * Before trading: throws the local kill switch for a standing kill, and removes it for one released
 * on another machine.
 * @param directory of the environment
 * @throws if it cannot be written: then nothing may trade
 */
export function throwStandingKill({ kill }: Pick<WriterLease, 'kill'>, directory: string): void {
  if (kill === undefined) return
  if (kill.state === 'released') return dropReleasedOrder(directory, kill.number)
  // A proved kill is in the journal.
  if (kill.state !== 'clean') throwFor(kill, directory)
}

interface Heeding {
  readonly lease: Pick<WriterLease, 'kill' | 'onKill' | 'answerKill'>
  /** Directory of the environment. */
  readonly directory: string
}

/** Kills ordered on the journal's server, for the account that holds its lease. */
export class OrderedKills {
  readonly #options: Heeding
  #thrown: number | undefined
  /** The last reported state of any kill. */
  #noted: KillAnswer | undefined

  constructor(options: Heeding) {
    this.#options = options
    this.#thrown = options.lease.kill?.number
  }

  /** The account reports its progress with a kill. */
  readonly note = (state: KillAnswer): void => {
    this.#noted = state
    // The answer waits until the step is done.
    queueMicrotask(() => void this.#options.lease.answerKill())
  }

  /** From now on each order is obeyed once, like the kill file, and progress is reported. */
  bind(account: Pick<Account, 'shown' | 'command'>): void {
    this.#options.lease.onKill((kill) => {
      if (kill.state === 'released') return undefined
      const { book, engine } = account.shown
      const isKilled = killOf(book) !== undefined
      // The run that released it ended before it reported that.
      if (kill.state === 'clean' && !isKilled) return 'released'
      if (kill.number !== this.#thrown) this.#throw(kill, account)
      if (this.#noted !== 'clean') return this.#noted
      // Something may have appeared since.
      return isKilled && engine.kill?.phase === 'clean' ? 'clean' : 'seen'
    })
  }

  #throw(kill: OrderedKill, account: Pick<Account, 'command'>): void {
    if (this.#noted === 'released') this.#noted = undefined
    const isThrown = tryToThrow(kill, this.#options.directory)
    // The command alone kills if the file cannot be written; with it, it is the same kill.
    const isObeyed =
      account.command({ kind: 'kill', reason: kill.reason, by: kill.by }) !== undefined
    if (isThrown || isObeyed) this.#thrown = kill.number
  }
}

function throwFor({ number, reason, by }: OrderedKill, directory: string): void {
  throwKillSwitch(directory, { reason, by, order: number })
}

/** The disk is full, or the directory is no longer ours: the daemon reports that elsewhere. */
function tryToThrow(kill: OrderedKill, directory: string): boolean {
  try {
    throwFor(kill, directory)
    return true
  } catch {
    return false
  }
}
