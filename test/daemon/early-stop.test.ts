import { afterAll, expect, test } from 'vitest'
import type { StopPolicy } from '../../src/engine/event.ts'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

test.each<{ policy: StopPolicy; rests: boolean }>([
  { policy: 'leave', rests: true },
  { policy: 'cancel', rests: false },
  { policy: 'flatten', rests: false },
])(
  '[RSK3] a stop as soon as the daemon is open does what onStop: $policy says',
  async ({ policy, rests }) => {
    const project = projects.open()
    const place = await findExchange(project)
    const exchange = startExchange(project, place, ['--speed', '300'])
    await exchange.untilEvent('simulator.listening')
    const start = (onStop: StopPolicy) =>
      startDaemon(project, place, ['--set', `onStop=${onStop}`, '--set', 'onRestart=adopt'])

    const first = start('leave')
    await first.untilEvent('order.fill', 3)
    await first.stop()
    const second = start(policy)
    await second.untilEvent('daemon.opened')
    const { code } = await second.stop()
    await exchange.stop()

    expect(first.events('daemon.stopped')[0]?.['openOrders']).toBeGreaterThan(0)
    expect(code).toBe(0)
    const [stopped] = second.events('daemon.stopped')
    expect(stopped).toMatchObject({ level: 'info', clean: true, policy })
    expect(Number(stopped?.['openOrders']) > 0).toBe(rests)
    if (policy === 'flatten') expect(second.summary.allRuns.positions).toEqual({})
    else expect(second.events('order.sent')).toEqual([])
    const events = second.log.map(({ event }) => event)
    const isBegun = events
      .slice(0, events.indexOf('daemon.stopRequested'))
      .includes('recovery.started')
    const [requested] = second.events('daemon.stopRequested')
    expect(requested?.['waitsFor']).toBe(rests || isBegun ? undefined : 'start')
  },
)
