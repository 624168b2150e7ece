import { SeededDraws } from './seeded-draws.ts'

export const FAULTS = {
  refusedConnection: 'not a byte leaves: the connection is refused',
  requestLost: 'the request never arrives',
  requestLate: 'the request arrives late, up to and beyond the tolerance of the exchange',
  requestLast: 'the request arrives when it was given up, shortly before it expires',
  answerLost: 'the exchange did it, and the answer never comes',
  answerLate: 'the answer comes after the wait was given up',
  answerTwice: 'the same answer comes twice',
  serverErrorBefore: 'a 5xx, and nothing was done',
  serverErrorAfter: 'a 5xx, and it was done',
  rateLimited: 'a 429, and nothing was done',
  rateLimitedAfter: 'a 429, and it was done',
  requestCut: 'the connection breaks before the request has arrived',
  requestTwice: 'a copy of the request arrives too, and the answer is that of the copy',
  answerCut: 'the exchange did it, and the connection breaks in the middle of the answer',
  answerGarbled: 'the exchange did it, and the answer arrives spoilt',
  ambiguousBefore: 'a code that says nothing, and nothing was done',
  ambiguousAfter: 'a code that says nothing, and it was done',
  requestRefused: 'a whole request is refused for good',
  gatewayPage: 'a redirect, or a refusal in HTML, from whoever stands before the exchange',
  readsRefused:
    'reads of fills, of positions or of both are refused for good, once or for seconds: the key, the address, or a page',
  rateStorm: 'seconds of nothing but 429 on an endpoint',
  cancelStorm: 'seconds of nothing but 429 when orders are to be cancelled',
  outage: 'seconds in which nothing arrives and nothing comes back',
  timeWrong: 'the time in one answer is minutes off',
  publicTimeWrong: 'the time in public answers is seconds to hours off, for a while or for good',
  checkedElsewhere:
    'for a while the machine that checks the time of batches and cancel-alls has a clock of its own, minutes to an hour off',
  rowsOdd:
    'for a while each answer of fills, or about a position, has a row that is null, or of other types than the document says',
  itemRejected: 'one item of a batch is refused',
  itemDropped: 'one item of a batch is neither looked at nor answered',
  itemRetried: 'one item of a batch is one too many, for now',
  itemAmbiguous: 'one item of a batch is refused with a code that says nothing',
  itemAmbiguousAfter: 'one item of a batch is accepted, and its code says nothing',
  itemMissing: 'one item of a batch is in neither list of the answer',
  itemTwice: 'one item of a batch is in both lists',
  orderIdMissing: 'an order is accepted without an orderId',
  cancelFailed: 'a cancel-all cancels nothing, and says so',
  cancelSkipped: 'a cancel-all leaves an order resting, and says so',
  cancelLingers: 'an order that a cancel-all has taken can still be filled for a moment',
  cancelLate: 'a cancel-all arrives when it was given up, shortly before it expires',
  cancelBlurred: 'a cancel-all says of a cancelled order that it was not',
  tickerMissing: 'an instrument is missing from an answer',
  tickerStale: 'the prices of an instrument are old',
  tickerAbsurd: 'the prices of an instrument are none that a market makes',
  positionEmpty: 'a position that stands is not listed, once',
  positionOld: 'a position is read as it was some hundred milliseconds ago',
  markWrong: 'the rows of a position state a wrong mark, and the profit at it, once or for a while',
  counterWrong: 'the rows of a position state a wrong funding counter, once',
  profitBlank: 'the rows of a position leave their profit out, once or for a while',
  pricesWrong: 'tickers, index and rows of positions agree on a wrong price, for one answer',
  fillMisstated:
    'a fill is shown at a price that its order does not allow, or with a profit or a fee that cannot be, as often as it is read',
  positionSilent: 'an answer about a position says nothing at all, once',
  strategyThrows: 'a strategy throws',
  strategyGarbage: 'a strategy returns what is no intent',
  strategyWild:
    'a strategy wants what no limit allows: a price far from the market, a thousand lots',
  strategyLasting: 'what a strategy places by name may be placed for hours',
  strategyStray: 'a strategy wants something of an instrument that is none of its own',
  strategyFlood: 'a strategy returns hundreds of intents',
  grantTwice: 'the core hears twice that a call was granted',
  snapshotTwice: 'the core hears twice of the same prices',
  readingTwice: 'the core hears twice of the same reading of fills or a position',
  commandTwice: 'the core hears twice of the same command',
  slowSync: 'a durable record makes the process wait',
  diskFull: 'for a while nothing can be written',
  diskLow: 'for a while the disk has less room than the configuration wants',
  diskBroken: 'a record cannot be written, and the process retreats in order',
  tailKept: 'a part of what was not durable survives a death',
  checkpoint: 'a checkpoint is written between two steps',
  olderCheckpoint: 'the process starts from the checkpoint before the last one',
  clockStep: 'somebody sets the clock of our machine by minutes',
  clockSetWhileDown:
    'the clock of our machine is set while the process is down, by seconds or by minutes',
  stall: 'the process stands still for a while, at some effect',
  stallAtSend: 'the process stands still right before a batch is written',
  asleep: 'the process stands still for a quarter of an hour or more, as on a machine that sleeps',
  terminated: 'the process is told to stop, and started again',
  killed: 'the kill switch is thrown, and released once all is clean',
  killedAtSend: 'the kill switch is thrown right before a batch leaves',
  liquidated: 'the exchange cancels our orders and closes positions of ours',
  deleveraged: 'the exchange closes a part of a position of ours',
  closedUnseen: 'the exchange closes a part of a position of ours, and no fill ever tells of it',
  orderVanishes: 'the exchange loses an order that rests, and never says so',
  tradedByHand: 'somebody trades by hand on our account',
  tradedByProgram:
    'another program trades on our account, through the API or from where its fills do not say',
  restrictedAtSend: 'the operator restricts an instrument to reducing right before a batch leaves',
  restrictedByHand: 'the operator restricts the account, an instrument or a strategy for a while',
  flattenedByHand: 'the operator has the account, an instrument or a strategy flattened',
  adoptedByHand: 'the operator hands what no strategy holds of an instrument to a strategy',
  manualByHand:
    'the operator trades as `manual`: an order, a close of a share or a cancel, at times given twice',
  orderByHand: 'somebody places an order by hand on our account, which rests for a while',
  modeSwitched:
    'somebody switches the position mode of our account, while it is flat, and back after a while',
  suspended: 'an instrument cannot be traded for a while',
  gridChanged: 'the exchange takes coarser prices or sizes of an instrument for a while',
  marginModeChanged: 'a position of ours is isolated for a while, by hand',
  leverageChanged: 'the leverage of an instrument is another one for a while, by hand',
  itemRestricted: 'one item of a batch is refused because the account is restricted',
  keyRefused: 'a batch is refused because the key may not trade',
  death: 'the process dies at some effect',
  deathAtSend: 'the process dies right before or after a call leaves',
  deathAtHalt: 'the process dies around the halt of an instrument',
  deathAtDoubt: 'the process dies around the record that calls in question what rests',
  clockSetFar: 'somebody sets the clock of our machine by days or months',
  strategyEdges:
    'a strategy returns what lies at the edge of a type: -0, 2 ** 53, the longest key, 200 levels',
  tickerBroken: 'the row of an instrument in an answer of tickers is not as the document describes',
  fillBroken: 'a row in an answer of fills is off the grid, or dated days ahead',
  fillAhead: 'a fill is dated minutes, days or months ahead, as often as it is read',
  feeElsewhere: 'a fee is taken in another coin, with a price in the configuration or without one',
  feeMissing: 'a fill is shown without its fee, as often as it is read',
  profitMissing: 'a fill is shown without its profit, as often as it is read',
  hungPastLease:
    'the process stands still for longer than its lease, its machine asleep or its clock set meanwhile, or neither',
  leaseCut: 'the lease cannot be renewed for a while, and what is written and sent comes through',
  longDown: 'it takes a quarter of an hour or more before the process is started again',
  deathInRecovery: 'the process dies at one of its first effects',
  killedAtResend:
    'the kill switch is thrown when a batch has just left that holds nothing but copies',
  asleepAtResend: 'the machine falls asleep for a quarter of an hour when such a batch is to leave',
} as const satisfies Record<string, string>

export type FaultKind = keyof typeof FAULTS

/** Probability of each kind at each of its draws; a missing kind never strikes. */
export type FaultRates = Readonly<Partial<Record<FaultKind, number>>>

export interface StruckFault {
  readonly site: string
  readonly n: number
  readonly fault: FaultKind
}

export interface VirtualFaultsOptions {
  readonly seed: string
  readonly rates: FaultRates
  /** With a script exactly these faults strike, whatever the rates. */
  readonly script?: readonly StruckFault[] | undefined
  /** Faults that never strike at a site, as `fault@site`. */
  readonly never?: readonly string[]
}

/**
 * By rates, each draw has its own address (seed, kind, site, n). Severity follows from the address
 * too, so a run by another's script is the same run, and one fault less leaves the others as they
 * were.
 */
export class VirtualFaults {
  readonly #draws: SeededDraws
  readonly #rates: FaultRates
  readonly #script: ReadonlySet<string> | undefined
  readonly #never: ReadonlySet<string>
  readonly #counters = new Map<string, number>()
  readonly struck: StruckFault[] = []
  isOn = true
  isQuiet = (): boolean => false
  onStrike: (fault: StruckFault) => void = () => undefined

  constructor({ seed, rates, script, never = [] }: VirtualFaultsOptions) {
    this.#draws = new SeededDraws(seed)
    this.#never = new Set(never)
    this.#script = script && new Set(script.map(addressOf))
    this.#rates = script === undefined ? rates : ratesOf(script)
  }

  /** @param n number of the draw; default: the next of its kind at the site */
  strikes(fault: FaultKind, site: string, n?: number): boolean {
    const rate = this.#rates[fault] ?? 0
    if (rate === 0) return false
    const name = `${fault}@${site}`
    const draw = n ?? this.#count(name)
    if (!this.isOn || this.isQuiet() || this.#never.has(name)) return false
    const isStruck = this.#script
      ? this.#script.has(`${name}#${draw}`)
      : this.#draws.unit(name, draw) < rate
    if (!isStruck) return false
    const struck = { site, n: draw, fault }
    this.struck.push(struck)
    this.onStrike(struck)
    return true
  }

  /** In [from, to). */
  severity(from: number, to: number): number {
    const last = this.struck.at(-1)
    return last
      ? this.#draws.integer(`${last.fault}@${last.site}/severity`, last.n, [from, to])
      : from
  }

  /** Whole ms in [from, to), without a fault. */
  delayMs(site: string, from: number, to: number, n?: number): number {
    return this.#draws.integer(site, n ?? this.#count(site), [from, to])
  }

  counts(): ReadonlyMap<FaultKind, number> {
    const counts = new Map<FaultKind, number>()
    for (const { fault } of this.struck) counts.set(fault, (counts.get(fault) ?? 0) + 1)
    return counts
  }

  #count(name: string): number {
    const n = this.#counters.get(name) ?? 0
    this.#counters.set(name, n + 1)
    return n
  }
}

function addressOf({ fault, site, n }: StruckFault): string {
  return `${fault}@${site}#${n}`
}

/** Kinds outside of the script are not drawn. */
function ratesOf(script: readonly StruckFault[]): FaultRates {
  return Object.fromEntries(script.map(({ fault }) => [fault, 1]))
}
