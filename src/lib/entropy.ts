import { randomBytes } from 'node:crypto'

/** Decisions draw no random number. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
