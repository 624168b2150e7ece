import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { killFileOf, throwKillSwitch } from '../../src/assembly/state/kill-switch.ts'
import { RequestedKills, throwStandingKill } from '../../src/daemon/fleet/requested-kills.ts'
import { pairKey } from '../../src/engine/book/book.ts'
import { type KillAnswer, type KillRequest } from '../../src/journal/journal.ts'

const kill = (number: number, state: KillRequest['state'] = 'asked'): KillRequest => ({
  number,
  state,
  reason: 'drill',
  by: 'me',
})

let home: string
let directory: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'intentd-ordered-'))
  directory = join(home, 'state')
})
afterEach(() => rmSync(home, { recursive: true }))

/** An account that obeys a kill, and one whose switch is looked at by the test. */
function createScene(standing?: KillRequest) {
  let ask: (kill: KillRequest) => KillAnswer | undefined = () => undefined
  const commands: string[] = []
  const engine = { kill: undefined as { phase: string } | undefined }
  const restrictions = new Map<string, object>()
  const lease = {
    kill: standing,
    onKill: (listener: typeof ask) => {
      ask = listener
    },
    answerKill: () => undefined,
  }
  const kills = new RequestedKills({ lease, directory })
  const account = {
    shown: { engine, book: { restrictions } },
    command(command: { kind: string; reason: string }) {
      commands.push(`${command.kind} ${command.reason}`)
      if (restrictions.size === 0) kills.note('seen')
      restrictions.set(pairKey('*', 'kill'), {})
      engine.kill ??= { phase: 'cutting' }
      return {}
    },
  }
  kills.bind(account as never)
  return {
    kills,
    commands,
    engine,
    restrictions,
    ask: (order: KillRequest) => ask(order),
    isThrown: () => existsSync(killFileOf(directory)),
  }
}

describe('[RSK2] [RSK3] a kill that was ordered on the server', () => {
  test('throws the switch of this machine once, and is clean when the core has proved it', () => {
    const scene = createScene()
    expect([scene.ask(kill(1)), scene.isThrown()]).toEqual(['seen', true])
    scene.kills.note('clean')
    // The core has found something since.
    expect(scene.ask(kill(1, 'seen'))).toBe('seen')
    scene.engine.kill = { phase: 'clean' }
    expect(scene.ask(kill(1, 'seen'))).toBe('clean')
    expect(scene.commands).toEqual(['kill drill'])
    expect(JSON.parse(readFileSync(killFileOf(directory), 'utf8'))).toMatchObject({
      reason: 'drill',
      order: 1,
    })
  })

  test('kills by command alone where the file cannot be written', () => {
    writeFileSync(directory, 'no folder')
    const scene = createScene()
    expect([scene.ask(kill(1)), scene.commands]).toEqual(['seen', ['kill drill']])
    scene.ask(kill(1, 'seen'))
    expect(scene.commands).toHaveLength(1)
  })

  test('a release is one of the kill that it ended, and of none that is ordered after it', () => {
    const scene = createScene()
    scene.ask(kill(1))
    scene.restrictions.clear()
    scene.kills.note('released')
    expect(scene.ask(kill(1, 'clean'))).toBe('released')
    expect(scene.ask(kill(1, 'released'))).toBe(undefined)
    expect(scene.ask(kill(2))).toBe('seen')
  })

  test('a release that the server was not told of before the process ended is told by the next run', () => {
    const scene = createScene(kill(1, 'clean'))
    expect([scene.ask(kill(1, 'clean')), scene.commands]).toEqual(['released', []])
    // The kill of an order that stands.
    scene.restrictions.set(pairKey('*', 'kill'), {})
    expect(scene.ask(kill(1, 'clean'))).toBe(undefined)
  })

  test('one that stands is thrown before anything trades; one that was proved stands in the journal', () => {
    for (const state of ['asked', 'seen'] as const) {
      throwStandingKill({ kill: kill(4, state) }, directory)
      expect(existsSync(killFileOf(directory))).toBe(true)
      rmSync(killFileOf(directory))
    }
    for (const state of ['clean', 'released'] as const)
      throwStandingKill({ kill: kill(4, state) }, directory)
    throwStandingKill({ kill: undefined }, directory)
    expect(existsSync(killFileOf(directory))).toBe(false)
    const scene = createScene(kill(4, 'seen'))
    expect([scene.ask(kill(4, 'seen')), scene.commands]).toEqual([undefined, []])
  })

  test('a switch that an order threw goes with its release on another machine, and one of a hand or a later order stays', () => {
    const throwBy = (order?: number): void =>
      throwKillSwitch(directory, { reason: 'r', by: 'b', ...(order !== undefined && { order }) })
    const isLeft = (): boolean => {
      throwStandingKill({ kill: kill(4, 'released') }, directory)
      return existsSync(killFileOf(directory))
    }
    throwBy(4)
    expect(isLeft()).toBe(false)
    throwBy(5)
    expect(isLeft()).toBe(true)
    throwBy()
    expect(isLeft()).toBe(true)
  })
})
