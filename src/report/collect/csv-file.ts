import { closeSync, openSync, writeSync } from 'node:fs'
import { toCsvCell } from '../../lib/text/csv-cell.ts'

/** Characters buffered before they are written. */
const WAITING_MAX = 65_536

export class CsvFile {
  readonly #descriptor: number | undefined
  #waiting: string
  rows = 0

  /** @param path undefined: no file */
  constructor(path: string | undefined, columns: readonly string[]) {
    this.#descriptor = path === undefined ? undefined : openSync(path, 'w')
    this.#waiting = `${columns.join(',')}\n`
  }

  add(fields: readonly (string | number)[]): void {
    this.rows += 1
    this.#waiting += `${fields.map(toCsvCell).join(',')}\n`
    if (this.#waiting.length > WAITING_MAX) this.#flush()
  }

  close(): void {
    this.#flush()
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  #flush(): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, this.#waiting)
    this.#waiting = ''
  }
}
