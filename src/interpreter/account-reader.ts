import {
  type Answer,
  isForbidden,
  isRefusedForGood,
  type RefusedAnswer,
  refusesInstrument,
  refusesKeys,
  type UnknownAnswer,
} from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { PositionReading } from '../domain/position.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { ExchangePort } from './ports.ts'

/** Positions that are read at a time: as many calls as the exchange allows in a second. */
const POSITIONS_ON_WIRE_MAX = 10

/** The name of the reads of fills among those of positions, which have their symbols. */
const FILLS = 'fills'

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
  /** Monotonic ms. */
  readonly now: () => number
}

/**
 * Reads fills and positions for the core. Only one read of the fills, and one of each position, is on the wire at a
 * time, so that a core that asks often cannot pile up calls.
 *
 * Asked for during a read, fills are read once more afterwards, from the earliest start that was asked for. So is a
 * position whose reading is urgent; otherwise the read under way is enough. Positions wait here, not at the limiter, so
 * that an urgent one can still go before the others. Here waits as well what was refused ({@link ReadPauses}).
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  readonly #pauses: ReadPauses
  #isReadingFills = false
  /** Fills are to be read from this time on, Unix ms, exchange clock; infinite: none are. */
  #fillsSince = Number.POSITIVE_INFINITY
  readonly #onWire = new Set<string>()
  /** Positions that wait, by symbol, in the order in which they were asked for; the urgent ones go first. */
  readonly #urgent = new Set<string>()
  readonly #inTurn = new Set<string>()

  constructor(options: AccountReaderOptions) {
    this.#options = options
    this.#pauses = new ReadPauses(options.now)
  }

  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number): void {
    this.#fillsSince = Math.min(this.#fillsSince, sinceAt)
    if (this.#pauses.areOver) this.#nextFills()
    else this.resume()
  }

  readPosition(symbol: string, isUrgent: boolean): void {
    if (isUrgent) {
      this.#inTurn.delete(symbol)
      this.#urgent.add(symbol)
    } else if (!this.#urgent.has(symbol) && !this.#onWire.has(symbol)) this.#inTurn.add(symbol)
    if (this.#pauses.areOver) this.#nextPositions()
    else this.resume()
  }

  /** The exchange has accepted another call of the account. */
  noteAccepted(): void {
    if (this.#pauses.areOver) return
    this.#pauses.noteAccepted()
    this.resume()
  }

  /** Reads what waited for the end of a pause. */
  resume(): void {
    if (this.#pauses.areOver) return
    for (const read of this.#pauses.inOrder([FILLS, ...this.#urgent, ...this.#inTurn])) {
      if (!this.#pauses.mayAsk(read)) continue
      if (read === FILLS) this.#nextFills()
      else if (this.#urgent.has(read)) this.#askForPosition(read, this.#urgent)
      else if (this.#inTurn.has(read)) this.#askForPosition(read, this.#inTurn)
    }
  }

  /** Drops the reads that still wait. */
  stop(): void {
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#urgent.clear()
    this.#inTurn.clear()
  }

  #nextFills(): void {
    const since = this.#fillsSince
    if (this.#isReadingFills || since === Number.POSITIVE_INFINITY) return
    this.#isReadingFills = true
    this.#fillsSince = Number.POSITIVE_INFINITY
    this.#pauses.noteSent(FILLS)
    this.#options.exchange.readFills(since, this.#hearFills)
  }

  readonly #hearFills = (answer: Answer<FillsReading>): void => {
    this.#pauses.noteAnswer(FILLS, answer)
    // Still marked as reading: what the core asks for while it handles this answer is read afterwards.
    if (answer.kind === 'accepted')
      this.#options.dispatch({ kind: 'fillsRead', reading: answer.data })
    else this.#reportFailure(FILLS, answer)
    this.#isReadingFills = false
    this.#readNext()
  }

  #nextPositions(): void {
    this.#askForThese(this.#urgent)
    this.#askForThese(this.#inTurn)
  }

  #askForThese(waiting: Set<string>): void {
    if (waiting.size === 0) return
    for (const symbol of waiting) {
      if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX) return
      this.#askForPosition(symbol, waiting)
    }
  }

  #askForPosition(symbol: string, waiting: Set<string>): void {
    if (this.#onWire.size >= POSITIONS_ON_WIRE_MAX || this.#onWire.has(symbol)) return
    waiting.delete(symbol)
    this.#onWire.add(symbol)
    this.#pauses.noteSent(symbol)
    this.#options.exchange.readPosition(symbol, (answer) => this.#hearPosition(symbol, answer))
  }

  #hearPosition(symbol: string, answer: Answer<PositionReading>): void {
    const { dispatch } = this.#options
    this.#pauses.noteAnswer(symbol, answer)
    if (answer.kind === 'accepted') dispatch({ kind: 'positionRead', reading: answer.data })
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow')
      dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    else this.#reportFailure(`position ${symbol}`, answer, refusesInstrument(answer, symbol))
    this.#onWire.delete(symbol)
    this.#readNext()
  }

  #readNext(): void {
    if (!this.#pauses.areOver) return this.resume()
    this.#nextFills()
    this.#nextPositions()
  }

  #reportFailure(what: string, answer: RefusedAnswer | UnknownAnswer, isRemoved = false): void {
    // A page that refuses comes from in front of the exchange, which has said nothing.
    const refused = answer.kind === 'refused' && isRefusedForGood(answer) && { isRefused: true }
    const reason = reasonOf(answer)
    this.#options.dispatch({
      kind: 'readFailed',
      what,
      reason,
      status: answer.status,
      ...refused,
      ...(isRemoved && { isRemoved }),
    })
  }
}

function reasonOf({ kind, code, message }: RefusedAnswer | UnknownAnswer): string {
  return `${kind} ${code}: ${message}`
}

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
  /** Keyed by the read on the wire: how many private calls had been accepted when it left. */
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
