import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { runPostgres } from './postgres-server.ts'
import { type NetworkHost } from './private-network.ts'

const PORT = 5432
const SETTINGS = ['fsync=off', 'shared_buffers=16MB', 'max_wal_size=64MB', 'min_wal_size=32MB']

/** A PostgreSQL server on a machine of a network of the tests' own. */
export class CabledPostgres {
  readonly #home: string
  readonly #host: NetworkHost
  readonly #endWithProcess = (): void => this.close()

  private constructor(host: NetworkHost) {
    this.#host = host
    this.#home = mkdtempSync(join(tmpdir(), 'intentd-postgres-'))
    process.once('exit', this.#endWithProcess)
  }

  static start(host: NetworkHost): CabledPostgres {
    const server = new CabledPostgres(host)
    const options = ['--auth=trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C']
    server.#run('initdb', ['-D', server.#data, '--wal-segsize=1', ...options])
    const open = ['host all all samenet trust', 'host replication all samenet trust', '']
    appendFileSync(join(server.#data, 'pg_hba.conf'), open.join('\n'))
    server.start()
    return server
  }

  /** As its machines reach it, and as the tests do, beside all cables. */
  place(schema: string): { readonly place: PostgresPlace; readonly asked: PostgresPlace } {
    const at = (url: string): PostgresPlace => ({ url, password: undefined, schema })
    return {
      place: at(`postgresql://postgres@${this.#host.address}:${PORT}/postgres`),
      asked: at(`postgresql://postgres@/postgres?host=${this.#home}&port=${PORT}`),
    }
  }

  start(): void {
    const settings = [`-p ${PORT}`, `-k ${this.#home}`, `-c listen_addresses=*`]
    const all = [...settings, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ')
    this.#run('pg_ctl', ['-D', this.#data, '-w', '-l', join(this.#home, 'log'), '-o', all, 'start'])
  }

  /** As a crash does. */
  kill(): void {
    this.#run('pg_ctl', ['-D', this.#data, '-m', 'immediate', '-w', 'stop'])
  }

  close(): void {
    process.removeListener('exit', this.#endWithProcess)
    try {
      this.kill()
    } finally {
      rmSync(this.#home, { recursive: true, force: true })
    }
  }

  get #data(): string {
    return join(this.#home, 'data')
  }

  #run(program: string, args: readonly string[]): void {
    runPostgres(program, this.#home, args, this.#host.within(this.#home))
  }
}
