import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  assertTokens,
  openTokens,
  type TokenFiles,
} from '../../../src/control/access/token-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'intentd-tokens-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let count = 0
function place(): TokenFiles {
  count += 1
  return { full: join(directory, `${count}.token`), read: join(directory, `${count}.read.token`) }
}

function writeToken(file: string, mode: number, text = `${'a'.repeat(64)}\n`): void {
  writeFileSync(file, text)
  chmodSync(file, mode)
}

describe('the tokens of the control port', () => {
  test('are made once, two different ones, for their owner alone', () => {
    const files = place()

    const made = openTokens(files)
    const again = openTokens(files)

    expect(made.full.reveal()).toMatch(/^[0-9a-f]{64}$/)
    expect(made.read.reveal()).toMatch(/^[0-9a-f]{64}$/)
    expect(made.read.reveal()).not.toBe(made.full.reveal())
    expect([again.full.reveal(), again.read.reveal()]).toEqual([
      made.full.reveal(),
      made.read.reveal(),
    ])
    for (const file of [files.full, files.read]) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('the one that commands is another in each process; the one that looks stays', () => {
    const files = place()
    writeToken(files.full, 0o600)
    writeToken(files.read, 0o600, `${'b'.repeat(64)}\n`)

    assertTokens(files)
    expect(readFileSync(files.full, 'utf8').trim()).toBe('a'.repeat(64))
    const { full, read } = openTokens(files)

    expect(full.reveal()).not.toBe('a'.repeat(64))
    expect(readFileSync(files.full, 'utf8').trim()).toBe(full.reveal())
    expect(read.reveal()).toBe('b'.repeat(64))
  })

  test.skipIf(process.platform !== 'linux')(
    'the one that looks is made for the group of a folder that belongs to readers (setgid)',
    () => {
      const folder = join(directory, 'readers')
      mkdirSync(folder)
      chmodSync(folder, 0o2750)
      const read = join(folder, 'read.token')

      openTokens({ full: place().full, read })

      expect(statSync(read).mode & 0o777).toBe(0o640)
      expect(statSync(read).gid).toBe(statSync(folder).gid)
    },
  )

  test('a group may read the one that only looks, such as that of Prometheus', () => {
    const files = place()
    writeToken(files.read, 0o640)

    expect(openTokens(files).read.reveal()).toBe('a'.repeat(64))
  })

  test.each([
    ['full', 0o640, /CONTROL_TOKEN_EXPOSED[^]*chmod 600/],
    ['full', 0o604, /CONTROL_TOKEN_EXPOSED[^]*chmod 600/],
    ['read', 0o644, /CONTROL_TOKEN_EXPOSED[^]*chmod 640/],
    ['read', 0o660, /CONTROL_TOKEN_EXPOSED[^]*chmod 640/],
  ] as const)('the %s one with mode %o is refused', (which, mode, said) => {
    const files = place()
    writeToken(files[which], mode)

    expect(() => openTokens(files)).toThrow(said)
  })

  test('the one that only looks cannot be the one that commands', () => {
    const files = place()
    expect(() => openTokens({ full: files.full, read: files.full })).toThrow('CONTROL_TOKENS_EQUAL')
  })

  test('one that is none, or in a folder that is not there, is said with what to do', () => {
    const [short, lost] = [place(), place()]
    writeToken(short.read, 0o600, 'short\n')

    expect(() => openTokens(short)).toThrow(/CONTROL_TOKEN_INVALID[^]*remove the file/)
    const read = join(directory, 'nowhere', 'read.token')
    expect(() => openTokens({ ...lost, read })).toThrow(/CONTROL_TOKEN_UNREADABLE[^]*openssl rand/)
  })
})
