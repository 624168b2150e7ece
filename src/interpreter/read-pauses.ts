import { type Answer, isForbidden, isRefusedForGood, refusesKeys } from '../domain/answer.ts'

/** After a refusal the same read waits for a second, then for 2, 4 … s, ms. Seconds at most: what was mended is soon noticed. */
const PAUSE_MS = 1000
const PAUSE_MS_MAX = 16_000

/** So many different reads refused for the account's sake, and nothing accepted since: the others are refused as well. */
const REFUSED_MAX = 3

/** A read that the exchange, or something in front of it, refuses for good. */
interface RefusedRead {
  /** How often in a row. */
  readonly inRow: number
  /** Monotonic ms, as below. */
  readonly refusedAt: number
  readonly waitsUntil: number
  /** Not the read was refused, but the key, its rights or the address: any accepted call shows that this is over. */
  readonly isOfAccount: boolean
}

/**
 * When fills and positions may be read again after a read was refused for good. A read that is refused waits by itself,
 * and stops no other: one symbol may have been removed, or one page in front of the exchange may be a passing one.
 *
 * If several different reads are refused for the account's sake and no private call is accepted meanwhile, all others
 * wait too, and one of them asks at a time, after the same pauses: with many instruments a refused key would otherwise be
 * shown to the exchange many times a second. As soon as any private call is accepted all go on.
 */
export class ReadPauses {
  readonly #now: () => number
  readonly #refused = new Map<string, RefusedRead>()
  /** Reads that were refused for the account's sake since a private call was last accepted. */
  readonly #refusedSince = new Set<string>()
  /** When the last of all reads may ask again while all wait, and how many of them were refused in a row. */
  #allWaitUntil = 0
  #allInRow = 0
  /** By read on the wire: how many private calls had been accepted when it left. */
  readonly #onWire = new Map<string, number>()
  #accepted = 0

  /** @param now Monotonic ms. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether nothing is refused: all may be sent. */
  get areOver(): boolean {
    return this.#refused.size === 0
  }

  /** Whether a read may be sent now. */
  mayAsk(read: string): boolean {
    const now = this.#now()
    if (now < (this.#refused.get(read)?.waitsUntil ?? 0)) return false
    return (
      this.#refusedSince.size < REFUSED_MAX ||
      (this.#onWire.size === 0 && now >= this.#allWaitUntil)
    )
  }

  /** Those first that were not refused, or longest ago: one of them may show that the others can go on. */
  inOrder(reads: readonly string[]): readonly string[] {
    return reads.toSorted((one, other) => this.#refusedAt(one) - this.#refusedAt(other))
  }

  noteSent(read: string): void {
    this.#onWire.set(read, this.#accepted)
  }

  noteAnswer(read: string, answer: Answer<unknown>): void {
    const acceptedBefore = this.#onWire.get(read)
    this.#onWire.delete(read)
    if (answer.kind === 'accepted') {
      this.#refused.delete(read)
      this.noteAccepted()
    } else if (isRefusedForGood(answer)) {
      const isOfAccount = refusesKeys(answer) || isForbidden(answer)
      this.#refuse(read, isOfAccount, acceptedBefore === this.#accepted)
    }
  }

  /** The exchange has accepted a private call: what was refused for the account's sake is asked for at once. */
  noteAccepted(): void {
    this.#accepted += 1
    this.#refusedSince.clear()
    this.#allInRow = 0
    for (const [read, refused] of this.#refused) this.#refused.set(read, eased(refused))
  }

  /** @param isNews No call was accepted after the read had left. */
  #refuse(read: string, isOfAccount: boolean, isNews: boolean): void {
    const refusedAt = this.#now()
    const inRow = (this.#refused.get(read)?.inRow ?? 0) + 1
    const refused = { inRow, refusedAt, waitsUntil: refusedAt + pauseMs(inRow), isOfAccount }
    this.#refused.set(read, isNews ? refused : eased(refused))
    if (!isOfAccount || !isNews) return
    this.#refusedSince.add(read)
    // Reads that were on the wire together are refused together: they count as one.
    if (this.#refusedSince.size < REFUSED_MAX || this.#onWire.size > 0) return
    this.#allInRow += 1
    this.#allWaitUntil = refusedAt + pauseMs(this.#allInRow)
  }

  #refusedAt(read: string): number {
    return this.#refused.get(read)?.refusedAt ?? 0
  }
}

/** Other calls are accepted: only a read that is refused time and again all the same still waits, for a second. */
function eased(read: RefusedRead): RefusedRead {
  const { inRow, refusedAt, waitsUntil, isOfAccount } = read
  if (!isOfAccount) return read
  return {
    ...read,
    waitsUntil: Math.min(waitsUntil, inRow === 1 ? refusedAt : refusedAt + PAUSE_MS),
  }
}

function pauseMs(inRow: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (inRow - 1))
}
