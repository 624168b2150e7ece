import { hash } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import {
  CURVE_STEPS_MS,
  type CurvePoint,
  type CurveQuery,
  figureOf,
  hoursKeptMs,
  isKeptWhole,
  MINUTES_KEPT_MS,
  parsePlotSeries,
  PLOTS_MAX,
} from '../curves.ts'

const { minute: MINUTE_MS, hour: HOUR_MS } = CURVE_STEPS_MS

/**
 * A write folds at most this many hours, at about a millisecond each. After a long stop many writes
 * fold the rest.
 */
const HOURS_MAX = 4

export type StoredPoint = CurvePoint & { readonly step: number }

/**
 * Where an hour and a minute begin together, the hour's point comes first.
 * @throws RangeError for a damaged point
 */
export function* readCurve(
  database: DatabaseSync,
  firstLink: string,
  { series, since = 0, until = Number.MAX_SAFE_INTEGER, everyMs = 1 }: CurveQuery,
): Generator<CurvePoint> {
  const rows = database
    .prepare(
      `SELECT * FROM curves WHERE series = ? AND at >= ? AND at < ? AND at % ? = 0 ORDER BY at, step DESC`,
    )
    .iterate(series, since, until, everyMs)
  for (const row of rows) {
    const { step: _, ...point } = verifyPoint(firstLink, row)
    yield point
  }
}

/** Finds damaged points. It cannot find missing ones. */
export function areCurvesWhole(database: DatabaseSync, firstLink: string): boolean {
  for (const row of database.prepare('SELECT * FROM curves').iterate())
    if (row['digest'] !== digestOf(firstLink, toPoint(row))) return false
  return true
}

/** Yields undamaged points, however many others are damaged. */
export function* salvageCurves(database: DatabaseSync, firstLink: string): Generator<StoredPoint> {
  for (const row of database.prepare('SELECT * FROM curves').iterate()) {
    const point = toPoint(row)
    if (row['digest'] === digestOf(firstLink, point)) yield point
  }
}

/**
 * Keeps points by minute for a week, and then the lowest and highest of each hour, so that a
 * drawdown keeps its depth:
 *
 *     minute ──older than a week──► the hour's lowest and highest, others dropped ──two years, a plot 30 days──► dropped
 *
 * Marks for statements and what was logged of margin are kept as they are. Each method needs a
 * transaction.
 */
export class CurveTable {
  readonly #firstLink: string
  readonly #series: Set<string>
  readonly #live = new Set<string>()
  readonly #statements: Readonly<
    Record<'put' | 'oldest' | 'newest' | 'read' | 'drop' | 'forget', StatementSync>
  >

  constructor(database: DatabaseSync, firstLink: string) {
    this.#firstLink = firstLink
    this.#series = new Set(listSeries(database))
    this.#statements = {
      put: database.prepare(
        'REPLACE INTO curves (series, step, at, value, digest) VALUES (?, ?, ?, ?, ?)',
      ),
      oldest: database.prepare('SELECT min(at) AS at FROM curves WHERE series = ? AND step = ?'),
      newest: database.prepare('SELECT max(at) AS at FROM curves WHERE series = ? AND step = ?'),
      forget: database.prepare('DELETE FROM curves WHERE series = ?'),
      read: database.prepare(
        'SELECT * FROM curves WHERE series = ? AND step = ? AND at < ? ORDER BY at',
      ),
      drop: database.prepare('DELETE FROM curves WHERE series = ? AND step = ? AND at < ?'),
    }
  }

  /**
   * Adds points by minute, and thins out old points of all curves.
   *
   * @param finished curves that may make room, as those of earlier runs do
   */
  put(points: readonly CurvePoint[], finished: readonly string[] = []): void {
    for (const series of finished) this.#live.delete(series)
    if (points.length === 0) return
    for (const { series } of points) if (this.#series.has(series)) this.#live.add(series)
    for (const point of points) {
      if (!this.#series.has(point.series) && !this.#hasRoomFor(point.series)) continue
      this.#series.add(point.series)
      this.#live.add(point.series)
      // Only minutes are thinned out, so a curve that is kept whole has hours from the start.
      this.#put({ ...point, step: isKeptWhole(point.series) ? HOUR_MS : MINUTE_MS })
    }
    const now = Math.max(...points.map(({ at }) => at))
    this.#thinAll(now)
  }

  addStored(points: Iterable<StoredPoint>): void {
    for (const point of points) {
      this.#series.add(point.series)
      this.#put(point)
    }
  }

  /** The plot that has been silent for longest makes room, unless it is live. */
  #hasRoomFor(wanted: string): boolean {
    const plots = [...this.#series].filter(isPlot)
    if (!isPlot(wanted) || plots.length < PLOTS_MAX) return true
    const silent = plots
      .filter((series) => !this.#live.has(series))
      .map((series) => ({ series, at: this.#newest(series) }))
      .reduce<{ series: string; at: number } | undefined>(
        (first, one) => (first === undefined || one.at < first.at ? one : first),
        undefined,
      )
    if (silent === undefined) return false
    this.#statements.forget.run(silent.series)
    this.#series.delete(silent.series)
    return true
  }

  #newest(series: string): number {
    const steps = [MINUTE_MS, HOUR_MS].map(
      (step) => this.#statements.newest.get(series, step)?.['at'],
    )
    return Math.max(0, ...steps.filter((at) => typeof at === 'number'))
  }

  #put(point: StoredPoint): void {
    const { series, step, at, value } = point
    this.#statements.put.run(series, step, at, value, digestOf(this.#firstLink, point))
  }

  /** A curve that used up one turn comes last in the next. */
  #thinAll(now: number): void {
    let left = HOURS_MAX
    for (const series of Array.from(this.#series)) {
      if (left === 0) return
      const folded = this.#thin(series, now, left)
      left -= folded
      if (folded > 0 && this.#series.delete(series)) this.#series.add(series)
    }
  }

  /** @returns the number of folded hours */
  #thin(series: string, now: number, hoursMax: number): number {
    const { drop } = this.#statements
    let folded = 0
    while (folded < hoursMax) {
      const oldest = this.#oldest(series, MINUTE_MS)
      if (oldest === undefined || hourOf(oldest) + HOUR_MS > now - MINUTES_KEPT_MS) break
      this.#foldHour(series, hourOf(oldest))
      folded += 1
    }
    drop.run(series, HOUR_MS, now - hoursKeptMs(series))
    const isEmpty = [MINUTE_MS, HOUR_MS].every((step) => this.#oldest(series, step) === undefined)
    if (isEmpty) {
      this.#series.delete(series)
      this.#live.delete(series)
    }
    return folded
  }

  #foldHour(series: string, hour: number): void {
    const { read, drop } = this.#statements
    const points = read
      .all(series, MINUTE_MS, hour + HOUR_MS)
      .map((row) => toPoint(row))
      .filter((point) => !Number.isNaN(figureOf(point)))
      .toSorted((one, other) => figureOf(one) - figureOf(other))
    drop.run(series, MINUTE_MS, hour + HOUR_MS)
    for (const point of new Set([points[0], points.at(-1)]))
      if (point) this.#put({ ...point, step: HOUR_MS })
  }

  #oldest(series: string, step: number): number | undefined {
    const at = this.#statements.oldest.get(series, step)?.['at']
    return typeof at === 'number' ? at : undefined
  }
}

/**
 * Steps from series to series by the table's key, because reading all points would take too long.
 */
export function listSeries(database: DatabaseSync): readonly string[] {
  return database
    .prepare(
      `WITH RECURSIVE names(name) AS (
        SELECT min(series) FROM curves
        UNION ALL SELECT (SELECT min(series) FROM curves WHERE series > name) FROM names WHERE name IS NOT NULL
      ) SELECT name FROM names WHERE name IS NOT NULL`,
    )
    .all()
    .map(({ name }) => String(name))
}

function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}

type CurveRow = Readonly<Record<string, SQLOutputValue>>

function toPoint(row: CurveRow): StoredPoint {
  return {
    series: String(row['series']),
    step: Number(row['step']),
    at: Number(row['at']),
    value: String(row['value']),
  }
}

function verifyPoint(firstLink: string, row: CurveRow): StoredPoint {
  const point = toPoint(row)
  if (row['digest'] === digestOf(firstLink, point)) return point
  throw new RangeError(
    `a point of the curve ${point.series} of ${new Date(point.at).toISOString()} is not as it was written`,
  )
}

function digestOf(firstLink: string, { series, step, at, value }: StoredPoint): string {
  const text = `${firstLink} curve ${JSON.stringify([series, step, at, value])}`
  return hash('sha256', text, 'hex').slice(0, 32)
}

function isPlot(series: string): boolean {
  return parsePlotSeries(series) !== undefined
}
