import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdAccount } from '../../src/daemon/account/account-lock.ts'
import { describeHolder } from '../../src/daemon/state/state-directory.ts'
import { type ProcessLock } from '../../src/lib/process-lock.ts'
import { Secret } from '../../src/lib/secret.ts'

let place: string
const unlocked: string[] = []
const locks: ProcessLock[] = []

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'accounts-'))
  unlocked.length = 0
})

afterEach(() => {
  for (const lock of locks.splice(0)) lock.release()
  rmSync(place, { recursive: true })
})

function hold(baseUrl: string, apiKey: string, where = place): void {
  const secret = new Secret('not looked at')
  locks.push(
    holdAccount({
      access: { baseUrl, credentials: { apiKey: new Secret(apiKey), secret, passphrase: secret } },
      holder: describeHolder('grid', 0),
      place: where,
      onUnlocked: (reason) => unlocked.push(reason),
    }),
  )
}

test('an account is held once, whatever the state directory, and the second is told by whom', () => {
  hold('https://api.example.com', 'key-one')

  expect(() => hold('https://api.example.com/', 'key-one')).toThrow(/ACCOUNT_HELD[^]*pid +\d+[^]*name +grid/)
})

test('another key and another exchange are other accounts', () => {
  hold('https://api.example.com', 'key-one')
  hold('https://api.example.com', 'key-two')
  hold('https://demo.example.com', 'key-one')

  expect(locks).toHaveLength(3)
  expect(unlocked).toEqual([])
})

test('[SEC1] the lock does not name the key', () => {
  hold('https://api.example.com', 'key-one')

  expect(readdirSync(place).filter((name) => !/^[0-9a-f]{32}\.lock$/.test(name))).toEqual([])
})

test('goes on without a lock where none can be made, and says so', () => {
  writeFileSync(join(place, 'file'), '')

  hold('https://api.example.com', 'key-one', join(place, 'file', 'below'))

  expect(unlocked).toEqual([expect.stringContaining('ENOTDIR')])
})
