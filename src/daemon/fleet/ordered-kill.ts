import { killOf } from '../../engine/book/book.ts'
import type { KillAnswer, OrderedKill, WriterLease } from '../../journal/journal.ts'
import type { Account } from '../account/account.ts'
import { dropReleasedOrder, throwKillSwitch } from '../../assembly/state/kill-switch.ts'

/**
 * Before anything trades: a kill that stands is thrown here as one of this machine is, and the switch of one that was
 * released on another machine is taken away.
 * @param directory The environment's.
 * @throws where it cannot be written: then nothing may trade
 */
export function throwStandingKill({ kill }: Pick<WriterLease, 'kill'>, directory: string): void {
  if (kill === undefined) return
  if (kill.state === 'released') return dropReleasedOrder(directory, kill.number)
  // One that was proved stands in the journal itself.
  if (kill.state !== 'clean') throwFor(kill, directory)
}

interface Heeding {
  readonly lease: Pick<WriterLease, 'kill' | 'onKill' | 'answerKill'>
  /** The environment's. */
  readonly directory: string
}

/** Kills that were ordered on the journal's server, for the account that has the right to write it. */
export class OrderedKills {
  readonly #options: Heeding
  #thrown: number | undefined
  /** What the account has said last of a kill, whoever ordered it. */
  #noted: KillAnswer | undefined

  constructor(options: Heeding) {
    this.#options = options
    this.#thrown = options.lease.kill?.number
  }

  /** The account is so far with a kill. */
  readonly note = (state: KillAnswer): void => {
    this.#noted = state
    // Not in the midst of a step.
    queueMicrotask(() => void this.#options.lease.answerKill())
  }

  /** From now on it obeys each order once, as the kill file is obeyed, and says how far it is. */
  bind(account: Pick<Account, 'shown' | 'command'>): void {
    this.#options.lease.onKill((kill) => {
      if (kill.state === 'released') return undefined
      const { book, engine } = account.shown
      const isKilled = killOf(book) !== undefined
      // The run that released it ended before the server had heard.
      if (kill.state === 'clean' && !isKilled) return 'released'
      if (kill.number !== this.#thrown) this.#throw(kill, account)
      if (this.#noted !== 'clean') return this.#noted
      // Something may have turned up since.
      return isKilled && engine.kill?.phase === 'clean' ? 'clean' : 'seen'
    })
  }

  #throw(kill: OrderedKill, account: Pick<Account, 'command'>): void {
    if (this.#noted === 'released') this.#noted = undefined
    const isThrown = tryToThrow(kill, this.#options.directory)
    // Where the file cannot be written this alone kills; with it, it is the same kill.
    const isObeyed =
      account.command({ kind: 'kill', reason: kill.reason, by: kill.by }) !== undefined
    if (isThrown || isObeyed) this.#thrown = kill.number
  }
}

function throwFor({ number, reason, by }: OrderedKill, directory: string): void {
  throwKillSwitch(directory, { reason, by, order: number })
}

/** The disk is full, or is not ours any more: the daemon says so itself when it writes down how far it is. */
function tryToThrow(kill: OrderedKill, directory: string): boolean {
  try {
    throwFor(kill, directory)
    return true
  } catch {
    return false
  }
}
