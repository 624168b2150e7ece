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
import type { ExchangePort, OnAnswer } from './ports.ts'

/** The exchange allows as many in a second. */
export const POSITIONS_ON_WIRE_MAX = 10

/** Names the read of fills; reads of positions have the name of their symbol. */
const FILLS = 'fills'

export interface AccountReaderOptions {
  readonly exchange: Pick<ExchangePort, 'readFills' | 'readPosition'>
  readonly dispatch: (event: EngineEvent) => void
  /** The instrument of a read that waits may have left its universe. */
  readonly isTraded: (symbol: string) => boolean
  /** @returns monotonic ms */
  readonly now: () => number
}

/**
 * Keeps one read of the fills and one of each position in flight, so that requests cannot pile up.
 * Fills requested during a read are read once more, from the earliest start; a position only if
 * urgent.
 * Positions wait here, not at the limiter, so that an urgent one can overtake. Refused reads wait
 * here too ({@link ReadPauses}).
 */
export class AccountReader {
  readonly #options: AccountReaderOptions
  readonly #pauses: ReadPauses
  #isReadingFills = false
  /** Unix ms, exchange clock; infinite: no fills are wanted. */
  #fillsSince = Number.POSITIVE_INFINITY
  readonly #onWire = new Set<string>()
  readonly #urgent = new Set<string>()
  readonly #inTurn = new Set<string>()
  readonly #hearing = new Map<string, OnAnswer<PositionReading>>()

  constructor(options: AccountReaderOptions) {
    this.#options = options
    this.#pauses = new ReadPauses(options.now)
  }

  /** @param sinceAt Unix ms, exchange clock */
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

  noteAccepted(): void {
    if (this.#pauses.areOver) return
    this.#pauses.noteAccepted()
    this.resume()
  }

  resume(): void {
    if (this.#pauses.areOver) return
    for (const read of this.#pauses.inOrder([FILLS, ...this.#urgent, ...this.#inTurn])) {
      if (!this.#pauses.mayAsk(read)) continue
      if (read === FILLS) this.#nextFills()
      else if (this.#urgent.has(read)) this.#askForPosition(read, this.#urgent)
      else if (this.#inTurn.has(read)) this.#askForPosition(read, this.#inTurn)
    }
  }

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
    // The read still counts as in flight, so that requests during the dispatch are read afterwards.
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
    if (!this.#options.isTraded(symbol)) return this.#pauses.forget(symbol)
    this.#onWire.add(symbol)
    this.#pauses.noteSent(symbol)
    this.#options.exchange.readPosition(symbol, this.#hearingOf(symbol))
  }

  /** A position is read with each look, so its callback is made once. */
  #hearingOf(symbol: string): OnAnswer<PositionReading> {
    const known = this.#hearing.get(symbol)
    if (known) return known
    const hear = (answer: Answer<PositionReading>) => this.#hearPosition(symbol, answer)
    this.#hearing.set(symbol, hear)
    return hear
  }

  #hearPosition(symbol: string, answer: Answer<PositionReading>): void {
    const { dispatch } = this.#options
    this.#pauses.noteAnswer(symbol, answer)
    if (answer.kind === 'accepted') dispatch({ kind: 'positionRead', reading: answer.data })
    else if (answer.kind === 'unknown' && answer.cause === 'unreadableRow')
      dispatch({ kind: 'positionUnreadable', symbol, problem: answer.message })
    else this.#reportFailure(`position ${symbol}`, answer, refusesInstrument(answer, symbol))
    this.#onWire.delete(symbol)
    if (!this.#options.isTraded(symbol)) this.#pauses.forget(symbol)
    this.#readNext()
  }

  #readNext(): void {
    if (!this.#pauses.areOver) return this.resume()
    this.#nextFills()
    this.#nextPositions()
  }

  #reportFailure(what: string, answer: RefusedAnswer | UnknownAnswer, isRemoved = false): void {
    // A page comes from something in front of the exchange, and is no refusal.
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

/** Pauses of 1, 2, 4 … s stay short, so that a repair is soon noticed. */
const PAUSE_MS = 1000
const PAUSE_MS_MAX = 16_000

/**
 * After so many different reads were refused because of the account, with nothing accepted between
 * them, all reads wait.
 */
const REFUSED_MAX = 3

interface RefusedRead {
  readonly inRow: number
  /** Monotonic ms. */
  readonly refusedAt: number
  readonly waitsUntil: number
  /** Key, rights or address were refused, which any accepted call disproves. */
  readonly isOfAccount: boolean
}

/**
 * Decides when refused reads are repeated (docs/start-and-stop.md, Refused reads). One stops no
 * other: a symbol may have been removed, or a page in front of the exchange may pass.
 */
export class ReadPauses {
  readonly #now: () => number
  readonly #refused = new Map<string, RefusedRead>()
  readonly #refusedSince = new Set<string>()
  #allWaitUntil = 0
  #allInRow = 0
  /** For each read in flight, how many private calls had been accepted when it left. */
  readonly #onWire = new Map<string, number>()
  #accepted = 0

  /** @param now monotonic ms */
  constructor(now: () => number) {
    this.#now = now
  }

  get areOver(): boolean {
    return this.#refused.size === 0
  }

  mayAsk(read: string): boolean {
    const now = this.#now()
    if (now < (this.#refused.get(read)?.waitsUntil ?? 0)) return false
    return (
      this.#refusedSince.size < REFUSED_MAX ||
      (this.#onWire.size === 0 && now >= this.#allWaitUntil)
    )
  }

  /**
   * Reads that were not refused come first, then the longest refused: one may show that others can
   * go on.
   */
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

  /** A read that nothing asks for again must hold back no other. */
  forget(read: string): void {
    this.#refused.delete(read)
    this.#refusedSince.delete(read)
  }

  noteAccepted(): void {
    this.#accepted += 1
    this.#refusedSince.clear()
    this.#allInRow = 0
    for (const [read, refused] of this.#refused) this.#refused.set(read, eased(refused))
  }

  /** @param isNews no call was accepted after the read had left */
  #refuse(read: string, isOfAccount: boolean, isNews: boolean): void {
    const refusedAt = this.#now()
    const inRow = (this.#refused.get(read)?.inRow ?? 0) + 1
    const refused = { inRow, refusedAt, waitsUntil: refusedAt + pauseMs(inRow), isOfAccount }
    this.#refused.set(read, isNews ? refused : eased(refused))
    if (!isOfAccount || !isNews) return
    this.#refusedSince.add(read)
    if (this.#refusedSince.size < REFUSED_MAX || this.#onWire.size > 0) return
    this.#allInRow += 1
    this.#allWaitUntil = refusedAt + pauseMs(this.#allInRow)
  }

  #refusedAt(read: string): number {
    return this.#refused.get(read)?.refusedAt ?? 0
  }
}

/** Other calls are accepted, so only repeated refusals wait, for a second. */
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
