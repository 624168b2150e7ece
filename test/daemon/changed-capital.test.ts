import { afterAll, describe, expect, test } from 'vitest'
import { type IntentdProcess } from './intentd-process.ts'
import { type Project, Projects } from './project.ts'
import { findExchange, type RemoteExchange, startDaemon, startExchange } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const MANUAL = 'manual={orderNotionalMax: "5000", positionNotionalMax: "6000"}'
const FLATTEN = 'risk.losses={drawdown: {flatten: 0.2}}'

interface Scene {
  readonly project: Project
  readonly place: RemoteExchange
  readonly exchange: IntentdProcess
  readonly start: (capital: string, ...more: readonly string[]) => IntentdProcess
  readonly give: (...args: readonly string[]) => Promise<{ code: number | null; printed: string }>
}

/** An exchange in another process, and a daemon that trades only by hand. */
async function openScene(): Promise<Scene> {
  const project = projects.open()
  for (const name of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    project.edit(`config/strategies/${name}.yaml`, '\nmodule:', '\nenabled: false\nmodule:')
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--state', 'exchange.sqlite'])
  await exchange.untilEvent('simulator.listening')
  return {
    project,
    place,
    exchange,
    start: (capital, ...more) =>
      startDaemon(project, place, [
        '--set',
        MANUAL,
        '--set',
        `account.capital=${capital}`,
        ...more,
      ]),
    give: async (...args) => {
      const verb = project.start(
        [...args, '-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`],
        place.env,
      )
      const { code } = await verb.ended
      return { code, printed: [...verb.stderr, ...verb.stdout].join('\n') }
    },
  }
}

async function openPosition({ give, start }: Scene, ...more: readonly string[]): Promise<void> {
  const run = start('10000', ...more)
  await run.untilEvent('daemon.running')
  expect(await give('order', 'BTCUSDT', 'buy', '0.08', '--market')).toMatchObject({ code: 0 })
  await run.untilEvent('order.fill')
  expect(await run.stop()).toMatchObject({ code: 0 })
}

describe.concurrent('a start with another capital', () => {
  test('[MON1] is refused where the capital alone would close everything, and a withdrawal entered before is not', async () => {
    const scene = await openScene()
    const { start, give } = scene
    await openPosition(scene, '--set', FLATTEN)

    const refused = start('10', '--set', FLATTEN)
    const { code } = await refused.ended
    expect(code).toBe(78)
    expect(refused.stderr.join('\n')).toMatch(
      /--set account\.capital: .*capital of 10000, this one from 10: .*close everything at once.*Write 10000 again/,
    )
    expect(refused.events('batch.sent')).toEqual([])

    const other = start('9990', '--set', FLATTEN)
    const { was, is } = await other.untilEvent('capital.changed')
    expect([was, is]).toEqual(['10000', '9990'])
    await other.untilEvent('daemon.running')
    expect(await give('withdrawal', '9000')).toMatchObject({ code: 0 })
    await other.stop()

    const same = start('9990', '--set', FLATTEN)
    await same.untilEvent('daemon.running')
    expect(await give('deposit', '500')).toMatchObject({ code: 0 })
    await same.stop('SIGKILL')
    const last = start('9990', '--set', FLATTEN)
    await last.untilEvent('daemon.running')
    await last.stop()
    for (const run of [other, same, last]) expect(run.events('trading.halted')).toEqual([])
    for (const run of [same, last]) expect(run.events('capital.changed')).toEqual([])
  })
})
