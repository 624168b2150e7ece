import { randomBytes } from 'node:crypto'

/** For salts and tokens; decisions draw no random number. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
