import process from 'node:process'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { Failure, messageOf } from '../../lib/failure.ts'
import { RECIPE_FILE } from '../../report/read-report.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { keepWritable } from '../../strategy/isolation/guard-thread.ts'

/** An earlier report has these files; all others in its directory stay. */
const OWN = [
  'report.html',
  'report.json',
  RECIPE_FILE,
  'orders.csv',
  'fills.csv',
  'positions.csv',
  'trades.csv',
  'equity.csv',
  'returns.csv',
  ...FILL_MODELS,
]

export const REPORTS = 'backtests'

/**
 * The thread may write here although its files are closed.
 * @param out absent: below {@link REPORTS}
 */
export function keepReportWritable(out: string | undefined): void {
  if (out === undefined) return keepWritable(`${resolve(REPORTS)}${sep}`)
  const final = resolve(out)
  for (const place of [unfinishedOf(final), interruptedOf(final)]) keepWritable(`${place}${sep}`)
  for (const name of OWN) for (const end of ['', sep]) keepWritable(`${join(final, name)}${end}`)
  for (let place = final; !existsSync(place); place = dirname(place)) keepWritable(place)
}

export const PARITY_FILES = 'intentd-parity-'

/** When the thread ends, such directories are removed if the thread named them as unfinished. */
export function isUnfinished(directory: string): boolean {
  const path = resolve(directory)
  return path.endsWith(unfinishedOf('')) || path.startsWith(join(tmpdir(), PARITY_FILES))
}

function unfinishedOf(final: string): string {
  return `${final}.unfinished-${process.pid}`
}

function interruptedOf(final: string): string {
  return `${final}-interrupted`
}

/** A report is moved to its place when it is whole. */
export class ReportDirectory {
  readonly final: string
  readonly unfinished: string

  /** @throws Failure REPORT_UNWRITABLE */
  constructor(directory: string) {
    this.final = resolve(directory)
    this.unfinished = unfinishedOf(this.final)
    if (existsSync(this.final)) this.#write(() => readdirSync(this.final))
    this.#write(() => makeDirectory(this.unfinished))
  }

  /**
   * The report of a run that ended early gets another directory, so that it replaces no whole one.
   */
  install(isWhole: boolean): string {
    const place = isWhole ? this.final : interruptedOf(this.final)
    this.#write(() => {
      makeDirectory(place)
      for (const name of [RECIPE_FILE, ...OWN])
        rmSync(join(place, name), { recursive: true, force: true })
      const names = readdirSync(this.unfinished).filter((name) => name !== RECIPE_FILE)
      for (const name of [...names, RECIPE_FILE])
        renameSync(join(this.unfinished, name), join(place, name))
    })
    this.discard()
    return place
  }

  discard(): void {
    rmSync(this.unfinished, { recursive: true, force: true })
  }

  #write(work: () => unknown): void {
    try {
      work()
    } catch (cause) {
      this.discard()
      throw new Failure({
        code: 'REPORT_UNWRITABLE',
        sentence: 'the report cannot be written there',
        facts: { directory: this.final, found: messageOf(cause) },
        hint: 'name a new directory with --out, where this user may write',
        cause,
      })
    }
  }
}
