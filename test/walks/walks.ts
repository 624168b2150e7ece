import type { WalkLog } from './walk-log.ts'

/** A story of the program: the functions that are entered in it, in order of first entry. */
export interface Walk {
  readonly title: string
  /** `file:name`, files below `src/`. */
  readonly functions: readonly string[]
}

const LAST_BYTE = 'exchange/client/transport.ts:onResponseEnd'
const RECORD = 'engine/state/core.ts:recordBefore'
const PUBLISH = 'daemon/market-data/market-data.ts:publish'
const TAKE_SNAPSHOT = 'engine/strategies/ask-to-decide.ts:takeSnapshot'
const PLACE_BATCH = 'daemon/account/http-exchange-port.ts:placeBatch'
const FIRST_BYTE = 'exchange/client/transport.ts:onRequestStart'
const START_THREAD = 'lib/supervised-thread.ts:openWorker'
const NEW_FILLS = 'engine/resolution/take-fills.ts:takeNewFills'

/**
 * The stories of daemons that ran alike. Each is what all its runs have in common: whatever else happens meanwhile (a
 * timer, another reading) differs from one to the next.
 */
export function walksOfDaemons(logs: readonly WalkLog[]): readonly Walk[] {
  return [
    common('a snapshot on which nothing happens', logs.flatMap(quietSnapshots)),
    common('a price, to the first byte of the order that it causes', logs.flatMap(ordersOfPrices)),
    common('a fill, to the first byte of the order that answers it', logs.flatMap(ordersOfFills)),
  ]
}

/** The command starts a thread, in which the prices are played. */
export function walkOfBacktest(command: WalkLog, thread: WalkLog): Walk {
  const [start = -1] = command.entriesOf(START_THREAD)
  const [price = -1] = thread.entriesOf(TAKE_SNAPSHOT)
  const functions = [...command.functionsBetween(0, start), ...thread.functionsBetween(0, price)]
  return {
    title: '`backtest`, from the command to the first price',
    functions: [...new Set(functions)],
  }
}

export function filesOf({ functions }: Walk): readonly string[] {
  return [...new Set(functions.map((name) => name.slice(0, name.indexOf(':'))))]
}

/** The functions of a story, each time that it happens. */
type Stories = readonly (readonly string[])[]

interface Stretch {
  readonly from: number
  readonly to: number
}

/** Snapshots at which strategies were asked and nothing went into the book. */
function quietSnapshots(log: WalkLog): Stories {
  const records = log.entriesOf(RECORD)
  return snapshotsOf(log)
    .filter(({ from, to }) => firstAfter(records, from) > to)
    .map(({ from, to }) => log.functionsBetween(from, to))
}

/**
 * From the last byte of the answer with the prices. The batch is made, recorded and signed while they are heard; what
 * happens while the connection is opened belongs to other stories.
 */
function ordersOfPrices(log: WalkLog): Stories {
  const answers = log.entriesOf(LAST_BYTE)
  const batches = log.entriesOf(PLACE_BATCH)
  const firstBytes = log.entriesOf(FIRST_BYTE)
  return snapshotsOf(log).flatMap(({ from, to }) => {
    const batch = firstAfter(batches, from)
    if (batch > to) return []
    const sent = firstAfter(firstBytes, batch)
    const heard = log.functionsBetween(lastBefore(answers, from), Math.min(sent, to))
    return [[...new Set([...heard, ...log.functionsBetween(sent, log.returnOf(sent))])]]
  })
}

function ordersOfFills(log: WalkLog): Stories {
  const answers = log.entriesOf(LAST_BYTE)
  const batches = log.entriesOf(PLACE_BATCH)
  const firstBytes = log.entriesOf(FIRST_BYTE)
  return log.entriesOf(NEW_FILLS).flatMap((fill) => {
    const end = firstAfter(firstBytes, firstAfter(batches, fill))
    return Number.isFinite(end) ? [log.functionsBetween(lastBefore(answers, fill), end)] : []
  })
}

/** The publications of prices, not those of the clock. */
function snapshotsOf(log: WalkLog): readonly Stretch[] {
  const asked = log.entriesOf(TAKE_SNAPSHOT)
  return log
    .entriesOf(PUBLISH)
    .map((from) => ({ from, to: log.returnOf(from) }))
    .filter(({ from, to }) => firstAfter(asked, from) < to)
}

function common(title: string, stories: Stories): Walk {
  const [first, ...others] = stories.map((functions) => new Set(functions))
  if (first === undefined) throw new Error(`the runs were too short: they have no "${title}"`)
  return { title, functions: [...first].filter((name) => others.every((story) => story.has(name))) }
}

/** Infinity where there is none. */
function firstAfter(places: readonly number[], place: number): number {
  return places.find((known) => known > place) ?? Number.POSITIVE_INFINITY
}

function lastBefore(places: readonly number[], place: number): number {
  const last = places.findLast((known) => known < place)
  if (last === undefined) throw new Error('an answer is missing before what it says')
  return last
}
