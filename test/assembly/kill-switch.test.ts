import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  killFileOf,
  type KillNote,
  KillSwitch,
  readKillState,
  throwKillSwitch,
} from '../../src/assembly/state/kill-switch.ts'
import {
  type CommandAnswer,
  type ControlCommand,
  CommandInbox,
  postCommand,
  refuseCommand,
  takeAnswer,
} from '../../src/daemon/account/command-inbox.ts'
import { listenToOperator } from '../../src/daemon/account/listen-to-operator.ts'
import { type EngineCommand } from '../../src/engine/event.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

/** The owner of a file is verified; what it says is not. */
const BY_FILE = `file:uid ${process.geteuid?.()}`
const BY_ANNA = `${BY_FILE} says "anna"`

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
    expect(killSwitch.check()).toBe(false)

    throwKillSwitch(directory, { reason: 'drill', by: 'anna' })
    expect([killSwitch.isThrown, thrown]).toEqual([true, []])
    expect([killSwitch.check(), killSwitch.check()]).toEqual([true, true])
    expect(thrown).toEqual([{ reason: 'drill', by: BY_ANNA }])
  })

  test.each(['', 'no json', '{"reason":1}'])(
    'kills when it was made by hand with %j in it',
    (text) => {
      const { directory, killSwitch, thrown } = openSwitch()
      writeFileSync(killFileOf(directory), text)

      expect(killSwitch.check()).toBe(true)
      expect(thrown).toEqual([{ reason: 'the kill file was made', by: BY_FILE }])
    },
  )

  test('gives a reason of one line', () => {
    const { directory, killSwitch, thrown } = openSwitch()
    throwKillSwitch(directory, { reason: 'odd\nmode active\u2028x', by: 'anna\u0085b' })
    killSwitch.check()
    expect(thrown).toMatchObject([{ reason: 'odd mode active x' }])
    expect(thrown[0]?.by).not.toMatch(/[\n\u0085]/)
  })

  test('that is made once more is reported once more: it ends a release that waits', () => {
    const { directory, killSwitch, thrown } = openSwitch()
    throwKillSwitch(directory, { reason: 'drill', by: 'anna' })
    killSwitch.check()
    killSwitch.note('seen')
    utimesSync(killFileOf(directory), 1, 1)
    killSwitch.check()
    killSwitch.check()

    expect(thrown).toHaveLength(2)
  })

  test('is thrown also where its note cannot be written', () => {
    // As on a full disk: a file can still be made, and nothing put into one.
    const { directory, killSwitch, thrown } = openSwitch()
    mkdirSync(`${killFileOf(directory)}.new`)
    throwKillSwitch(directory, { reason: 'drill', by: 'anna' })

    expect(killSwitch.check()).toBe(true)
    expect(thrown).toEqual([{ reason: 'the kill file was made', by: BY_FILE }])
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

    expect(killSwitch.check()).toBe(true)
    expect(thrown[0]?.reason).toContain('cannot be looked for')
  })

  test('is made where the order came another way, and goes with the release alone', () => {
    const { directory, killSwitch } = openSwitch()
    killSwitch.note('seen')
    expect([existsSync(killFileOf(directory)), readKillState(directory)?.state]).toEqual([
      true,
      'seen',
    ])

    killSwitch.note('clean')
    expect(readKillState(directory)).toEqual({ state: 'clean', pid: process.pid, at: MOMENT_AT })
    killSwitch.note('released')
    expect([killSwitch.check(), readKillState(directory)]).toEqual([false, undefined])
  })

  test('that cannot be written down is reported, and throws nothing', () => {
    const { directory, killSwitch, troubles } = openSwitch('loop')
    symlinkSync('loop', join(directory, 'loop'))
    killSwitch.note('seen')

    expect(troubles).toHaveLength(1)
  })
})

describe('[RSK2] a release of the kill switch', () => {
  const NOW = Date.now()

  /** What is obeyed of a release that was given then, under a kill that was thrown then, ms from now. */
  function release(givenAt: number, thrownAt: number | undefined, killedAt?: number) {
    const directory = mkdtempSync(join(tmpdir(), 'release-'))
    made.push(directory)
    const obeyed: EngineCommand[] = []
    const time = new ManualTime(NOW)
    const { inbox } = listenToOperator(
      {
        directory,
        config: {
          state: {
            directory,
            freeBytesMin: 0,
          },
        },
        trusted: { clock: time },
        timers: time,
        logger: { log: () => undefined },
      },
      {
        onCommand: (command) => {
          obeyed.push(command)
          return refuseCommand({})
        },
        whenWritten: (done) => done(true),
        killedAt: () => (killedAt === undefined ? undefined : NOW + killedAt),
      },
    )
    if (thrownAt !== undefined) throwKillSwitch(directory, { reason: 'drill', by: 'anna' })
    const file = postCommand(directory, { kind: 'release', reason: 'over', by: 'anna' })
    const set = (path: string, at: number): void =>
      utimesSync(path, new Date(NOW + at), new Date(NOW + at))
    if (thrownAt !== undefined) set(killFileOf(directory), thrownAt)
    set(file, givenAt)
    inbox.empty()
    return { isObeyed: obeyed.length === 1, isTooOld: takeAnswer(file)?.isTooOld === true }
  }

  const OBEYED = { isObeyed: true, isTooOld: false }
  const TOO_OLD = { isObeyed: false, isTooOld: true }

  test.each([
    ['ends a kill that was thrown before it', -1000, -2000, undefined, OBEYED],
    ['ends none that was thrown after it', -2000, -1000, undefined, TOO_OLD],
    [
      'ends none that the journal knows to be newer, as one of another machine',
      -2000,
      undefined,
      -1000,
      TOO_OLD,
    ],
    ['ends one that only the journal knows', -1000, undefined, -2000, OBEYED],
    ['ends one that was thrown before the clock was set back', -1000, 3_600_000, undefined, OBEYED],
    ['is passed on where no kill is known', -1000, undefined, undefined, OBEYED],
  ])('%s', (_, givenAt, thrownAt, killedAt, what) => {
    expect(release(givenAt, thrownAt, killedAt)).toEqual(what)
  })
})

describe('a command of the operator', () => {
  const COMMAND = { kind: 'release', reason: 'looked at it', by: 'anna' } as const
  const OBEYED = { ...COMMAND, by: BY_ANNA }
  const NOTHING: CommandAnswer = {
    held: [],
    lifted: [],
    killFiles: [],
    stillHeld: {},
    isScopeUnknown: false,
    unclosable: {},
  }

  function openInbox(directory: string, obeys = true) {
    const commands: ControlCommand[] = []
    const unreadable: string[] = []
    const inbox = new CommandInbox({
      directory,
      onCommand: (command) => {
        commands.push(command)
        return obeys ? NOTHING : undefined
      },
      whenWritten: (done) => done(true),
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

    expect(commands).toEqual([{ ...COMMAND, by: BY_ANNA, scope: 'BTCUSDT' }])
    expect(existsSync(file)).toBe(false)
  })

  test('that cannot be written down leaves nothing behind', () => {
    const { directory } = openSwitch()
    vi.spyOn(fs, 'renameSync').mockImplementation(() => {
      throw new Error('ENOSPC: no space left on device')
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    expect(() => postCommand(directory, COMMAND)).toThrow(/ENOSPC/)

    expect(readdirSync(join(directory, 'operator'))).toEqual([])
  })

  test('is answered once, for whoever waits for it', () => {
    const { directory } = openSwitch()
    const file = postCommand(directory, COMMAND)
    expect(takeAnswer(file)).toBeUndefined()
    openInbox(directory).inbox.empty()

    expect([takeAnswer(file), takeAnswer(file)]).toEqual([NOTHING, undefined])
    expect(readdirSync(dirname(file))).toEqual([])
  })

  test('that can be neither read nor set aside holds no other up, and is reported once', () => {
    const directory = mkdtempSync(join(tmpdir(), 'inbox-'))
    made.push(directory)
    const { inbox, commands, unreadable } = openInbox(directory)
    const stuck = join(directory, 'operator', '0-stuck.json')
    mkdirSync(stuck)
    mkdirSync(`${stuck}.unreadable/full`, { recursive: true })
    postCommand(directory, { kind: 'flatten', scope: '*', reason: 'drill', by: 'anna' })
    inbox.empty()
    inbox.empty()

    expect(commands).toMatchObject([{ kind: 'flatten' }])
    expect(unreadable.filter((file) => file === stuck)).toHaveLength(2)
  })

  test('has a place that the daemon made, whoever leaves the first one', () => {
    const directory = mkdtempSync(join(tmpdir(), 'inbox-'))
    made.push(directory)
    openInbox(directory)

    expect(existsSync(join(directory, 'operator'))).toBe(true)
  })

  test('waits where nobody can obey it', () => {
    const { directory } = openSwitch()
    postCommand(directory, COMMAND)
    const ended = openInbox(directory, false)
    ended.inbox.empty()
    const next = openInbox(directory)
    next.inbox.empty()

    expect([ended.commands, next.commands]).toEqual([[OBEYED], [OBEYED]])
  })

  test('comes after those that were given before it, whatever they are', () => {
    const { directory } = openSwitch()
    const kinds = ['restrict', 'flatten', 'release'] as const
    for (const [index, kind] of kinds.entries()) {
      vi.setSystemTime(MOMENT_AT + index)
      const command = { kind, scope: '*', reason: 'drill', by: 'anna' } as const
      postCommand(
        directory,
        kind === 'restrict' ? { ...command, kind, mode: 'halted' } : { ...command, kind },
      )
    }
    vi.useRealTimers()
    const { inbox, commands } = openInbox(directory)
    inbox.empty()

    expect(commands.map(({ kind }) => kind)).toEqual(kinds)
  })

  test('that nobody waits for leaves no more than twenty answers', () => {
    const { directory } = openSwitch()
    const { inbox } = openInbox(directory)
    const files = Array.from({ length: 25 }, () => {
      const file = postCommand(directory, COMMAND)
      inbox.empty()
      return file
    })

    expect(readdirSync(dirname(files[0] ?? '')).length).toBeLessThanOrEqual(21)
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
