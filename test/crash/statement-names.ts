/** What a statement is called; undefined for one that only looks, and is no step of a recovery. */
export function nameOfStatement(sql: string, values: readonly unknown[] = []): string | undefined {
  for (const [pattern, name] of NAMES) if (pattern.test(sql)) return name
  if (/INSERT INTO records/i.test(sql)) return `record.${kindOf(values)}`
  return undefined
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^\s*COMMIT\s*;?\s*$/i, 'commit'],
  [/^\s*BEGIN( IMMEDIATE)?\s*;?\s*$/i, 'begin'],
  [/CREATE TABLE/i, 'layout'],
  [/journal_mode/i, 'lock'],
  [/INTO meta/i, 'meta'],
  [/INTO checkpoints/i, 'checkpoint'],
  [/DELETE FROM checkpoints/i, 'checkpoint.drop'],
  [/DELETE FROM records/i, 'prune'],
  [/FROM records WHERE sequence >/i, 'load'],
]

/** The kind of a record: the one of its values that is a bare word. */
function kindOf(values: readonly unknown[]): string {
  return (
    values.filter((value) => typeof value === 'string').find((text) => /^[a-zA-Z]+$/.test(text)) ?? 'unknown'
  )
}

/** Begin and commit belong to what they surround: `journal.commit.send` makes a send durable. */
export class StatementNames {
  #last = 'nothing'

  next(name: string | undefined): string | undefined {
    if (name === undefined) return undefined
    if (name === 'begin') {
      this.#last = 'nothing'
      return undefined
    }
    if (name === 'commit') return `journal.commit.${this.#last}`
    this.#last = name.replace('record.', '')
    return `journal.${name}`
  }
}
