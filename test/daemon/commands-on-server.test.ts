import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { CONTROL_SOCKET } from '../../src/assembly/state/state-place.ts'
import type { ControlAnswer, ControlRequest } from '../../src/control/commands.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { STATE } from '../crash/crash-config.ts'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { killLeftOver } from './intentd-process.ts'
import { Machines } from './machines.ts'

afterAll(() => killLeftOver())

const HALT = { kind: 'restrict', scope: '*', mode: 'halted' } as const
const KILL = { kind: 'kill' } as const

class Scene {
  readonly machines: Machines

  constructor(machines: Machines) {
    this.machines = machines
  }

  stateOf(machine: string): string {
    return join(this.machines.placeOf(machine).directory, STATE)
  }

  async send(machine: string, order: ControlRequest['order']): Promise<ControlAnswer> {
    const client = new ControlClient(join(this.stateOf(machine), CONTROL_SOCKET))
    const request = { requestId: `request-${order.kind}`, reason: 'a drill', by: 'anna', order }
    const reply = await client.command(request)
    await client.close()
    if (reply.kind !== 'answered') throw new Error(`no answer: ${reply.reason}`)
    return reply.body as ControlAnswer
  }

  keptAnswers(machine: string): string {
    const file = join(this.stateOf(machine), 'control-answers.json')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  const machines = await Machines.open((await postgresServer()).newPlace())
  try {
    await use(new Scene(machines))
  } finally {
    await machines.close()
  }
}

describe.skipIf(postgresMissing !== undefined)(
  '[RSK2] an operator whose journal is on PostgreSQL',
  () => {
    test.concurrent('is told that a halt is obeyed when it is committed: the process killed right after the answer loses nothing', () =>
      withScene(async (scene) => {
        const { machines } = scene
        const writer = machines.run('a')
        await Machines.trades(writer)
        const held = await machines.stopCommits()
        const halting = scene.send('a', HALT)
        await held.underWay()
        expect(scene.keptAnswers('a')).toBe('')
        await held.release()
        const halted = await halting
        await writer.stop('SIGKILL')
        // Where the machine was slower than the wait for the commit, it was not told so.
        if (halted.isUncertain) expect(halted).toMatchObject({ isObeyed: false })
        else expect(halted).toMatchObject({ isObeyed: true, text: '* is held halted' })

        await machines.passLease()
        const next = machines.run('a')
        await next.untilEvent('daemon.running')
        const again = await scene.send('a', HALT)
        expect(again).toMatchObject({ isObeyed: true, held: [{ scope: '*', mode: 'halted' }] })
        expect(next.events('order.sent')).toEqual([])
        expect(next.events('trading.restricted')).toEqual([])
      }))

    test.concurrent('is told that a halt and a kill are not confirmed while they are not committed; the kill file stands, and nothing claims more after a restart', () =>
      withScene(async (scene) => {
        const { machines } = scene
        const writer = machines.run('a')
        await Machines.trades(writer)
        const held = await machines.stopCommits()
        const [halted, killed] = await Promise.all([scene.send('a', HALT), scene.send('a', KILL)])
        expect(halted).toMatchObject({ isObeyed: false, isUncertain: true })
        expect(halted.text).toMatch(/^not confirmed: .*it may be lost: look at status/)
        expect(killed).toMatchObject({ isObeyed: false, isUncertain: true })
        expect(killed.text).toMatch(
          /^not confirmed: .* the journal does not have it yet; killed here, also after a restart: .*KILL is there; a daemon on another machine .* does not know of it/,
        )
        expect(existsSync(join(scene.stateOf('a'), 'KILL'))).toBe(true)
        expect(scene.keptAnswers('a')).toBe('')
        const paused = machines.start('a', [
          'mode',
          'BTCUSDT',
          'reducing',
          '--reason',
          'a drill',
          '--wait',
          '2s',
        ])
        expect(await paused.ended).toMatchObject({ code: 75 })
        expect(paused.stderr.join('\n')).toMatch(/not confirmed: the daemon acts on it already/)
        const inbox = join(scene.stateOf('a'), 'operator')
        expect(readdirSync(inbox)).toHaveLength(2)

        await writer.stop('SIGKILL')
        await held.cut()
        await held.release()
        await machines.passLease()
        const next = machines.run('a')
        await next.untilEvent('kill.clean')
        await vi.waitFor(() => expect(readdirSync(inbox)).toHaveLength(1), 60_000)
        // The file has killed again; the halt was lost, and its request is not known.
        expect(next.events('order.sent')).toEqual([])
        expect(next.events('trading.killed')).toMatchObject([{ reason: 'a drill' }])
        const { held: stands } = await scene.send('a', { kind: 'releaseKill' })
        expect(stands.map(({ scope, mode }) => [scope, mode])).toContainEqual([
          'BTCUSDT',
          'reducing',
        ])
        expect(stands.map(({ scope, code }) => [scope, code])).not.toContainEqual(['*', 'operator'])
        expect(await scene.send('a', HALT)).toMatchObject({
          isObeyed: true,
          text: '* is held halted',
        })
        expect(scene.keptAnswers('a')).toMatch('request-restrict')
      }))

    test.concurrent('is told that a kill is not confirmed where its commit fails: the run ends, and its file stands', () =>
      withScene(async (scene) => {
        const { machines } = scene
        const writer = machines.run('a')
        await Machines.trades(writer)
        const held = await machines.stopCommits()
        const killing = scene.send('a', KILL)
        const isThrown = () => existsSync(join(scene.stateOf('a'), 'KILL'))
        await vi.waitFor(() => expect(isThrown()).toBe(true), 60_000)
        await held.cut()
        const killed = await killing
        expect(killed).toMatchObject({ isObeyed: false, isUncertain: true })
        expect(killed.text).toMatch(/^not confirmed: .*; killed here, also after a restart/)
        await writer.ended
        await held.release()
        expect(isThrown()).toBe(true)
        expect(scene.keptAnswers('a')).toBe('')
      }))
  },
)
