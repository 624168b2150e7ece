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

  const DAMAGED = [
    ['an empty file', ''],
    ['a file of zero bytes', '\0'.repeat(65)],
    ['a torn one', 'abc123\n'],
    ['bytes that are no text', '\u00ff'.repeat(40)],
  ] as const

  test.each(DAMAGED)('%s in place of the one that commands is written over', (_, text) => {
    const files = place()
    writeToken(files.full, 0o600, text)
    const renewed: string[] = []

    assertTokens(files)
    const { full } = openTokens(files, (file) => renewed.push(file))

    expect(readFileSync(files.full, 'utf8').trim()).toBe(full.reveal())
    expect(renewed).toEqual([])
  })

  test.each(DAMAGED)('%s in place of one that lasts is made anew, and said', (_, text) => {
    const files = { ...place(), agent: join(directory, `${count}.agent.token`) }
    for (const file of [files.read, files.agent]) writeToken(file, 0o600, text)
    const renewed: string[] = []

    assertTokens(files)
    expect(readFileSync(files.read, 'utf8')).toBe(text)
    const { read, agent } = openTokens(files, (file) => renewed.push(file))

    expect(renewed).toEqual([files.read, files.agent])
    expect(readFileSync(files.read, 'utf8').trim()).toBe(read.reveal())
    expect(readFileSync(files.agent, 'utf8').trim()).toBe(agent?.reveal())
    expect(openTokens(files, (file) => renewed.push(file)).read.reveal()).toBe(read.reveal())
    expect(renewed).toHaveLength(2)
  })

  test('a file that the configuration names is not written over, since it may be another', () => {
    const key = 'one line\nand another\n'
    for (const which of ['full', 'read'] as const) {
      const files = place()
      writeToken(files[which], 0o600, key)
      const named = { ...files, named: [files[which]] }

      expect(() => assertTokens(named)).toThrow('CONTROL_TOKEN_INVALID')
      expect(() => openTokens(named)).toThrow(/CONTROL_TOKEN_INVALID[^]*remove the file/)
      expect(readFileSync(files[which], 'utf8')).toBe(key)
    }
  })

  test('an empty one that the configuration names is filled where each start writes it', () => {
    const files = place()
    writeToken(files.full, 0o600, '')

    const { full } = openTokens({ ...files, named: [files.full] })

    expect(readFileSync(files.full, 'utf8').trim()).toBe(full.reveal())
  })

  test('a damaged one that others may read is refused as any other', () => {
    const files = place()
    writeToken(files.full, 0o644, '')

    expect(() => openTokens(files)).toThrow('CONTROL_TOKEN_EXPOSED')
  })

  test('one in a folder that is not there is said with what to do', () => {
    const read = join(directory, 'nowhere', 'read.token')
    expect(() => openTokens({ ...place(), read })).toThrow(
      /CONTROL_TOKEN_UNREADABLE[^]*openssl rand/,
    )
  })
})
