import { afterAll, describe, expect, test } from 'vitest'
import { Projects, writeRecording } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** Nothing but the directory of the state finds this one. */
const STARTED = ['--set', 'simulator.speed=600', '--set', 'state.directory=../.intentd/elsewhere']
const BROKEN = /config\/paper\.yaml:1:\d+/

describe.concurrent('[RSK2] while the configuration is broken', () => {
  test('the daemon that runs is still looked at, held and killed; with none known the last ways are named', async () => {
    const project = projects.open()
    const ask = async (...words: string[]) => {
      const verb = project.start(words)
      const { code } = await verb.ended
      const said = [...verb.stderr, ...verb.stdout].join('\n')
      return { code, out: verb.stdout.join('\n'), said }
    }
    const run = project.run([...STARTED, '--param', 'grid-btc.levels=3', '--summary', 'json'])
    await run.untilEvent('daemon.running')
    const opened = String((await run.untilEvent('daemon.opened'))['state'])
    expect((await ask('status', '--state', opened)).out).toMatch(/^mode {8}active/m)
    const plan = await ask('plan')
    expect([plan.code, plan.out]).toEqual([1, 'nothing would change'])
    const other = await ask('plan', ...STARTED, '--set', 'risk.openOrdersMax=60')
    expect(other.said).toMatch(/it was started with .*--set simulator\.speed=600.*: a reload reads/)
    const right = project.read('config/paper.yaml')
    project.edit('config/paper.yaml', 'openOrdersMax: 100', 'openOrdersMax: 90')
    expect(await ask('reload')).toMatchObject({
      code: 0,
      out: expect.stringContaining('100 -> 90'),
    })
    await run.untilEvent('daemon.running', 2)

    project.write('config/paper.yaml', 'name: [')
    const status = await ask('status')
    expect([status.code, status.out]).toEqual([0, expect.stringMatching(/^mode {8}active/m)])
    expect(status.said).toMatch(BROKEN)
    expect(status.said).toMatch(/this goes to the daemon that runs .*elsewhere/)
    const pause = await ask('pause', 'grid-btc', '--reason', 'drill')
    expect(pause).toMatchObject({
      code: 0,
      said: expect.stringContaining('held: strategy:grid-btc halted'),
    })
    const otherSet = await ask('status', '--set', 'risk.openOrdersMax=60')
    expect(otherSet.code).toBe(78)
    expect(otherSet.said).toMatch(
      /pid \d+ --set .*--state .*elsewhere[^]*touch DIR\/KILL[^]*kill -TERM PID/,
    )
    const resume = await ask(
      'resume',
      'grid-btc',
      '--state',
      '.intentd/elsewhere',
      '--reason',
      'drill over',
    )
    expect(resume).toMatchObject({
      code: 0,
      said: expect.stringContaining('lifted: strategy:grid-btc'),
    })
    const kill = await ask('kill', '--reason', 'drill')
    expect(kill).toMatchObject({
      code: 0,
      said: expect.stringMatching(/seen by the daemon[^]*clean: nothing rests/),
    })

    expect((await ask('status', '--state', '.intentd/nowhere')).said).toContain('STATE_NEVER_RAN')
    const ofOther = await ask('status', '--state', '.intentd/elsewhere/other-account')
    expect(ofOther.said).toMatch(/STATE_NEVER_RAN[^]*give --state .*elsewhere$/m)
    await run.stop()
    expect((await ask('status', '--state', opened)).out).toMatch(/no daemon runs/)
    const none = await ask('kill')
    expect(none.code).toBe(78)
    expect(none.said).toMatch(/no daemon is known [^]*touch DIR\/KILL[^]*kill -TERM PID/)
    project.write('config/paper.yaml', right)
  })

  test('a plan knows the prices that the daemon plays, wherever it is typed', async () => {
    const project = projects.open()
    const prices = writeRecording(project, 600)
    const recordings =
      'recordings: { BTCUSDT: ../BTCUSDT-quotes.csv, ETHUSDT: ../BTCUSDT-quotes.csv }'
    project.edit(
      'config/paper.yaml',
      'startPrices: { BTCUSDT: "60000", ETHUSDT: "3000" }',
      recordings,
    )
    const ofEth =
      '  - strategies/grid-eth.yaml\n  - strategies/trend-btc.yaml\n  - strategies/trend-eth.yaml\n'
    project.edit('config/paper.yaml', ofEth, '')
    const run = project.run(['--market', prices, '--speed', '1', '--summary', 'json'])
    await run.untilEvent('daemon.running')
    project.edit('config/paper.yaml', 'openOrdersMax: 100', 'openOrdersMax: 90')
    const planIn = async (folder: string) => {
      const plan = project.startIn(folder, ['plan', '-c', '../config/paper.yaml'])
      return {
        code: (await plan.ended).code,
        out: plan.stdout.join('\n'),
        said: plan.stderr.join('\n'),
      }
    }
    expect(await planIn('strategies')).toMatchObject({
      code: 0,
      out: expect.stringContaining('100 -> 90'),
    })
    project.edit(
      'config/paper.yaml',
      'strategies:\n',
      'strategies:\n  - strategies/grid-eth.yaml\n',
    )
    const plan = await planIn('strategies')
    expect(plan.code).toBe(78)
    expect(plan.said).toMatch(/no --market has prices of ETHUSDT/)
    expect(plan.said).toMatch(
      /check -c \.\.\/config\/paper\.yaml .*--market \/.*BTCUSDT-quotes\.csv --speed 1$/,
    )
    await run.stop()
    expect((await planIn('strategies')).said).toMatch(
      /^! the last run was started with --market \/.*BTCUSDT-quotes\.csv --speed 1: /m,
    )
  })

  test('what a strategy holds that is out of the file is flattened by the daemon, which still knows it', async () => {
    const project = projects.open()
    const run = project.run(['--set', 'simulator.speed=600', '--summary', 'json'])
    await run.untilEvent('order.fill')
    project.edit('config/paper.yaml', '  - strategies/grid-btc.yaml\n', '')
    const flatten = project.start(['flatten', 'strategy:grid-btc', '--reason', 'removed'])
    expect((await flatten.ended).code).toBe(0)
    await run.untilEvent('flatten.done')
    await run.stop()
    const plan = project.start(['plan', '--set', 'simulator.speed=600'])
    expect((await plan.ended).code).toBe(0)
    expect(plan.stderr.join('\n').match(/no daemon runs/g)).toHaveLength(1)
  })
})
