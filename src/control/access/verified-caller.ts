import { cleanLine } from '../../lib/text/clean-text.ts'

/** Puts the verified origin first, because a client can claim any name. */
export function describeCaller(verified: string, claimed: string): string {
  return `${verified} says ${JSON.stringify(cleanLine(claimed))}`
}

/** An order in a file comes from the file's owner. */
export function describeFile({ uid }: { readonly uid: number }): string {
  return process.platform === 'win32' ? 'file' : `file:uid ${uid}`
}

/** Node does not report a socket's peer. Modes 0600 and 0700 admit this process's user, or root. */
export function describeSocket(): string {
  const user = process.geteuid?.()
  return user === undefined ? 'socket' : `socket:uid ${user}`
}
