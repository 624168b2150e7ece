import type { Socket } from 'node:net'
import type { Peer } from './peer.ts'

/**
 * Connections of each kind of peer: nobody takes a place that another kind needs, so that commands have theirs. Those
 * without a token are health checks, the page before it is open, and whoever else is on the machine.
 */
const CONNECTIONS_MAX: Readonly<Record<Peer, number>> = { full: 64, read: 32, nobody: 32 }

/** As many as all of them together; the system holds more back. */
export const ALL_CONNECTIONS_MAX = Object.values(CONNECTIONS_MAX).reduce(
  (sum, most) => sum + most,
  0,
)

/**
 * The connections of the port. Each counts as nobody's until a request of it has shown a token. One too many of a kind
 * closes the one of that kind that was silent the longest: whoever opens many and says nothing keeps nobody out.
 */
export class ConnectionBounds {
  /** The one that was silent the longest first. */
  readonly #peers = new Map<Socket, Peer>()
  readonly #onClosed: (why: string) => void

  constructor(onClosed: (why: string) => void) {
    this.#onClosed = onClosed
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#peers.delete(socket))
    this.note(socket, 'nobody')
  }

  /** A request has come. */
  note(socket: Socket, peer: Peer): void {
    // Its answer was not waited for.
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
      nobody: 'without a token',
    }[peer]
    this.#onClosed(
      `the oldest of more than ${CONNECTIONS_MAX[peer]} connections ${whose} was closed`,
    )
  }
}
