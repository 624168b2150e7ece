import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { type KillRequestResult, requestKills } from '../../../src/journal/postgres/kill-request.ts'

const SCHEMAS = Array.from({ length: 30 }, (_, index) => `account${index}`)

/** A server that gives so many connections, answers when it is let, and counts. */
class Server {
  readonly ordered: string[] = []
  /** What it says instead of taking the order of an account. */
  readonly refuses = new Map<string, Error>()
  connections = 0
  atOnce = 0
  atOnceMax = 0
  readonly #connectionsMax: number

  constructor(connectionsMax = 100) {
    this.#connectionsMax = connectionsMax
  }

  connect() {
    let isOpen = false
    return {
      connect: async () => {
        if (isOpen) return
        if (this.connections >= this.#connectionsMax) throw new Error('too many connections')
        this.connections += 1
        isOpen = true
      },
      query: async (sql: string) => {
        const schema = /"(account\d+)"/.exec(sql)?.[1] ?? ''
        this.atOnce += 1
        this.atOnceMax = Math.max(this.atOnceMax, this.atOnce)
        await new Promise<void>((resolve) => setImmediate(resolve))
        this.atOnce -= 1
        const refusal = this.refuses.get(schema)
        if (refusal) throw refusal
        this.ordered.push(schema)
        return [{ moved: schema === 'account9', number: '4' }]
      },
      close: async () => {
        if (isOpen) this.connections -= 1
        isOpen = false
      },
    }
  }
}

async function run(
  server: Server,
): Promise<{ trouble: unknown; noted: Map<string, KillRequestResult> }> {
  const noted = new Map<string, KillRequestResult>()
  const trouble = await requestKills({
    schemas: SCHEMAS,
    order: { reason: 'drill', by: 'me' },
    connection: server.connect(),
    createConnection: () => server.connect(),
    onRequested: (schema, ordered) => noted.set(schema, ordered),
  })
  return { trouble, noted }
}

describe('[RSK3] kills of many accounts', () => {
  test('are ordered side by side over a few connections, each once', async () => {
    const server = new Server()
    const { trouble, noted } = await run(server)

    expect([trouble, server.ordered.toSorted(), server.atOnceMax]).toEqual([
      undefined,
      SCHEMAS.toSorted(),
      8,
    ])
    expect([noted.get('account3'), noted.get('account9')]).toEqual([
      { kind: 'ordered', number: 4 },
      { kind: 'moved' },
    ])
    // The one that was there before stays.
    expect(server.connections).toBe(1)
  })

  test('are all ordered over the one connection that a full server gives', async () => {
    const server = new Server(1)
    const { trouble, noted } = await run(server)

    expect([trouble, noted.size, server.atOnceMax]).toEqual([undefined, SCHEMAS.length, 1])
  })

  test('what is wrong with one keeps no other from its order, and is not asked again for good', async () => {
    const server = new Server()
    const noRight = new pg.DatabaseError('permission denied', 0, 'error')
    noRight.code = '42501'
    server.refuses.set('account5', noRight).set('account6', new Error('connection lost'))
    const { trouble, noted } = await run(server)

    expect(noted.get('account5')).toEqual({ kind: 'refused', reason: 'permission denied' })
    expect([String(trouble), noted.has('account6'), noted.size]).toEqual([
      'Error: connection lost',
      false,
      SCHEMAS.length - 1,
    ])
  })

  test('without a connection nothing is ordered, and it is said', async () => {
    const { trouble, noted } = await run(new Server(0))
    expect([String(trouble), noted.size]).toEqual(['Error: too many connections', 0])
  })
})
