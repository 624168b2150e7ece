import { killOf } from '../../engine/book/book.ts'
import type { KillAnswer, KillRequest, WriterLease } from '../../journal/journal.ts'
import type { Account } from '../account/account.ts'
import { dropReleasedRequest, throwKillSwitch } from '../../assembly/state/kill-switch.ts'

/**
 * A standing kill throws the local switch, and one released elsewhere removes it.
 * @throws if that cannot be written: then nothing may trade
 */
export function throwStandingKill({ kill }: Pick<WriterLease, 'kill'>, directory: string): void {
  if (kill === undefined) return
  if (kill.state === 'released') return dropReleasedRequest(directory, kill.number)
  // A proved kill is in the journal.
  if (kill.state !== 'clean') throwFor(kill, directory)
}

interface RequestedKillsOptions {
  readonly lease: Pick<WriterLease, 'kill' | 'onKill' | 'answerKill'>
  readonly directory: string
}

export class RequestedKills {
  readonly #options: RequestedKillsOptions
  #thrown: number | undefined
  #noted: KillAnswer | undefined

  constructor(options: RequestedKillsOptions) {
    this.#options = options
    this.#thrown = options.lease.kill?.number
  }

  readonly note = (state: KillAnswer): void => {
    this.#noted = state
    // The answer waits until the step is done.
    queueMicrotask(() => void this.#options.lease.answerKill())
  }

  /** Carries out each order once, like the kill file, and reports progress. */
  bind(account: Pick<Account, 'shown' | 'command'>): void {
    this.#options.lease.onKill((kill) => {
      if (kill.state === 'released') return undefined
      const { book, engine } = account.shown
      const isKilled = killOf(book) !== undefined
      // The run that released the kill ended before it could report.
      if (kill.state === 'clean' && !isKilled) return 'released'
      if (kill.number !== this.#thrown) this.#throw(kill, account)
      if (this.#noted !== 'clean') return this.#noted
      // An order may have appeared since the kill was proved.
      return isKilled && engine.kill?.phase === 'clean' ? 'clean' : 'seen'
    })
  }

  #throw(kill: KillRequest, account: Pick<Account, 'command'>): void {
    if (this.#noted === 'released') this.#noted = undefined
    const isThrown = tryToThrow(kill, this.#options.directory)
    // The command kills even if the file could not be written; with the file, it is the same kill.
    const isObeyed =
      account.command({ kind: 'kill', reason: kill.reason, by: kill.by }) !== undefined
    if (isThrown || isObeyed) this.#thrown = kill.number
  }
}

function throwFor({ number, reason, by }: KillRequest, directory: string): void {
  throwKillSwitch(directory, { reason, by, order: number })
}

/** A full disk or a foreign directory is reported elsewhere. */
function tryToThrow(kill: KillRequest, directory: string): boolean {
  try {
    throwFor(kill, directory)
    return true
  } catch {
    return false
  }
}
