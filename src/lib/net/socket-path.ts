import { relative } from 'node:path'

/** Bytes in `sun_path`, less its end. */
export const SOCKET_PATH_MAX = process.platform === 'linux' ? 107 : 103

/** Relative if the path is too long for a socket. */
export function shortPath(socket: string): string {
  return Buffer.byteLength(socket) <= SOCKET_PATH_MAX ? socket : relative(process.cwd(), socket)
}

/** Undefined if it can. */
export function objectToPath(socket: string): string | undefined {
  if (Buffer.byteLength(shortPath(socket)) <= SOCKET_PATH_MAX) return undefined
  return `${socket} has ${Buffer.byteLength(socket)} bytes, and the system takes ${SOCKET_PATH_MAX} for a socket`
}
