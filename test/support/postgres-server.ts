import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { findPort } from './free-port.ts'

/** On Debian the newest version comes last. */
const PROGRAMS = findPrograms()

export const postgresMissing = PROGRAMS === undefined ? 'no PostgreSQL: npm run servers' : undefined

export interface PostgresServer {
  readonly port: number
  newPlace(): PostgresPlace
  /** For tests that look at all journals of one database. */
  newDatabase(): Promise<PostgresPlace>
  restart(): void
}

let running: Promise<PostgresServer> | undefined
let places = 0

/** It is started on first use. */
export function postgresServer(): Promise<PostgresServer> {
  running ??= startServer()
  return running
}

async function startServer(): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), 'intentd-postgres-'))
  const data = join(home, 'data')
  const port = await findPort()
  const control = (...args: readonly string[]): void =>
    runPostgres('pg_ctl', home, ['-D', data, '-w', ...args])
  const settings = `-p ${port} -k ${home} -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=16MB`
  const start = (): void => control('-l', join(home, 'log'), '-o', settings, 'start')
  runPostgres('initdb', home, [
    '-D',
    data,
    '--auth=trust',
    '-U',
    'postgres',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C',
  ])
  start()
  endWithProcess(home)
  const placeIn = (database: string): PostgresPlace => ({
    url: `postgresql://postgres@127.0.0.1:${port}/${database}`,
    password: undefined,
    schema: `test_${process.pid}_${places++}`,
  })
  return {
    port,
    newPlace: () => placeIn('postgres'),
    async newDatabase() {
      const place = placeIn(`database_${process.pid}_${places++}`)
      const connection = new PostgresConnection(placeIn('postgres'))
      await connection.query(`CREATE DATABASE ${place.url.slice(place.url.lastIndexOf('/') + 1)}`)
      await connection.close()
      return place
    },
    restart() {
      control('-m', 'immediate', 'stop')
      start()
    },
  }
}

/** Ends the server of a folder, and removes it, when its input is closed. */
const KEEPER = `cat; pid=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; rm -rf "$0"`

/** A worker of the tests may be killed without notice, so a process of its own ends the server. */
function endWithProcess(home: string): void {
  const keeper = spawn('sh', ['-c', KEEPER, home], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  keeper.unref()
  if (keeper.stdin instanceof Socket) keeper.stdin.unref()
}

/**
 * The server refuses to run as root, so its programs run as their own user.
 * @param within prefix of the command
 */
export function runPostgres(
  program: string,
  home: string,
  args: readonly string[],
  within: readonly string[] = [],
): void {
  const file = join(PROGRAMS ?? '', program)
  const isRoot = process.getuid?.() === 0
  if (isRoot) giveTo(home)
  const user = isRoot ? ['runuser', '-u', 'postgres', '--'] : []
  const [command = '', ...all] = [...within, ...user, file, ...args]
  // The starter must not wait for the server's output.
  const { status, stderr } = spawnSync(command, all, {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${program} failed: ${String(stderr)}`)
}

function giveTo(home: string): void {
  const [uid = '', gid = ''] = ['-u', '-g'].map((which) =>
    String(spawnSync('id', [which, 'postgres']).stdout).trim(),
  )
  chownSync(home, Number(uid), Number(gid))
}

function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian)
    ? readdirSync(debian).toSorted((one, other) => Number(one) - Number(other))
    : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    '/usr/local/bin',
    '/usr/bin',
  ]
  return folders.findLast((folder) =>
    ['initdb', 'pg_ctl', 'pg_basebackup', 'psql'].every((program) =>
      existsSync(join(folder, program)),
    ),
  )
}
