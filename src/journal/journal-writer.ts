import type { DatabaseSync } from 'node:sqlite'
import { Failure } from '../lib/failure.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

/** The run that writes a journal, by its keys, settings and code. */
export interface JournalWriter {
  /** A digest of exchange and key, once the exchange has accepted one. */
  readonly keys: string | undefined
  /** Process and variable of the key, for display. */
  readonly by: string
  /** Digests by name: settings that determine trading, and strategies' code. */
  readonly setup: Readonly<Record<string, string>>
}

export const WRITER = 'writer'

const SHOWN_CHARACTERS = 8

/** A damaged text counts as none: the next run notes its writer anew. */
export function parseWriter(text: unknown): JournalWriter | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return parseBoundedJson(text) as JournalWriter
  } catch {
    return undefined
  }
}

export function readWriter(database: DatabaseSync): JournalWriter | undefined {
  return parseWriter(
    database.prepare('SELECT value FROM meta WHERE name = ?').get(WRITER)?.['value'],
  )
}

export function putWriter(database: DatabaseSync, writer: JournalWriter): void {
  database
    .prepare('REPLACE INTO meta (name, value) VALUES (?, ?)')
    .run(WRITER, JSON.stringify(writer))
}

/**
 * @param where a state directory, or a server with its schema
 * @throws Failure STATE_OF_OTHER_KEYS, which names both
 */
export function assertKeys(
  where: string,
  found: Pick<JournalWriter, 'keys' | 'by'> | undefined,
  own: Pick<JournalWriter, 'keys' | 'by'>,
): void {
  if (found?.keys === undefined || own.keys === undefined || found.keys === own.keys) return
  throw new Failure({
    code: 'STATE_OF_OTHER_KEYS',
    sentence:
      'the journal was written with another key, or at another exchange, than this configuration has',
    facts: { where, journal: describeKeys(found), configuration: describeKeys(own) },
    hint:
      'for another account name a state.directory of its own, and on a server a journal.schema; ' +
      'for a new key of the same account `intentd journal rekey` compares it with the exchange, and takes it over',
  })
}

export function describeKeys({ keys = '', by }: Pick<JournalWriter, 'keys' | 'by'>): string {
  return `keys ${keys.slice(0, SHOWN_CHARACTERS)} of ${by}`
}

/** Names, sorted, in which the setups of two writers differ; none if one writer is unknown. */
export function differencesOf(
  own: Pick<JournalWriter, 'setup'> | undefined,
  other: Pick<JournalWriter, 'setup'> | undefined,
): readonly string[] {
  if (own === undefined || other === undefined) return []
  const names = new Set([...Object.keys(own.setup), ...Object.keys(other.setup)])
  return [...names]
    .filter((name) => own.setup[name] !== other.setup[name])
    .map((name) => {
      if (own.setup[name] === undefined) return `${name} is missing here`
      return other.setup[name] === undefined ? `${name} is only here` : name
    })
    .toSorted()
}
