import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type OpenedJournal, untilDurable } from '../../../src/journal/journal.ts'
import type { OnAway } from '../../../src/journal/postgres/postgres-journal.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { postgresMissing, postgresServer } from '../../support/postgres-server.ts'
import { instants, Machine, record } from './scene.ts'

/** The way to a server, which can be cut: then nobody listens there. */
class Way {
  readonly #to: number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  port = 0

  constructor(to: number) {
    this.#to = to
  }

  async open(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(this.#to, '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one)
        one.on('error', () => undefined).on('close', () => other.destroy())
        one.pipe(other)
      }
    })
    this.#server.listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (address !== null && typeof address === 'object') this.port = address.port
  }

  async cut(): Promise<void> {
    if (this.#server === undefined) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
    this.#server = undefined
    await closed
    // Whoever was connected hears of it in a turn of the loop or two.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.skipIf(postgresMissing !== undefined)(
  '[ORD1] a server that is away when a commit is asked for',
  () => {
    const time = new ManualTime(1_000_000)
    let way: Way
    let machine: Machine
    let journal: OpenedJournal
    let said: Parameters<OnAway>[0][]
    let away: PromiseWithResolvers<void>

    beforeEach(async () => {
      const server = await postgresServer()
      way = new Way(server.port)
      await way.open()
      const place = server.newPlace()
      machine = new Machine('a', {
        ...place,
        url: place.url.replace(String(server.port), String(way.port)),
      })
      said = []
      away = Promise.withResolvers()
      const onAway: OnAway = (one) => {
        said.push(one)
        away.resolve()
      }
      journal = (await machine.open({ clock: time, timers: time, onAway })).journal
    })

    afterEach(async () => {
      await Promise.resolve(journal.close(false)).catch(() => undefined)
      await way.cut()
      machine.remove()
    })

    test('was told nothing, so it is tried again, and what waited is durable when it is back', async () => {
      await way.cut()
      journal.append(record(1))
      const durable = untilDurable(journal)
      await away.promise
      const { trouble } = journal
      journal.append(record(2))
      await way.open()
      await time.pass(250)
      await durable
      await untilDurable(journal)
      const after = journal.trouble
      await journal.close()

      expect([trouble, after]).toEqual([expect.stringContaining('ECONNREFUSED'), undefined])

      expect(said).toEqual([{ reason: expect.stringContaining('ECONNREFUSED') }, { afterMs: 250 }])
      journal = (await machine.open()).journal
      expect(instants(journal)).toEqual([1, 2])
    })

    test('is not waited for beyond the lease: another may write from then on', async () => {
      await way.cut()
      journal.append(record(1))
      const durable = untilDurable(journal)
      await away.promise
      void time.pass(9000)

      await expect(durable).rejects.toThrow(/JOURNAL_POISONED[^]*ECONNREFUSED/)
      expect(journal.lease?.objection()).toContain('over')
    })
  },
)
