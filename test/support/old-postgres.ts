import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

const VERSION = { version: '14.19', number: '140019' }
/** Object id of text in the server's types. */
const TEXT = 25

/** Answers everything with a version that is too old, and keeps the questions. */
export class OldPostgres {
  readonly asked: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async start(): Promise<OldPostgres> {
    const old = new OldPostgres()
    old.#server.listen(0, '127.0.0.1')
    await once(old.#server, 'listening')
    return old
  }

  get url(): string {
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return `postgresql://intentd@127.0.0.1:${port}/intentd`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    let isGreeted = false
    socket.on('data', (data) => {
      if (!isGreeted) {
        isGreeted = true
        socket.write(Buffer.concat([message('R', int32(0)), READY]))
        return
      }
      // One short question at a time arrives whole; the next waits for its answer.
      if (data.toString('latin1', 0, 1) !== 'Q') return
      this.asked.push(data.toString('utf8', 5, data.length - 1))
      socket.write(Buffer.concat([row(), message('C', cString('SELECT 1')), READY]))
    })
  }
}

const READY = message('Z', Buffer.from('I'))

function row(): Buffer {
  const names = Object.keys(VERSION)
  const columns = names.map((name) =>
    Buffer.concat([cString(name), int32(0), int16(0), int32(TEXT), int16(-1), int32(-1), int16(0)]),
  )
  const values = Object.values(VERSION).map((value) =>
    Buffer.concat([int32(value.length), Buffer.from(value)]),
  )
  return Buffer.concat([
    message('T', int16(names.length), ...columns),
    message('D', int16(names.length), ...values),
  ])
}

function message(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body])
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`)
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
