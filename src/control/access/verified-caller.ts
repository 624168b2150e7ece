/** Who gave an order: first what was verified, then the name that it claims, quoted, since anybody may claim any. */
export function describeCaller(verified: string, claimed: string): string {
  return `${verified} says ${JSON.stringify(claimed)}`
}

/** A file tells its owner. */
export function describeFile({ uid }: { readonly uid: number }): string {
  return process.platform === 'win32' ? 'file' : `file:uid ${uid}`
}

/**
 * Node does not tell the user at the other end of a socket. Where only its owner gets in (mode 0600, in a folder of mode
 * 0700), that is the user of this process, or root.
 */
export function describeSocket(): string {
  const user = process.geteuid?.()
  return user === undefined ? 'socket' : `socket:uid ${user}`
}
