import { afterAll, describe, expect, test } from 'vitest'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { type Ending, type IntentdProcess } from './intentd-process.ts'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange, writeRemote } from './remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const MANUAL = 'manual={orderNotionalMax: "5000", positionNotionalMax: "6000"}'
const FLATTEN = ['--set', 'risk.losses={drawdown: {flatten: 0.2}}']

interface Scene {
  readonly start: (capital: string, ...more: readonly string[]) => IntentdProcess
  readonly standBy: (capital: string, ...more: readonly string[]) => IntentdProcess
  readonly give: (
    verb: readonly string[],
    ...more: readonly string[]
  ) => Promise<{ code: number | null; printed: string }>
}

/** An exchange in another process, and a daemon that trades only by hand. */
async function openScene(): Promise<Scene> {
  const project = projects.open()
  for (const name of ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'])
    project.edit(`config/strategies/${name}.yaml`, '\nmodule:', '\nenabled: false\nmodule:')
  const paper = project.read('config/paper.yaml')
  const place = await findExchange(project)
  const exchange = startExchange(project, place, ['--state', 'exchange.sqlite'])
  await exchange.untilEvent('simulator.listening')
  const named = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
  const writeCapital = (capital: string): void =>
    project.write(
      'config/paper.yaml',
      paper.replace('\naccount:\n', `\naccount:\n  capital: "${capital}"\n`),
    )
  return {
    standBy: (capital, ...more) => {
      writeCapital(capital)
      writeRemote(project)
      const own = ['control.port=0', 'state.directory=../.intentd/second', MANUAL]
      const args = own.flatMap((setting) => ['--set', setting])
      return project.start(['standby', ...named, ...args, '--summary', 'json', ...more], place.env)
    },
    start: (capital, ...more) => {
      writeCapital(capital)
      return startDaemon(project, place, ['--set', MANUAL, ...more])
    },
    give: async (verb, ...more) => {
      const command = project.start([...verb, ...named, ...more], place.env)
      const { code } = await command.ended
      return { code, printed: [...command.stderr, ...command.stdout].join('\n') }
    },
  }
}

async function openPosition({ give, start }: Scene, capital: string, ...more: readonly string[]) {
  const run = start(capital, ...more)
  await run.untilEvent('daemon.running')
  const order = ['order', 'BTCUSDT', 'buy', '0.08', '--market']
  expect(await give(order)).toMatchObject({ code: 0 })
  await run.untilEvent('order.fill')
  expect(await run.stop()).toMatchObject({ code: 0 })
}

/** A start that is not refused is stopped, so that the test fails soon. */
function endOf(run: IntentdProcess): Promise<Ending> {
  void run.untilEvent('daemon.running').then(
    () => run.stop(),
    () => undefined,
  )
  return run.ended
}

describe.concurrent('a start with another capital', () => {
  test('[MON1] is refused where the capital alone would close everything, and what was moved is no such change', async () => {
    const scene = await openScene()
    const { start, give } = scene
    await openPosition(scene, '10000', ...FLATTEN)

    const refused = start('10', ...FLATTEN)
    const { code } = await endOf(refused)
    const [checked, examined] = await Promise.all([
      give(['check'], ...FLATTEN),
      give(['doctor'], ...FLATTEN),
    ])
    const why =
      /config\/remote\.yaml:\d+:\d+ account\.capital: .*capital of 10000, this one from 10: .*close everything at once.*Write 10000 again/
    expect([code, checked.code, examined.code]).toEqual([78, 78, 1])
    expect(refused.stderr.join('\n')).toMatch(why)
    expect(checked.printed).toMatch(why)
    expect(examined.printed.replaceAll(/\s+/g, ' ')).toContain('a start refuses account.capital')
    expect(refused.events('batch.sent')).toEqual([])

    const other = start('9990', ...FLATTEN)
    const { was, is } = await other.untilEvent('capital.changed')
    expect([was, is]).toEqual(['10000', '9990'])
    await other.untilEvent('daemon.running')
    expect(await give(['withdrawal', '9000'])).toMatchObject({ code: 0 })
    await other.stop()

    const same = start('9990', ...FLATTEN)
    await same.untilEvent('daemon.running')
    expect(await give(['deposit', '500'])).toMatchObject({ code: 0 })
    await same.stop('SIGKILL')
    const last = start('9990', ...FLATTEN)
    await last.untilEvent('daemon.running')
    await last.stop()
    for (const run of [other, same, last]) expect(run.events('trading.halted')).toEqual([])
    for (const run of [same, last]) expect(run.events('capital.changed')).toEqual([])
  })

  test('starts where nothing was left before', async () => {
    const scene = await openScene()
    await openPosition(scene, '2')

    const bust = scene.start('1', ...FLATTEN)
    const { reason } = await bust.untilEvent('capital.changed')
    await bust.untilEvent('daemon.running')
    await bust.stop()

    expect(reason).toMatch(/with it an equity of -\d/)
  })

  test.skipIf(postgresMissing !== undefined)(
    '[MON1] a standby is not refused: it takes over with the capital of the last run, and closes nothing',
    async () => {
      const { url, schema } = (await postgresServer()).newPlace()
      const settings = [`url=${url}`, `schema=${schema}`, 'withoutTls=true'].flatMap((setting) => [
        '--set',
        `journal.${setting}`,
      ])
      const scene = await openScene()
      await openPosition(scene, '10000', ...settings, ...FLATTEN)

      const standby = scene.standBy('10', ...settings, ...FLATTEN)
      const { level, was, is } = await standby.untilEvent('capital.kept')
      await standby.untilEvent('daemon.running')
      const withdrawn = await scene.give(
        ['withdrawal', '100'],
        '--set',
        'state.directory=../.intentd/second',
        ...settings,
      )
      expect(await standby.stop()).toMatchObject({ code: 0 })

      expect([level, was, is]).toEqual(['error', '10000', '10'])
      expect(withdrawn.code).toBe(0)
      for (const event of ['trading.halted', 'order.sent', 'capital.changed'])
        expect(standby.events(event)).toEqual([])
    },
  )
})
