import { basename } from 'node:path'
import { Failure } from '../../lib/failure.ts'
import {
  findUniverseFiles,
  type OpenedUniverseFile,
  openUniverseFile,
  readUniverseHead,
  type UniverseEntry,
  type UniverseFile,
} from './universe-file.ts'

/** Unix ms, exchange clock; the end is excluded. */
export interface UniverseSpan {
  readonly fromAt?: number | undefined
  readonly toAt?: number | undefined
  /** `contracts` takes a tenth of the time, because it skips tickers. */
  readonly what?: 'all' | 'contracts'
}

export interface UniverseFlaw {
  readonly file: string
  readonly kind: 'cut' | 'damaged'
  readonly text: string
}

/** The recording is of one exchange and product type. Opening it reads no tickers. */
export class UniverseRecording {
  readonly source: string
  readonly productType: string
  readonly #files: readonly UniverseFile[]

  /**
   * @param path A directory, or one file. @throws Failure UNIVERSE_FILES_MISSING,
   * UNIVERSE_FILE_UNREADABLE, UNIVERSE_FILE_UNKNOWN, UNIVERSE_FILES_DIFFER, UNIVERSE_FILE_EMPTY
   */
  constructor(path: string) {
    this.#files = findUniverseFiles(path)
    const heads = this.#files.flatMap(({ file }) => unlessEmpty(() => readUniverseHead(file)) ?? [])
    const [first] = heads
    if (first === undefined) throw nothingKept(path)
    const { source, productType } = first
    const other = heads.find((one) => one.source !== source || one.productType !== productType)
    if (other !== undefined) {
      throw new Failure({
        code: 'UNIVERSE_FILES_DIFFER',
        sentence: 'the directory holds tickers of two exchanges or product types',
        facts: {
          directory: path,
          one: `${productType} of ${source}`,
          other: `${other.productType} of ${other.source}`,
        },
        hint: 'move the files of one of them into another directory',
      })
    }
    this.source = source
    this.productType = productType
  }

  /**
   * Contracts also come from the beginning of the first day. An answer not later than the one
   * before is left out. One day is in memory at a time. @returns what could not be read
   */
  *entries({
    fromAt = Number.NEGATIVE_INFINITY,
    toAt = Number.POSITIVE_INFINITY,
    what,
  }: UniverseSpan = {}): Generator<UniverseEntry, readonly UniverseFlaw[]> {
    const flaws: UniverseFlaw[] = []
    let lastAt = Number.NEGATIVE_INFINITY
    for (const { file } of this.#files.filter((one) => isWithin(one, { fromAt, toAt }))) {
      const entries = unlessEmpty(() => openUniverseFile(file))?.entries(what) ?? endEmpty()
      for (let next = entries.next(); ; next = entries.next()) {
        if (next.done === true) {
          flaws.push(...describe(file, next.value))
          break
        }
        const entry = next.value
        if (entry.kind === 'tickers') {
          const { requestTime } = entry.table
          if (requestTime >= toAt) continue
          if (requestTime < fromAt || requestTime <= lastAt) continue
          lastAt = requestTime
        }
        yield entry
      }
    }
    return flaws
  }
}

/** A killed writer may have only begun the file. */
function unlessEmpty<Read>(read: () => Read): Read | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNIVERSE_FILE_EMPTY') return undefined
    throw error
  }
}

type FileEnding =
  ReturnType<OpenedUniverseFile['entries']> extends Generator<unknown, infer End> ? End : never

// oxlint-disable-next-line require-yield
function* endEmpty(): ReturnType<OpenedUniverseFile['entries']> {
  return { kind: 'cut', tornBytes: 0 }
}

function describe(file: string, ending: FileEnding): readonly UniverseFlaw[] {
  if (ending.kind === 'whole') return []
  if (ending.kind === 'cut') {
    const text = `${basename(file)} ends within an answer: ${ending.tornBytes} bytes are left out`
    return [{ file, kind: 'cut', text }]
  }
  const found = String(ending.failure.facts?.['found'] ?? '')
  const text = `${basename(file)} was changed (${found}): it is read up to there`
  return [{ file, kind: 'damaged', text }]
}

/** A file whose name is no day may hold any time. */
function isWithin(
  { day }: UniverseFile,
  { fromAt, toAt }: { readonly fromAt: number; readonly toAt: number },
): boolean {
  if (day === '') return true
  const beginsAt = Date.parse(day)
  return beginsAt + DAY_MS > fromAt && beginsAt < toAt
}

const DAY_MS = 86_400_000

function nothingKept(path: string): Failure {
  return new Failure({
    code: 'UNIVERSE_FILE_EMPTY',
    sentence: 'no file of kept tickers has an answer',
    facts: { path },
    hint: 'intentd record --universe has only just begun, or was killed at its first moment',
  })
}
