import { appendFileSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { runPostgres } from './postgres-server.ts'
import { type NetworkHost } from './private-network.ts'

const PORT = 5432
const SETTINGS = ['fsync=off', 'shared_buffers=16MB', 'max_wal_size=64MB', 'min_wal_size=2MB']
/** An empty server takes half of it. */
const DISK = '160m'
const LEFT_BYTES = 65_536

export class CabledPostgres {
  readonly #home: string
  readonly #host: NetworkHost
  readonly #endWithProcess = (): void => this.close()
  #isRunning = false

  private constructor(host: NetworkHost) {
    this.#host = host
    this.#home = mkdtempSync(join(tmpdir(), 'intentd-postgres-'))
    process.once('exit', this.#endWithProcess)
    host.do(`mkdir ${this.#data}`)
    host.do(`mount -t tmpfs -o size=${DISK} intentd ${this.#data}`)
    host.do(`chown postgres ${this.#data}`)
    host.do(`chmod 700 ${this.#data}`)
  }

  static start(host: NetworkHost): CabledPostgres {
    const server = new CabledPostgres(host)
    const options = ['--auth=trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C']
    server.#run('initdb', ['-D', server.#data, '--wal-segsize=1', ...options])
    const open = ['host all all samenet trust', 'host replication all samenet trust', '']
    appendFileSync(server.#seen('pg_hba.conf'), open.join('\n'))
    server.start()
    return server
  }

  /** A physical standby, which follows from now on. */
  static follow(host: NetworkHost, address: string): CabledPostgres {
    const server = new CabledPostgres(host)
    const from = `postgresql://postgres@${address}:${PORT}`
    server.#run('pg_basebackup', [
      '-d',
      from,
      '-D',
      server.#data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-N',
    ])
    server.start()
    return server
  }

  /** Address for the tests, outside all cables. */
  asked(schema: string): PostgresPlace {
    return {
      url: `postgresql://postgres@/postgres?host=${this.#home}&port=${PORT}`,
      password: undefined,
      schema,
    }
  }

  start(): void {
    const settings = [`-p ${PORT}`, `-k ${this.#home}`, `-c listen_addresses=*`]
    const all = [...settings, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ')
    this.#run('pg_ctl', ['-D', this.#data, '-w', '-l', join(this.#home, 'log'), '-o', all, 'start'])
    this.#isRunning = true
  }

  kill(): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    this.#run('pg_ctl', ['-D', this.#data, '-m', 'immediate', '-w', 'stop'])
  }

  promote(): void {
    this.#run('pg_ctl', ['-D', this.#data, '-w', 'promote'])
  }

  /** From now on commits wait for a standby. */
  waitForStandby(): void {
    const settings = ['-h', this.#home, '-p', String(PORT), '-U', 'postgres', '-q']
    this.#run('psql', [...settings, '-c', "ALTER SYSTEM SET synchronous_standby_names = '*'"])
    this.#run('pg_ctl', ['-D', this.#data, 'reload'])
  }

  fillDisk(): void {
    const { bavail, bsize } = statfsSync(this.#seen(''))
    writeFileSync(this.#seen('filler'), Buffer.alloc(Math.max(0, bavail * bsize - LEFT_BYTES)))
  }

  freeDisk(): void {
    rmSync(this.#seen('filler'), { force: true })
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

  /** The disk is mounted in the server's namespace; this is its path from here. */
  #seen(file: string): string {
    return join(`/proc/${this.#host.pid}/root`, this.#data, file)
  }

  #run(program: string, args: readonly string[]): void {
    runPostgres(program, this.#home, args, this.#host.within(this.#home))
  }
}
