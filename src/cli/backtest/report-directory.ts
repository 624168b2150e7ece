import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Failure, messageOf } from '../../lib/failure.ts'
import { RECIPE_FILE } from '../../report/read-report.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

/** What a report before this one may have left; everything else in the directory is somebody else's. */
const OWN = [
  ...['report.html', 'report.json', RECIPE_FILE],
  ...['orders.csv', 'fills.csv', 'positions.csv', 'equity.csv', 'returns.csv'],
  ...FILL_MODELS,
]

/** A report is written beside the place where it goes, and is put there when it is whole. */
export class ReportDirectory {
  /** Where it goes. */
  readonly final: string
  /** Where its files are written meanwhile. */
  readonly unfinished: string

  /** @throws Failure REPORT_UNWRITABLE */
  constructor(directory: string) {
    this.final = resolve(directory)
    this.unfinished = `${this.final}.unfinished-${process.pid}`
    if (existsSync(this.final)) this.#write(() => readdirSync(this.final))
    this.#write(() => makeDirectory(this.unfinished))
  }

  /** Puts the report in its place; one that was ended early stands beside it, so that it replaces no whole one. */
  install(isWhole: boolean): string {
    const place = isWhole ? this.final : `${this.final}-interrupted`
    this.#write(() => {
      makeDirectory(place)
      for (const name of [RECIPE_FILE, ...OWN]) rmSync(join(place, name), { recursive: true, force: true })
      const names = readdirSync(this.unfinished).filter((name) => name !== RECIPE_FILE)
      for (const name of [...names, RECIPE_FILE]) renameSync(join(this.unfinished, name), join(place, name))
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
