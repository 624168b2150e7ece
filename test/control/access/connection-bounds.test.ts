import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ConnectionBounds } from '../../../src/control/access/connection-bounds.ts'

class MadeSocket extends EventEmitter {
  destroyed = false

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

class BoundsBench {
  now = 0
  readonly closed: string[] = []
  readonly bounds = new ConnectionBounds({
    monotonic: () => this.now,
    onClosed: (why) => this.closed.push(why),
  })

  connect(): Socket {
    const socket = new MadeSocket() as unknown as Socket
    this.bounds.add(socket)
    return socket
  }

  show(peer: 'full' | 'nobody'): Socket {
    const socket = this.connect()
    this.bounds.note(socket, peer)
    return socket
  }
}

const open = (sockets: readonly Socket[]): number =>
  sockets.filter(({ destroyed }) => !destroyed).length

test('[BND1] three hundred that connect, say nothing and connect again keep no head out', () => {
  const bench = new BoundsBench()
  let silent = Array.from({ length: 300 }, () => bench.connect())
  let isClosed = false
  for (let turn = 0; turn < 50; turn++) {
    const command = bench.connect()
    for (let ms = 0; ms < 400; ms += 10) {
      bench.now += 10
      const before = bench.closed.length
      silent = silent.map((socket) => (socket.destroyed ? bench.connect() : socket))
      isClosed ||= bench.closed.length > before
    }
    expect(command.destroyed).toBe(false)
    bench.bounds.note(command, 'full')
    command.destroy()
  }
  expect(isClosed).toBe(true)
})

test('[BND1] of more than ninety-six unread connections those go that are silent for half a second, and beyond 320 the oldest', () => {
  const bench = new BoundsBench()
  const early = Array.from({ length: 100 }, () => bench.connect())
  bench.now = 500
  const next = bench.connect()
  expect([open(early), next.destroyed]).toEqual([95, false])
  expect(new Set(bench.closed)).toEqual(
    new Set(['one of more than 96 connections that sent no request for 500 ms was closed']),
  )
  const young = Array.from({ length: 320 }, () => bench.connect())
  expect([open(early), next.destroyed, open(young)]).toEqual([0, true, 320])
  bench.connect()
  expect([young[0]?.destroyed, open(young)]).toEqual([true, 319])
})

test('unread connections take no place of those without a token, nor these of them', () => {
  const bench = new BoundsBench()
  const health = bench.show('nobody')
  const silent = Array.from({ length: 96 }, () => bench.connect())
  bench.now = 1000
  const others = Array.from({ length: 31 }, () => bench.show('nobody'))
  expect([health.destroyed, open(others)]).toEqual([false, 31])
  expect(open(silent)).toBe(95)
})

test('[BND1] a connection whose command waits for its answer is not closed for others with the token', () => {
  const bench = new BoundsBench()
  const command = bench.show('full')
  const release = bench.bounds.hold(command)
  const looks = Array.from({ length: 63 }, () => bench.show('full'))
  const late = bench.show('full')
  expect([command.destroyed, looks[0]?.destroyed, late.destroyed]).toEqual([false, true, false])
  release()
  bench.show('full')
  expect(command.destroyed).toBe(true)
})

test('of commands alone, more than there are places for, the oldest goes', () => {
  const bench = new BoundsBench()
  const commands = Array.from({ length: 65 }, () => {
    const socket = bench.show('full')
    bench.bounds.hold(socket)
    return socket
  })
  expect([commands[0]?.destroyed, open(commands)]).toEqual([true, 64])
})
