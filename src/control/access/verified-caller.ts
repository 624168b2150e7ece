/**
 * The origin of an order: first the verified part, then the name that it claims, quoted because any
 * client may claim any name.
 */
export function describeCaller(verified: string, claimed: string): string {
  return `${verified} says ${JSON.stringify(claimed)}`
}

/** The caller of an order in a file is the file's owner. */
export function describeFile({ uid }: { readonly uid: number }): string {
  return process.platform === 'win32' ? 'file' : `file:uid ${uid}`
}

/**
 * Node does not report the user at the other end of a socket. If only the owner has access (mode
 * 0600, in a folder of mode 0700), it is the user of this process, or root.
 */
export function describeSocket(): string {
  const user = process.geteuid?.()
  return user === undefined ? 'socket' : `socket:uid ${user}`
}
