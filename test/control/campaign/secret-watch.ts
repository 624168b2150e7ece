import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { JournalReader } from '../../../src/journal/journal-reader.ts'
import { openSegment } from '../../../src/recording/segment-reader.ts'

/** Files that are there to hold a secret. */
const KEEPERS = /(?:\.token|pairing\.json)$/
const FOUND_MAX = 20

/** Looks for texts that nobody may be told, in whatever leaves. */
export class SecretWatch {
  readonly leaks: string[] = []
  /** Texts looked at. */
  searched = 0
  readonly #secrets: readonly string[]

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  search(where: string, text: string): void {
    this.searched += 1
    for (const secret of this.#secrets) {
      const at = text.indexOf(secret)
      if (at < 0 || this.leaks.length >= FOUND_MAX) continue
      this.leaks.push(`${where}: ${text.slice(Math.max(0, at - 80), at + 80)}`)
    }
  }

  /** All files below; the journal record by record, and recordings unpacked. @returns how many */
  searchFiles(directory: string): { readonly records: number; readonly steps: number } {
    let [records, steps] = [0, 0]
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const file = join(directory, name)
      if (KEEPERS.test(name) || !statSync(file).isFile()) continue
      this.search(name, readFileSync(file, 'latin1'))
      if (name.endsWith('journal.sqlite')) records += this.#searchJournal(file)
      if (/recordings\/.*\.\w+$/.test(name) && readFileSync(file, 'latin1').startsWith('INTENTD'))
        steps += this.#searchRecording(file)
    }
    return { records, steps }
  }

  #searchJournal(file: string): number {
    const reader = new JournalReader(file)
    let count = 0
    try {
      for (const { record } of reader.records()) {
        this.search('journal', JSON.stringify(record))
        count += 1
      }
    } finally {
      reader.close()
    }
    return count
  }

  #searchRecording(file: string): number {
    const { head, image, steps } = openSegment(file)
    this.search('recording', JSON.stringify(head) + image)
    let count = 0
    for (const { event, effects } of steps()) {
      this.search('recording', `${String(event)}${String(effects)}`)
      count += 1
    }
    return count
  }
}
