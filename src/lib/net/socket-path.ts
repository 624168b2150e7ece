import { relative } from 'node:path'

/** Longest path of a Unix socket, in bytes: `sun_path` less its end. */
export const SOCKET_PATH_MAX = process.platform === 'linux' ? 107 : 103

/** From here, where the whole path is too long for a socket. */
export function shortPath(socket: string): string {
  return Buffer.byteLength(socket) <= SOCKET_PATH_MAX ? socket : relative(process.cwd(), socket)
}

/** Why no socket can lie there, by its whole path or from here; undefined where one can. */
export function objectToPath(socket: string): string | undefined {
  if (Buffer.byteLength(shortPath(socket)) <= SOCKET_PATH_MAX) return undefined
  return `${socket} has ${Buffer.byteLength(socket)} bytes, and the system takes ${SOCKET_PATH_MAX} for a socket`
}
