import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const LISTED_MAX = 50
/** A year of minutes takes some megabytes. */
const FILE_BYTES_MAX = 32_000_000
const TEXT_CHARS_MAX = 200_000
/** Curves and lists of trades stay in the file. */
const VALUES_MAX = 100
const NAME = /^\w[\w.-]{0,199}$/

const FILES: Readonly<Record<string, string>> = { backtests: 'report.json', sweeps: 'trials.csv' }

export interface StoredReport {
  /** Also the name of the folder: `backtests` or `sweeps`. */
  readonly kind: string
  readonly name: string
  readonly writtenAt: number
}

export function listStoredReports(folder: string): readonly StoredReport[] {
  return Object.keys(FILES)
    .flatMap((kind) =>
      namesIn(join(folder, kind)).flatMap((name) => {
        const stats = statOf(folder, { kind, name })
        return stats === undefined ? [] : [{ kind, name, writtenAt: stats.mtimeMs }]
      }),
    )
    .toSorted((one, other) => other.writtenAt - one.writtenAt)
    .slice(0, LISTED_MAX)
}

/** @returns undefined if there is none of that name, or it is too large */
export function readStoredReport(
  folder: string,
  report: Pick<StoredReport, 'kind' | 'name'>,
): string | undefined {
  if (!Object.hasOwn(FILES, report.kind) || !NAME.test(report.name)) return undefined
  const stats = statOf(folder, report)
  if (stats === undefined || stats.size > FILE_BYTES_MAX) return undefined
  const text = readFileSync(fileOf(folder, report), 'utf8')
  const short = report.kind === 'backtests' ? withoutLists(text) : text
  if (short.length <= TEXT_CHARS_MAX) return short
  return `${short.slice(0, TEXT_CHARS_MAX)}\n… cut: the file holds the rest`
}

function withoutLists(text: string): string {
  const shorten = (_key: string, value: unknown): unknown =>
    Array.isArray(value) && value.length > VALUES_MAX
      ? `${value.length} values, which the file holds`
      : value
  return JSON.stringify(parseBoundedJson(text), shorten, 1)
}

function fileOf(folder: string, { kind, name }: Pick<StoredReport, 'kind' | 'name'>): string {
  return join(folder, kind, name, FILES[kind] ?? '')
}

function statOf(folder: string, report: Pick<StoredReport, 'kind' | 'name'>) {
  try {
    const stats = statSync(fileOf(folder, report))
    return stats.isFile() ? stats : undefined
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name))
  } catch {
    return []
  }
}
