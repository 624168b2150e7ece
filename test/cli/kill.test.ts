import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { leaveCommand } from '../../src/cli/process/operator.ts'
import { Projects } from '../daemon/project.ts'
import { findExchange, startDaemon, startExchange, writeRemote } from '../daemon/remote-exchange.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']

describe.concurrent('[RSK2] [RSK3] intentd kill', () => {
  test('stops a daemon that trades, takes everything away, and stands and ends with a release over kill -9', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('order.fill', 2)

    const kill = project.start(['kill', '-c', 'config/paper.yaml', '--reason', 'drill'])
    expect(await kill.ended).toEqual({ code: 0, signal: null })
    expect([...kill.stderr, ...kill.stdout].join('\n')).toMatch(
      /seen by the daemon \(pid \d+\)[^]*clean: nothing rests.*`intentd release -c config\/paper.yaml --reason/,
    )
    const killedAt = run.log.findIndex(({ event }) => event === 'trading.killed')
    expect(run.log.slice(killedAt).filter(({ event }) => event === 'order.sent')).toEqual([])
    await run.stop('SIGKILL')

    const next = project.run(FAST)
    // It looks once more: what is proved is that nothing rests now.
    await next.untilEvent('kill.clean')
    expect(next.events('recovery.started')[0]).toMatchObject({ openOrders: 0 })
    const release = project.start(['release', '--reason', 'drill over', '--wait', '30s'])
    expect((await release.ended).code).toBe(0)
    await next.untilEvent('order.fill')
    const sentAt = next.log.findIndex(({ event }) => event === 'order.sent')
    expect(next.log.findIndex(({ event }) => event === 'kill.released')).toBeLessThan(sentAt)
    await next.stop('SIGKILL')

    const last = project.run(FAST)
    await last.untilEvent('order.fill')
    await last.stop()
    expect([last.events('daemon.killed'), last.events('trading.killed')]).toEqual([[], []])
    expect(last.summary).toMatchObject({ restrictions: [], exchange: { agrees: true } })
  })

  test('with no daemon there stands for the next start, which creates nothing', async () => {
    const project = projects.open()
    const kill = project.start(['kill', '--wait', '1s'])
    expect((await kill.ended).code).toBe(0)
    expect([...kill.stderr, ...kill.stdout].join('\n')).toContain('no daemon has seen it')
    const pause = project.start(['pause', 'grid-btc', '--reason', 'drill', '--wait', '1s'])
    expect((await pause.ended).code).toBe(75)
    const status = project.start(['status'])
    await status.ended
    expect([...status.stderr, ...status.stdout].join('\n')).toMatch(
      /! a kill stands [^]*! waits for the next daemon: restrict strategy:grid-btc/,
    )

    const run = project.run(FAST)
    await run.untilEvent('kill.clean')
    await run.stop()
    expect([run.events('order.sent'), run.events('daemon.running')]).toEqual([[], []])
    expect(run.events('kill.clean')).toHaveLength(1)
  })

  test('is not ended by a release that was given before it, and waited', async () => {
    const project = projects.open()
    const release = project.start(['release', '--reason', 'of a kill before', '--wait', '0ms'])
    expect((await release.ended).code).toBe(75)
    expect((await project.start(['kill', '--wait', '0ms']).ended).code).toBe(0)

    const run = project.run(FAST)
    await run.untilEvent('kill.clean')
    const again = project.start(['release', '--reason', 'of this one', '--wait', '30s'])
    expect((await again.ended).code).toBe(0)
    await run.untilEvent('order.sent')
    await run.stop()
    expect(run.events('kill.releaseTooOld')).toMatchObject([{ reason: 'of a kill before' }])
    expect(run.events('kill.released')).toMatchObject([{ reason: 'of this one' }])
  })

  test('with --all kills every account of the configuration, and those that can be where one is broken', async () => {
    const project = projects.open()
    const paper = project.read('config/paper.yaml')
    project.write(
      'config/bob.yaml',
      paper.replace('name: paper', 'name: bob').replace('intentd/paper', 'intentd/bob'),
    )
    project.write('config/main.yaml', `${paper}accounts: [bob.yaml, eve.yaml]\n`)
    const killAll = (): ReturnType<typeof project.start> =>
      project.start(['kill', '--all', '-c', 'config/main.yaml', '--wait', '0s'])
    project.write('config/eve.yaml', 'nonsense: true\n')
    const broken = killAll()
    expect((await broken.ended).code).toBe(78)
    for (const name of ['paper', 'bob'])
      expect(existsSync(join(project.directory, `.intentd/${name}/KILL`))).toBe(true)
    project.write(
      'config/eve.yaml',
      paper.replace('name: paper', 'name: eve').replace('intentd/paper', 'intentd/eve'),
    )
    expect((await killAll().ended).code).toBe(0)
    expect(existsSync(join(project.directory, '.intentd/eve/KILL'))).toBe(true)
  })

  test('cancels from its own process what a dead daemon left at the exchange', async () => {
    const project = projects.open()
    const place = await findExchange(project)
    const exchange = startExchange(project, place)
    const daemon = startDaemon(project, place)
    const accepted = await daemon.untilEvent('order.accepted')
    await daemon.stop('SIGKILL')

    const remote = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
    const withoutKeys = project.start(['kill', ...remote, '--wait', '1s'])
    expect((await withoutKeys.ended).code).toBe(75)
    expect([...withoutKeys.stderr, ...withoutKeys.stdout].join('\n')).toMatch(
      /INTENTD_API_KEY: missing[^]*Orders may rest at the exchange/,
    )

    // The file speaks of another account by now: nothing of that one is cancelled in the place of what ran.
    const said = project.read('config/remote.yaml')
    project.edit('config/remote.yaml', 'marginMode: crossed', 'marginMode: isolated')
    const state = ['--state', '.intentd/paper', ...remote.slice(2), '--wait', '1s']
    const ofOther = project.start(['kill', ...state], place.env)
    expect((await ofOther.ended).code).toBe(75)
    expect([...ofOther.stderr, ...ofOther.stdout].join('\n')).toContain(
      'does not say this account now',
    )
    expect([...ofOther.stderr, ...ofOther.stdout].join('\n')).not.toContain(
      'cancelled from here once',
    )
    project.write('config/remote.yaml', said)

    const kill = project.start(['kill', ...state], place.env)
    const { code } = await kill.ended
    await exchange.stop()

    expect(code).toBe(75)
    expect([...kill.stderr, ...kill.stdout].join('\n')).toContain('cancelled from here once')
    expect(kill.stdout.join('\n')).toContain(String(accepted['clientOid']))
  })

  test('is planned and reloaded, as a configuration, by somebody who has no keys', async () => {
    const project = projects.open()
    const place = await findExchange(project)
    const exchange = startExchange(project, place)
    const daemon = startDaemon(project, place)
    await daemon.untilEvent('order.accepted')
    const remote = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
    project.edit('config/remote.yaml', 'openOrdersMax: 100', 'openOrdersMax: 60')
    const plan = project.start(['plan', ...remote])
    expect((await plan.ended).code).toBe(0)
    expect([...plan.stderr, ...plan.stdout].join('\n')).toMatch(
      /not here: .*INTENTD_API_KEY: missing/,
    )
    expect(plan.stdout.join('\n')).toMatch(/openOrdersMax: 100 -> 60/)
    const reload = project.start(['reload', ...remote])
    expect((await reload.ended).code).toBe(0)
    await daemon.untilEvent('daemon.running', 2)
    await daemon.stop()
    await exchange.stop()
  })

  test('with nothing at the exchange and no daemon is a success', async () => {
    const project = projects.open()
    const place = await findExchange(project)
    const exchange = startExchange(project, place)
    await exchange.untilEvent('simulator.listening')
    writeRemote(project)

    const remote = ['-c', 'config/remote.yaml', '--set', `exchange.baseUrl=${place.url}`]
    const kill = project.start(['kill', ...remote, '--wait', '1s'], place.env)
    const { code } = await kill.ended
    await exchange.stop()

    expect([...kill.stderr, ...kill.stdout].join('\n')).toContain('nothing rests at the exchange')
    expect(code).toBe(0)
  })

  test('says of a daemon that has died since that it goes on no more', async () => {
    const project = projects.open()
    // So long it takes at least until a kill is proved.
    const run = project.run([...FAST, '--set', 'execution.acceptanceWindowMs=35000'])
    await run.untilEvent('order.accepted')
    const kill = project.start(['kill', '--wait', '4s'])
    await vi.waitFor(
      () => expect([...kill.stderr, ...kill.stdout].join('\n')).toContain('seen by the daemon'),
      60_000,
    )
    await run.stop('SIGKILL')

    expect(await kill.ended).toEqual({ code: 75, signal: null })
    expect([...kill.stderr, ...kill.stdout].join('\n')).toContain(
      'the daemon that saw it runs no more',
    )
  })

  test('names a daemon that hangs, and what to do about it', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('daemon.running')
    run.kill('SIGSTOP')

    const kill = project.start(['kill', '--wait', '1s'])
    const { code } = await kill.ended
    const release = project.start(['release', 'BTCUSDT', '--reason', 'drill', '--wait', '1s'])
    const { code: waits } = await release.ended
    run.kill('SIGCONT')
    await run.untilEvent('trading.killed')
    await run.stop('SIGKILL')

    expect([code, waits]).toEqual([75, 75])
    for (const { stderr, stdout } of [kill, release]) {
      expect([...stderr, ...stdout].join('\n')).toMatch(
        new RegExp(`does not answer: pid ${run.pid} .*[^]*kill -CONT ${run.pid}`),
      )
    }
  })

  test('works by a file in the directory that the log names, until it is released', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    const opened = await run.untilEvent('daemon.opened')
    await run.untilEvent('daemon.running')

    const file = join(String(opened['state']), 'KILL')
    writeFileSync(file, '')
    await run.untilEvent('trading.killed')
    const hasty = project.start(['release', '--reason', 'drill over', '--wait', '1s'])
    const { code } = await hasty.ended
    const isReleased = !existsSync(file)
    const isSaid = hasty.stdout.join('\n').includes('released: the kill switch')
    await run.untilEvent('kill.released')
    await run.stop()

    expect([code, isSaid && !isReleased]).toEqual([isSaid ? 0 : 75, false])
    expect(existsSync(file)).toBe(false)
  })

  test('that was never ordered is not released: the operator is told', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('daemon.running')
    const restrict = project.start(['restrict', 'BTCUSDT', 'halted', '--reason', 'drill'])
    await restrict.ended

    const release = project.start(['release', '--reason', 'drill over'])
    const { code } = await release.ended
    await run.untilEvent('kill.notThrown')
    await run.stop()

    expect(code).toBe(1)
    expect([...release.stderr, ...release.stdout].join('\n')).toMatch(
      /not done: no kill stands[^]*held: BTCUSDT halted/,
    )
  })

  test.each(['kill', 'release'])(
    'a %s that cannot be written down says that nothing was ordered',
    async (verb) => {
      const project = projects.open()
      project.write('taken', 'a file where the directory should be')
      const order = project.start([verb, '--reason', 'drill', '--set', 'state.directory=../taken'])

      expect((await order.ended).code).toBe(75)
      expect([...order.stderr, ...order.stdout].join('\n')).toMatch(
        /^STATE_UNWRITABLE: nothing was ordered[^]*directory +\S+taken/,
      )
    },
  )

  test('an order for which the disk has no room says so, and not that it is of another user', () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const leave = () =>
      leaveCommand('state', () => {
        throw full
      })
    expect(leave).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^free disk space/) }),
    )
  })

  test('a release without a reason is refused', async () => {
    const release = projects.open().start(['release'])

    expect((await release.ended).code).toBe(64)
    expect([...release.stderr, ...release.stdout].join('\n')).toContain('--reason')
  })
})
