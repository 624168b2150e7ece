import type { Socket } from 'node:net'
import type { Peer } from './peer.ts'

/**
 * Kinds have their own maximum, so commands always have a place. `nobody`: health checks, the page
 * before its token, other programs.
 */
export const CONNECTIONS_MAX: Readonly<Record<Peer, number>> = {
  full: 64,
  read: 48,
  agent: 32,
  nobody: 32,
}

/** Senders of signals all send at the close of a candle, and are `nobody` until their heads came. */
export const SIGNAL_CONNECTIONS_MAX: Readonly<Record<Peer, number>> = {
  full: 256,
  read: 0,
  agent: 0,
  nobody: 256,
}

/** Heads that are not read yet. Without room beside full places no command could show its token. */
const UNREAD_MAX = 96

/** The system's bound of a server, above the sum of all places. */
export function connectionsMaxOf(places: Readonly<Record<Peer, number>>): number {
  return Object.values(places).reduce((sum, most) => sum + most, UNREAD_MAX)
}

/**
 * A connection is `nobody` until it shows a token. Beyond a kind's maximum the longest silent is
 * closed, so silent connections keep no client out.
 */
export class ConnectionBounds {
  /** Longest silent first. */
  readonly #sockets: Readonly<Record<Peer, Set<Socket>>> = {
    full: new Set(),
    read: new Set(),
    agent: new Set(),
    nobody: new Set(),
  }
  readonly #peers = new WeakMap<Socket, Peer>()
  readonly #onClosed: (why: string) => void
  readonly #places: Readonly<Record<Peer, number>>

  constructor(onClosed: (why: string) => void, places = CONNECTIONS_MAX) {
    this.#onClosed = onClosed
    this.#places = places
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#forget(socket))
    this.note(socket, 'nobody')
  }

  note(socket: Socket, peer: Peer): void {
    // The client closed before the answer.
    if (socket.destroyed) return
    this.#forget(socket)
    this.#peers.set(socket, peer)
    const alike = this.#sockets[peer].add(socket)
    const [oldest] = alike
    if (oldest === undefined || alike.size <= this.#places[peer]) return
    this.#forget(oldest)
    oldest.destroy()
    const whose = {
      full: 'with the token',
      read: 'with the token that looks',
      agent: 'with the token of assistants',
      nobody: 'without a token',
    }[peer]
    this.#onClosed(`the oldest of more than ${this.#places[peer]} connections ${whose} was closed`)
  }

  #forget(socket: Socket): void {
    const peer = this.#peers.get(socket)
    if (peer !== undefined) this.#sockets[peer].delete(socket)
  }
}
