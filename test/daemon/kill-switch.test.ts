import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  killFileOf,
  type KillNote,
  KillSwitch,
  readKillState,
  throwKillSwitch,
} from '../../src/daemon/account/kill-switch.ts'
import { type ControlCommand, CommandInbox, postCommand } from '../../src/daemon/account/command-inbox.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const made: string[] = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function openSwitch(within = '') {
  const directory = mkdtempSync(join(tmpdir(), 'kill-'))
  made.push(directory)
  const thrown: KillNote[] = []
  const troubles: string[] = []
  const killSwitch = new KillSwitch({
    directory: join(directory, within),
    clock: new ManualTime(MOMENT_AT),
    onThrown: (note) => thrown.push(note),
    onTrouble: (reason) => troubles.push(reason),
  })
  return { directory, killSwitch, thrown, troubles }
}

describe('[RSK2] the kill file', () => {
  test('forbids from the moment it is there, and is reported once', () => {
    const { directory, killSwitch, thrown } = openSwitch()
    expect(killSwitch.isThrown()).toBe(false)

    throwKillSwitch(directory, { reason: 'drill', by: 'anna' })
    expect([killSwitch.isThrown(), killSwitch.isThrown()]).toEqual([true, true])
    expect(thrown).toEqual([{ reason: 'drill', by: 'anna' }])
  })

  test.each(['', 'no json', '{"reason":1}'])('kills when it was made by hand with %j in it', (text) => {
    const { directory, killSwitch, thrown } = openSwitch()
    writeFileSync(killFileOf(directory), text)

    expect(killSwitch.isThrown()).toBe(true)
    expect(thrown).toEqual([{ reason: 'the kill file was made', by: 'unknown' }])
  })

  test('is thrown also where its note cannot be written', () => {
    // As on a full disk: a file can still be made, and nothing put into one.
    const { directory, killSwitch, thrown } = openSwitch()
    mkdirSync(`${killFileOf(directory)}.new`)
    throwKillSwitch(directory, { reason: 'drill', by: 'anna' })

    expect(killSwitch.isThrown()).toBe(true)
    expect(thrown).toEqual([{ reason: 'the kill file was made', by: 'unknown' }])
  })

  test('was seen by nobody when the daemon that saw it is dead', () => {
    const { directory, killSwitch } = openSwitch()
    killSwitch.note('seen')
    const state = join(directory, 'KILL.state')
    writeFileSync(state, readFileSync(state, 'utf8').replace(String(process.pid), '999999999'))

    expect(readKillState(directory)).toBeUndefined()
  })

  test('forbids as well when it cannot be looked for', () => {
    // A name that leads back to itself: as good as a disk that does not answer.
    const { directory, killSwitch, thrown } = openSwitch('loop')
    symlinkSync('loop', join(directory, 'loop'))

    expect(killSwitch.isThrown()).toBe(true)
    expect(thrown[0]?.reason).toContain('cannot be looked for')
  })

  test('is made where the order came another way, and goes with the release alone', () => {
    const { directory, killSwitch } = openSwitch()
    killSwitch.note('seen')
    expect([existsSync(killFileOf(directory)), readKillState(directory)?.state]).toEqual([true, 'seen'])

    killSwitch.note('clean')
    expect(readKillState(directory)).toEqual({ state: 'clean', pid: process.pid, at: MOMENT_AT })
    killSwitch.note('released')
    expect([killSwitch.isThrown(), readKillState(directory)]).toEqual([false, undefined])
  })

  test('that cannot be written down is reported, and throws nothing', () => {
    const { directory, killSwitch, troubles } = openSwitch('loop')
    symlinkSync('loop', join(directory, 'loop'))
    killSwitch.note('seen')

    expect(troubles).toHaveLength(1)
  })
})

describe('a command of the operator', () => {
  const COMMAND = { kind: 'release', reason: 'looked at it', by: 'anna' } as const

  function openInbox(directory: string) {
    const commands: ControlCommand[] = []
    const unreadable: string[] = []
    const inbox = new CommandInbox({
      directory,
      onCommand: (command) => commands.push(command),
      onUnreadable: (file) => unreadable.push(file),
    })
    return { inbox, commands, unreadable }
  }

  test('waits for a daemon, is read once and then gone', () => {
    const { directory } = openSwitch()
    const file = postCommand(directory, { ...COMMAND, scope: 'BTCUSDT' })
    const { inbox, commands } = openInbox(directory)
    inbox.empty()
    inbox.empty()

    expect(commands).toEqual([{ ...COMMAND, scope: 'BTCUSDT' }])
    expect(existsSync(file)).toBe(false)
  })

  test.each(['{', '{"kind":"sell"}', JSON.stringify({ ...COMMAND, reason: 'x'.repeat(5000) })])(
    'that is none is set aside: %.20s',
    (text) => {
      const { directory } = openSwitch()
      const file = postCommand(directory, COMMAND)
      writeFileSync(file, text)
      const { inbox, commands, unreadable } = openInbox(directory)
      inbox.empty()
      inbox.empty()

      expect([commands, unreadable]).toEqual([[], [file]])
      expect(existsSync(`${file}.unreadable`)).toBe(true)
    },
  )
})
