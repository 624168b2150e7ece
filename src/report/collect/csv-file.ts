import { closeSync, openSync, writeSync } from 'node:fs'

/** Characters that wait before they are written. */
const WAITING_MAX = 65_536

/** A CSV file that grows row by row and keeps nothing in memory. Fields are written as they are: none needs quotes. */
export class CsvFile {
  readonly #descriptor: number
  #waiting: string
  rows = 0

  constructor(path: string, columns: readonly string[]) {
    this.#descriptor = openSync(path, 'w')
    this.#waiting = `${columns.join(',')}\n`
  }

  add(fields: readonly (string | number)[]): void {
    this.rows += 1
    this.#waiting += `${fields.join(',')}\n`
    if (this.#waiting.length > WAITING_MAX) this.#flush()
  }

  close(): void {
    this.#flush()
    closeSync(this.#descriptor)
  }

  #flush(): void {
    writeSync(this.#descriptor, this.#waiting)
    this.#waiting = ''
  }
}
