import type { SQLOutputValue } from 'node:sqlite'
import { sha256Hex } from '../lib/digest.ts'

/**
 * 128 bits against accidents. Forgery is possible: whoever can write the file can forge all links.
 */
const LINK_LENGTH = 32

/**
 * A digest of the link before and of these parts. The first link covers what identifies the
 * journal, a record's link the record, a checkpoint's seal the sum of its rows.
 *
 * A sample of `npm run torture` had 7,897 damages. This many opened with a wrong book, by what is
 * checked:
 *
 *     SQLite alone       2,683        mark             183
 *     integrity_check    2,671        mark, seal       149
 *     links              2,529        mark, links       29
 *     links, seal        2,500        all three          0
 *
 * A digest of each record alone also leaves none. But where old pages reappear after a lost end was
 * written again, it accepts 15 of 31 mixtures, and links none. The link of a batch of 50 orders
 * takes 20 µs; its append 64 µs without a disk and 2,350 with one.
 */
export function nextLink(
  previous: string,
  ...parts: readonly (SQLOutputValue | undefined)[]
): string {
  return sha256Hex([previous, ...parts.map(String)]).slice(0, LINK_LENGTH)
}
