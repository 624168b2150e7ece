import type { Socket } from 'node:net'
import type { Peer } from './peer.ts'

/**
 * Each kind has a maximum of its own, so that commands always have a place. `nobody`: health
 * checks, the page before it has its token, other programs.
 */
export const CONNECTIONS_MAX: Readonly<Record<Peer, number>> = {
  full: 64,
  read: 48,
  agent: 32,
  nobody: 32,
}

/** All senders of signals send at the close of a candle; some show their secret in the body. */
export const SIGNAL_CONNECTIONS_MAX: Readonly<Record<Peer, number>> = {
  full: 256,
  read: 0,
  agent: 0,
  nobody: 256,
}

/**
 * Connections without a head need places of their own, because a command could not show its token
 * while all others are taken.
 */
const UNREAD_MAX = 96
/** A connection younger than this is not closed for others that send no head. */
const HEAD_MS = 500
/** Beyond so many, the oldest is closed, however young it is. */
const UNREAD_YOUNG_MAX = 320
/** Closed connections count until the system has released them. */
const CLOSING_MAX = 32

/** The bound that the server itself has: above the sum of all places. */
export function connectionsMaxOf(places: Readonly<Record<Peer, number>>): number {
  const unread = UNREAD_YOUNG_MAX + CLOSING_MAX
  return Object.values(places).reduce((sum, most) => sum + most, unread)
}

interface ConnectionBoundsOptions {
  readonly monotonic: () => number
  readonly onClosed: (why: string) => void
  readonly places?: Readonly<Record<Peer, number>>
}

/**
 * A connection is unread until its first head shows its kind. Beyond the maximum of a kind, the one
 * that has been silent longest is closed.
 */
export class ConnectionBounds {
  /** With the time of arrival, the oldest first. */
  readonly #unread = new Map<Socket, number>()
  /** Longest silent first. */
  readonly #sockets: Readonly<Record<Peer, Set<Socket>>> = {
    full: new Set(),
    read: new Set(),
    agent: new Set(),
    nobody: new Set(),
  }
  readonly #peers = new WeakMap<Socket, Peer>()
  /** Connections whose command waits for its answer. */
  readonly #held = new WeakSet<Socket>()
  readonly #options: ConnectionBoundsOptions
  readonly #places: Readonly<Record<Peer, number>>

  constructor(options: ConnectionBoundsOptions) {
    this.#options = options
    this.#places = options.places ?? CONNECTIONS_MAX
  }

  add(socket: Socket): void {
    const now = this.#options.monotonic()
    socket.once('close', () => this.#forget(socket))
    this.#unread.set(socket, now)
    for (const [oldest, since] of this.#unread) {
      const isYoung = now - since < HEAD_MS
      if (this.#unread.size <= (isYoung ? UNREAD_YOUNG_MAX : UNREAD_MAX)) return
      const most = isYoung
        ? `the oldest of more than ${UNREAD_YOUNG_MAX} connections that have sent no request yet`
        : `one of more than ${UNREAD_MAX} connections that sent no request for ${HEAD_MS} ms`
      this.#close(oldest, `${most} was closed`)
    }
  }

  /** Keeps the connection's place. @returns a function that ends this */
  hold(socket: Socket): () => void {
    this.#held.add(socket)
    return () => void this.#held.delete(socket)
  }

  note(socket: Socket, peer: Peer): void {
    // The client closed before the answer.
    if (socket.destroyed) return
    this.#forget(socket)
    this.#peers.set(socket, peer)
    const alike = this.#sockets[peer].add(socket)
    if (alike.size <= this.#places[peer]) return
    const [longest] = alike
    const oldest = [...alike].find((one) => one !== socket && !this.#held.has(one)) ?? longest
    if (oldest === undefined) return
    const whose = {
      full: 'with the token',
      read: 'with the token that looks',
      agent: 'with the token of assistants',
      nobody: 'without a token',
    }[peer]
    const most = this.#places[peer]
    this.#close(oldest, `the oldest of more than ${most} connections ${whose} was closed`)
  }

  #close(socket: Socket, why: string): void {
    this.#forget(socket)
    socket.destroy()
    this.#options.onClosed(why)
  }

  #forget(socket: Socket): void {
    this.#unread.delete(socket)
    const peer = this.#peers.get(socket)
    if (peer !== undefined) this.#sockets[peer].delete(socket)
  }
}
