import { type EventTime, KEPT_MS, ownMsOf } from './event-meter.ts'
import { type MeasuredEvent, type SoakSample } from './soak-sample.ts'

/** No event takes longer, ms of CPU. */
export const EVENT_MS_MAX = 50
/** So much of the load must have been sent: of 250 a second some batches are not full. */
export const LOAD_SHARE_MIN = 0.95
/** Ended orders stand in the book for five minutes: a half that is shorter says nothing of growth. */
export const JUDGED_MS_MIN = 600_000

const HOUR_MS = 3_600_000

/** What must not grow: its fitted line rises over the second half by no more than this share of its mean there. */
export interface Measure<Sample> {
  readonly name: string
  readonly unit: string
  readonly read: (sample: Sample) => number
  readonly shareMax: number
  /** Nor by no more than this, where the share is less: how far it goes up and down by itself. */
  readonly riseMax: number
}

export const MEASURES: readonly Measure<SoakSample>[] = [
  {
    name: 'heap',
    unit: 'MB',
    read: ({ heapBytes }) => heapBytes / 1e6,
    shareMax: 0.05,
    riseMax: 2,
  },
  {
    name: 'resident memory',
    unit: 'MB',
    read: ({ rssBytes }) => rssBytes / 1e6,
    shareMax: 0.1,
    riseMax: 64,
  },
  {
    name: 'journal, a record or key',
    unit: 'bytes',
    read: ({ journalBytes, records, keys }) => journalBytes / (records + keys),
    shareMax: 0.1,
    riseMax: 0,
  },
  { name: 'restart', unit: 'ms', read: ({ restartMs }) => restartMs, shareMax: 0.15, riseMax: 100 },
]

/** Judged once the load was played again. */
export const LONGEST_EVENT: Measure<RepeatedSample> = {
  name: 'longest event',
  unit: 'ms',
  read: ({ longestMs }) => longestMs,
  shareMax: 0.25,
  riseMax: 10,
}

export interface RepeatedSample extends Pick<SoakSample, 'atMs' | 'events'> {
  /** In both runs, since the sample before, ms. */
  readonly longestMs: number
}

/**
 * What an event took in two runs of one load: the smaller of its two times, since a busy machine
 * holds up other events each time. By its number; an event that was short in one run is absent.
 *
 * @throws when an event differs in kind: then the runs are not the same
 */
export function timesOfBoth(
  first: ReadonlyMap<number, EventTime>,
  second: ReadonlyMap<number, EventTime>,
): ReadonlyMap<number, EventTime> {
  return new Map(
    [...first].flatMap(([number, event]) => {
      const again = second.get(number)
      if (again === undefined) return []
      if (again.kind !== event.kind)
        throw new Error(
          `event ${number} was ${event.kind} first and ${again.kind} in the second run`,
        )
      return [[number, ownMsOf(event) < ownMsOf(again) ? event : again]]
    }),
  )
}

export function repeatSamples(
  samples: readonly SoakSample[],
  times: ReadonlyMap<number, EventTime>,
): readonly RepeatedSample[] {
  return samples.map(({ atMs, events }, index) => {
    const before = samples[index - 1]?.events ?? 0
    const within = [...times].filter(([number]) => number > before && number <= events)
    return {
      atMs,
      events,
      longestMs: Math.max(KEPT_MS, ...within.map(([, event]) => ownMsOf(event))),
    }
  })
}

/** How a measure has changed over the second half of a soak. */
export interface Growth {
  readonly measure: Pick<Measure<never>, 'name' | 'unit'>
  readonly mean: number
  /** An hour of the samples' own time. */
  readonly perHour: number
  /** Over the second half, and how much of it is let through. */
  readonly rise: number
  readonly riseMax: number
  readonly isFlat: boolean
}

export function fitGrowth<Sample extends { readonly atMs: number }>(
  samples: readonly Sample[],
  measures: readonly Measure<Sample>[],
): readonly Growth[] {
  const half = samples.slice(Math.floor(samples.length / 2))
  const hours = half.map(({ atMs }) => atMs / HOUR_MS)
  return measures.map((measure) => {
    const values = half.map(measure.read)
    const mean = meanOf(values)
    const perHour = slopeOf(hours, values)
    const rise = perHour * ((hours.at(-1) ?? 0) - (hours[0] ?? 0))
    const riseMax = Math.max(measure.shareMax * mean, measure.riseMax)
    return { measure, mean, perHour, rise, riseMax, isFlat: rise <= riseMax }
  })
}

/** The median of the slopes between all pairs (Theil and Sen): one sample that met a busy machine does not tilt it. */
function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const slopes = xs.flatMap((x, index) =>
    xs.slice(index + 1).flatMap((other, offset) => {
      const rise = (ys[index + 1 + offset] ?? 0) - (ys[index] ?? 0)
      return other === x ? [] : [rise / (other - x)]
    }),
  )
  const sorted = slopes.toSorted((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? 0 : (low + high) / 2
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function longestMsOf({ longest: [first] }: SoakSample): number {
  return first === undefined ? 0 : ownMsOf(first)
}

/** Columns of the table: a heading and what stands below it. */
const COLUMNS: readonly (readonly [heading: string, read: (sample: SoakSample) => string])[] = [
  ['at', ({ atMs }) => toDuration(atMs)],
  ['cpu s', ({ cpuMs }) => (cpuMs / 1000).toFixed(0)],
  ['orders', ({ orders }) => String(orders)],
  ['heap MB', ({ heapBytes }) => (heapBytes / 1e6).toFixed(1)],
  ['rss MB', ({ rssBytes }) => (rssBytes / 1e6).toFixed(0)],
  ['file MB', ({ journalBytes }) => (journalBytes / 1e6).toFixed(1)],
  ['records', ({ records }) => String(records)],
  ['used keys', ({ keys }) => String(keys)],
  ['restart ms', ({ restartMs }) => restartMs.toFixed(0)],
  ['event ms', (sample) => longestMsOf(sample).toFixed(1)],
  ['of kind', ({ longest: [first] }) => first?.kind ?? ''],
  ...(['orders', 'open', 'trades', 'keys', 'places', 'withdrawn'] as const).map(
    (name) =>
      [`book: ${name}`, ({ collections }: SoakSample) => String(collections[name])] as const,
  ),
]

const WIDTH_MIN = 9

function widthOf(heading: string): number {
  return Math.max(WIDTH_MIN, heading.length) + 2
}

export function renderHeading(): string {
  return COLUMNS.map(([heading]) => heading.padStart(widthOf(heading))).join('')
}

export function renderSample(sample: SoakSample): string {
  return COLUMNS.map(([heading, read]) =>
    read(sample).slice(0, 14).padStart(widthOf(heading)),
  ).join('')
}

/** The other collections of the book, those that are not empty. */
export function renderCollections({ collections }: SoakSample): string {
  const entries = Object.entries(collections).filter(([, size]) => size > 0)
  return `the book: ${entries.map(([name, size]) => `${name} ${size}`).join(', ')}`
}

export function renderGrowth({
  measure: { name, unit },
  mean,
  perHour,
  rise,
  riseMax,
  isFlat,
}: Growth): string {
  return [
    name.padEnd(26),
    `${mean.toFixed(1)} ${unit}`.padStart(14),
    `${perHour >= 0 ? '+' : ''}${perHour.toPrecision(3)} ${unit} an hour`.padStart(26),
    `  ${rise.toFixed(1)} in the second half, at most ${riseMax.toFixed(1)}: ${isFlat ? 'flat' : 'NOT FLAT'}`,
  ].join('')
}

/** What each kind of event took at most, in ms. */
export function renderEvents(samples: readonly SoakSample[]): string {
  const all = samples.flatMap(({ longest }) => longest)
  const kinds = Map.groupBy(all, ({ kind }) => kind)
  const rows = [...kinds.values()].flatMap(
    (events) => events.toSorted((left, right) => ownMsOf(right) - ownMsOf(left))[0] ?? [],
  )
  return rows
    .toSorted((left, right) => ownMsOf(right) - ownMsOf(left))
    .map(renderEvent)
    .join('\n')
}

function renderEvent(event: MeasuredEvent): string {
  const { kind, stepMs, effectsMs, journalMs, checkpointMs, strategyMs, collectedMs } = event
  const parts = {
    step: stepMs,
    effects: effectsMs,
    journal: journalMs,
    checkpoint: checkpointMs,
    strategies: strategyMs,
    'garbage collections in it': collectedMs,
  }
  const texts = Object.entries(parts).map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
  return `${kind.padEnd(18)}${ownMsOf(event).toFixed(1).padStart(8)} ms of CPU; by the wall: ${texts.join(', ')}`
}

function toDuration(ms: number): string {
  const hours = ms / HOUR_MS
  if (hours >= 48) return `${(hours / 24).toFixed(2)} d`
  return hours >= 1 ? `${hours.toFixed(2)} h` : `${(ms / 60_000).toFixed(2)} min`
}
