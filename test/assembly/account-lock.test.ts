import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  accountLocks,
  holdAccount,
  readAccountHolder,
} from '../../src/assembly/account/account-lock.ts'
import { describeHolder } from '../../src/assembly/state/state-directory.ts'
import { type ProcessLock } from '../../src/lib/process-lock.ts'
import { Secret } from '../../src/lib/secret.ts'
import { ManualTime } from '../support/manual-time.ts'

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

function hold(baseUrl: string, apiKey: string, ...places: readonly string[]): void {
  const secret = new Secret('not looked at')
  locks.push(
    holdAccount({
      access: { baseUrl, credentials: { apiKey: new Secret(apiKey), secret, passphrase: secret } },
      holder: describeHolder('grid', 0),
      places: places.length > 0 ? places : [place],
      onUnlocked: (reason) => unlocked.push(reason),
    }),
  )
}

test('an account is held once, whatever the state directory, and the second is told by whom', () => {
  hold('https://api.example.com', 'key-one')

  expect(() => hold('https://api.example.com/', 'key-one')).toThrow(
    /ACCOUNT_HELD[^]*pid +\d+[^]*name +grid/,
  )
})

test('one that was passed over and has not ended is no objection, and its lock is taken once it has', async () => {
  hold('https://api.example.com', 'key-one')
  const secret = new Secret('not looked at')
  const access = {
    baseUrl: 'https://api.example.com',
    credentials: { apiKey: new Secret('key-one'), secret, passphrase: secret },
  }
  const time = new ManualTime(0)
  let held = 0
  const holdAfter = (passedOver: string): ProcessLock =>
    holdAccount({
      access,
      holder: describeHolder('next', 0),
      places: [place],
      passedOver: {
        is: ({ name }) => name === passedOver,
        timers: time,
        onHeld: () => (held += 1),
      },
      onUnlocked: (reason) => unlocked.push(reason),
    })

  expect(() => holdAfter('another')).toThrow(/ACCOUNT_HELD/)
  const next = holdAfter('grid')
  expect(unlocked).toEqual([`the one that was passed over has not ended yet, pid ${process.pid}`])
  await time.pass(2500)
  expect([held, readAccountHolder(access, [place])?.name]).toEqual([0, 'grid'])

  locks.pop()?.release()
  await time.pass(2500)
  expect([held, readAccountHolder(access, [place])?.name]).toEqual([1, 'next'])
  expect(() => hold('https://api.example.com', 'key-one')).toThrow(/ACCOUNT_HELD/)
  next.release()
  expect(readAccountHolder(access, [place])).toBeUndefined()
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

test('is held in every place, so that a service and a shell with other places see each other', () => {
  const [home, service] = [join(place, 'home'), join(place, 'service')]
  hold('https://api.example.com', 'key-one', home, service)
  const secret = new Secret('not looked at')
  const credentials = { apiKey: new Secret('key-one'), secret, passphrase: secret }

  for (const other of [home, service]) {
    expect(() => hold('https://api.example.com', 'key-one', join(place, 'third'), other)).toThrow(
      /ACCOUNT_HELD/,
    )
    const access = { baseUrl: 'https://api.example.com', credentials }
    expect(readAccountHolder(access, [join(place, 'fourth'), other])).toMatchObject({
      name: 'grid',
    })
  }
  // The one that was refused keeps nothing of it.
  for (const lock of locks.splice(0)) lock.release()
  hold('https://api.example.com', 'key-one', join(place, 'third'))
  expect(unlocked).toEqual([])
})

test('one place that can be written is enough', () => {
  writeFileSync(join(place, 'file'), '')

  hold('https://api.example.com', 'key-one', join(place, 'file', 'below'), place)

  expect(unlocked).toEqual([])
})

test('lies in the home of the user as well, where a variable names another place', () => {
  vi.stubEnv('HOME', join(place, 'home'))
  vi.stubEnv('XDG_STATE_HOME', join(place, 'state'))
  const locked = accountLocks()
  vi.unstubAllEnvs()

  expect(locked).toEqual(
    expect.arrayContaining([
      join(place, 'home/.local/state/intentd/accounts'),
      join(place, 'state/intentd/accounts'),
    ]),
  )
})
