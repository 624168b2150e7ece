import type { Socket } from 'node:net'
import type { Peer } from './peer.ts'

/**
 * Kinds have their own maximum, so commands always have a place. `nobody`: health checks, the page
 * before its token, other programs.
 */
const CONNECTIONS_MAX: Readonly<Record<Peer, number>> = {
  full: 64,
  read: 32,
  agent: 32,
  nobody: 32,
}

export const ALL_CONNECTIONS_MAX = Object.values(CONNECTIONS_MAX).reduce(
  (sum, most) => sum + most,
  0,
)

/**
 * A connection is `nobody` until it shows a token. Beyond a kind's maximum the longest silent is
 * closed, so silent connections keep no client out.
 */
export class ConnectionBounds {
  /** Longest silent first. */
  readonly #peers = new Map<Socket, Peer>()
  readonly #onClosed: (why: string) => void

  constructor(onClosed: (why: string) => void) {
    this.#onClosed = onClosed
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#peers.delete(socket))
    this.note(socket, 'nobody')
  }

  note(socket: Socket, peer: Peer): void {
    // The client closed before the answer.
    if (socket.destroyed) return
    this.#peers.delete(socket)
    this.#peers.set(socket, peer)
    const alike = [...this.#peers].filter(([, other]) => other === peer)
    const [oldest] = alike[0] ?? []
    if (oldest === undefined || alike.length <= CONNECTIONS_MAX[peer]) return
    this.#peers.delete(oldest)
    oldest.destroy()
    const whose = {
      full: 'with the token',
      read: 'with the token that looks',
      agent: 'with the token of assistants',
      nobody: 'without a token',
    }[peer]
    this.#onClosed(
      `the oldest of more than ${CONNECTIONS_MAX[peer]} connections ${whose} was closed`,
    )
  }
}
