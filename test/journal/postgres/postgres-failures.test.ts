import pg from 'pg'
import { expect, test } from 'vitest'
import {
  isRefusal,
  translatePostgresError,
} from '../../../src/journal/postgres/postgres-failures.ts'
import { assertServerVersion } from '../../../src/journal/postgres/server-tables.ts'

const place = {
  url: 'postgresql://intentd@db.example/intentd',
  password: undefined,
  schema: 'intentd_live',
}

function refused(code: string, message = 'no'): Error {
  return Object.assign(new pg.DatabaseError(message, 1, 'error'), { code })
}

/** As Node says what is wrong with a certificate. */
function certificate(code: string): Error {
  return Object.assign(new Error('certificate'), { code })
}

test.each([
  [refused('28P01'), /look at the password: it is INTENTD_JOURNAL_PASSWORD/],
  [refused('28000'), /pg_hba\.conf/],
  [refused('28000', 'pg_hba.conf rejects connection …, no encryption'), /sslmode=verify-full/],
  [certificate('DEPTH_ZERO_SELF_SIGNED_CERT'), /sslrootcert=FILE/],
  [
    certificate('ERR_TLS_CERT_ALTNAME_INVALID'),
    /name the server in the address as its certificate does/,
  ],
  [refused('3D000'), /createdb/],
  [refused('42501'), /GRANT CREATE ON DATABASE/],
  [new Error('connect ECONNREFUSED 127.0.0.1:1'), /whether the server runs/],
])('what the server refuses is said with what to do: %s', (error, hint) => {
  expect(translatePostgresError(error, place)).toMatchObject({
    code: 'JOURNAL_UNREACHABLE',
    hint: expect.stringMatching(hint),
  })
})

test('a password that is missing is not said in the words of the driver', () => {
  const error = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')
  const { message } = translatePostgresError(error, place)

  expect(message).toMatch(/found +no password was given/)
  expect(message).not.toContain('SASL')
})

test('what no repetition mends is told from a server that may come back', () => {
  const mended = (error: Error) => isRefusal(translatePostgresError(error, place))

  expect([refused('28P01'), refused('3D000'), certificate('CERT_HAS_EXPIRED')].map(mended)).toEqual(
    [true, true, true],
  )
  expect(mended(new Error('client password must be a string'))).toBe(true)
  expect(
    [new Error('connect ECONNREFUSED'), refused('57P03'), refused('57014')].map(mended),
  ).toEqual([false, false, false])
})

test('a connection that was cut is not said in the words of a socket alone', () => {
  const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  expect(translatePostgresError(error, place).message).toMatch(
    /found +the connection was lost, .*\(write EPIPE\)/,
  )
})

test('who looks at a whole database hears of the password of a queue too', () => {
  const { hint } = translatePostgresError(refused('28P01'), { ...place, schema: '' })

  expect(hint).toMatch(/INTENTD_JOURNAL_PASSWORD,.*--url takes INTENTD_SWEEP_PASSWORD/)
  expect(translatePostgresError(refused('28P01'), place).hint).not.toContain('SWEEP')
})

test('who only looks is not told to let somebody make a schema', () => {
  expect(translatePostgresError(refused('42501'), { ...place, schema: '' }).hint).toMatch(
    /^let the user read it: `GRANT USAGE/,
  )
})

test('of a whole database no schema is named', () => {
  expect(translatePostgresError(refused('3D000'), { ...place, schema: '' }).message).not.toContain(
    'schema',
  )
})

test.each([
  ['13.4', 130_004, false],
  ['14.19 (Debian)', 140_019, false],
  ['15.0', 150_000, true],
])('a server that is too old is refused by its version: %s', async (version, number, isTaken) => {
  const connection = { query: () => Promise.resolve([{ version, number }]) }
  const answer = assertServerVersion(connection, place)

  if (isTaken) expect(await answer).toBe(version)
  else await expect(answer).rejects.toThrow(/JOURNAL_SERVER_OLD[^]*older than 15/)
})
