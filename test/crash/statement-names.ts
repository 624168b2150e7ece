import { basename } from 'node:path'
import { type DatabaseSync, type StatementSync } from 'node:sqlite'

/** What is done to a database of the daemon, in words that stay the same when the SQL does not. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/CREATE TABLE/i, 'layout'],
  [/journal_mode/i, 'open'],
  [/cell_size_check/i, 'verify'],
  [/^\s*BEGIN( IMMEDIATE)?\s*;?\s*$/i, 'begin'],
  [/^\s*COMMIT\s*;?\s*$/i, 'commit'],
  [/INTO meta/i, 'meta'],
  [/INTO book/i, 'checkpoint.row'],
  [/INTO checkpoints/i, 'checkpoint'],
  [/DELETE FROM checkpoints/i, 'checkpoint.drop'],
  [/INTO record_blocks/i, 'pack'],
  [/DELETE FROM records/i, 'prune'],
  [/INTO (fills|funding) /i, 'booking'],
  [/FROM records WHERE sequence >/i, 'read'],
  [/busy_timeout = 0; BEGIN/i, 'take'],
  [/INTO holder/i, 'name'],
]

/**
 * Names statements: by the file, by what is done there, and a commit by the last thing that it makes durable.
 * `journal.record.send` writes a send down, `journal.commit.send` makes it durable.
 */
export class StatementNames {
  readonly #stems = new WeakMap<DatabaseSync, string>()
  readonly #owners = new WeakMap<StatementSync, DatabaseSync>()
  #last = 'nothing'

  /** A statement runs on the database that it was prepared on. */
  own(database: DatabaseSync, statement: unknown): void {
    this.#owners.set(statement as StatementSync, database)
  }

  /** Undefined for what changes nothing and is no step of a recovery. */
  ofText(database: DatabaseSync, sql: string): string | undefined {
    const verb = NAMES.find(([pattern]) => pattern.test(sql))?.[1]
    if (verb === undefined) return undefined
    // The look through a journal before it is opened has a connection of its own.
    if (verb === 'verify') this.#stems.set(database, 'journal.verify')
    return this.#inside(this.#stemOf(database), verb === 'verify' ? 'open' : verb)
  }

  ofStatement(statement: StatementSync, values: readonly unknown[]): string | undefined {
    const database = this.#owners.get(statement)
    if (!database) return undefined
    const { sourceSQL } = statement
    if (!/INTO records/i.test(sourceSQL)) return this.ofText(database, sourceSQL)
    return this.#inside(this.#stemOf(database), `record.${kindOf(values)}`)
  }

  /** Of the mark that a commit leaves beside the journal. */
  get ofMark(): string {
    return `journal.mark.${this.#last}`
  }

  ofClosing(database: DatabaseSync): string {
    return `${this.#stemOf(database)}.close`
  }

  #inside(stem: string, verb: string): string | undefined {
    if (verb === 'begin') return undefined
    if (verb === 'commit') return `${stem}.commit.${this.#last}`
    this.#last = verb.replace('record.', '')
    return `${stem}.${verb}`
  }

  #stemOf(database: DatabaseSync): string {
    const stem = this.#stems.get(database) ?? nameOfFile(basename(database.location() ?? ''))
    this.#stems.set(database, stem)
    return stem
  }
}

function nameOfFile(file: string): string {
  if (file.endsWith('.lock')) return file === 'daemon.lock' ? 'lock.state' : 'lock.account'
  return file.replace('.sqlite', '')
}

/** The kind of a record: the one of its values that is a bare word. */
function kindOf(values: readonly unknown[]): string {
  return (
    values.filter((value) => typeof value === 'string').find((text) => /^[a-zA-Z]+$/.test(text)) ??
    'unknown'
  )
}
