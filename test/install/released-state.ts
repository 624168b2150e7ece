import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'

export const RELEASED = join(import.meta.dirname, 'released')

/** What every release left, and what was left before a layout changed. */
export const VERSIONS: readonly string[] = readdirSync(RELEASED)

/** Whose journal it is. */
export const IDENTITY = 'simulator USDT-FUTURES one_way_mode'

interface Left {
  readonly world: string
  readonly at: number
  readonly openOrders: number
  readonly fills: number
  readonly positions: Readonly<Record<string, string>>
}

/** What a release left, unpacked into a folder of its own, which the caller removes. */
export function unpackState(
  version: string,
): Left & { readonly directory: string; readonly journal: string } {
  const place = join(RELEASED, version)
  const directory = mkdtempSync(join(tmpdir(), 'upgrade-'))
  const left = JSON.parse(readFileSync(join(place, 'left.json'), 'utf8')) as Left
  const world = join(directory, left.world)
  mkdirSync(world, { mode: 0o700 })
  for (const file of readdirSync(place).filter(
    (name) => name.endsWith('.gz') && !name.endsWith('.sql.gz'),
  )) {
    const bytes = gunzipSync(readFileSync(join(place, file)))
    writeFileSync(join(world, file.slice(0, -'.gz'.length)), bytes, { mode: 0o600 })
  }
  return { ...left, directory, journal: join(world, 'journal.sqlite') }
}

/** The same journal on a server, as that version had it there. @returns its schema */
export async function restoreOnServer(
  version: string,
  place: PostgresPlace,
): Promise<PostgresPlace> {
  const dump = gunzipSync(
    readFileSync(join(RELEASED, version, 'journal-on-server.sql.gz')),
  ).toString('utf8')
  const connection = new PostgresConnection(place)
  try {
    await connection.query(dump)
  } finally {
    await connection.close()
  }
  return { ...place, schema: 'intentd_paper' }
}
