import { hash } from 'node:crypto'

/**
 * The links of the journal. Each record carries a digest of itself and of the digest before it, so a record
 * that was changed, dropped, doubled or moved is noticed even where the database under it is sound. The first
 * link covers what the journal is; a checkpoint carries the link it stands on, and a seal of its own.
 */

/** A row of the records as it is stored. `at`: whole Unix ms. */
export interface StoredRecord {
  readonly sequence: number
  readonly at: number
  readonly kind: string
  readonly body: string
}

export interface StoredCheckpoint {
  readonly sequence: number
  readonly body: string
  /** The link of the last record that is in it. */
  readonly link: string
}

/** 128 bits: no accident makes two texts of one digest, and nobody who could forge one needs to. */
const DIGEST_LENGTH = 32

/** The link before the first record. */
export function firstLink(identity: string, salt: string): string {
  return digest(`journal\n${identity}\n${salt}`)
}

export function nextLink(previous: string, { sequence, at, kind, body }: StoredRecord): string {
  return digest(`${previous}\n${sequence}\n${at}\n${kind}\n${body}`)
}

export function sealCheckpoint(first: string, { sequence, body, link }: StoredCheckpoint): string {
  return digest(`checkpoint\n${first}\n${sequence}\n${link}\n${body}`)
}

export function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, DIGEST_LENGTH)
}
