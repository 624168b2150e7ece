import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { postCommand, takeAnswer } from '../../src/daemon/account/command-inbox.ts'
import { type IntentdProcess, type LogLine } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']
const SCOPES = 'strategy:grid-btc, strategy:grid-eth, strategy:trend-btc, strategy:trend-eth'

/** What a verb of the operator answers, and how it ends. */
async function order(project: Project, ...args: readonly string[]) {
  const verb = project.start([...args, '--reason', 'drill'])
  const { code } = await verb.ended
  return { code, printed: [...verb.stderr, ...verb.stdout].join('\n') }
}

/** The orders that left after the first line of an event. */
function sentAfter({ log }: IntentdProcess, event: string): readonly LogLine[] {
  const from = log.findIndex((line) => line.event === event)
  return from < 0 ? [] : log.slice(from).filter((line) => line.event === 'order.sent')
}

/** What rests at the exchange, or may: by its clientOid. */
function openOrders(run: IntentdProcess): readonly unknown[] {
  const ends = ['order.ended', 'order.rejected', 'order.dropped', 'order.fillAttributed'] as const
  const ended = new Set(ends.flatMap((end) => run.events(end)).map(({ clientOid }) => clientOid))
  const filled = run.events('order.fill').filter(({ state }) => state === 'filled')
  for (const { clientOid } of filled) ended.add(clientOid)
  const sent = run.events('order.sent').map(({ clientOid }) => clientOid)
  return sent.filter((clientOid) => !ended.has(clientOid))
}

/** The position that the fills of the run add up to, in the thousandth of a coin. */
function heldOf(run: IntentdProcess, symbol: string): number {
  const fills = run.events('order.fill').filter((fill) => fill['symbol'] === symbol)
  const sizes = fills.map(({ side, size }) => (side === 'buy' ? 1000 : -1000) * Number(size))
  return Math.round(sizes.reduce((sum, size) => sum + size, 0))
}

describe.concurrent('[RSK2] an order of the operator at the command line', () => {
  test('flattens a daemon that trades: no order rests, nothing is held, it stays up, and trades after a release', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('order.fill', 2)

    const flatten = await order(project, 'flatten', '*')
    expect(flatten.code).toBe(0)
    expect(flatten.printed).toMatch(
      /^obeyed; .*flatten\.done.*\nheld: \* halted since .* \(flatten\): drill, by .+$/,
    )
    await run.untilEvent('flatten.done')
    // What was filled before its cancel-all came is closed as well, and said once more.
    const isFlat = () => ['BTCUSDT', 'ETHUSDT'].every((symbol) => heldOf(run, symbol) === 0)
    await run.until(
      'no order rests, nothing is held',
      () => openOrders(run).length === 0 && isFlat(),
    )
    for (const { purpose } of sentAfter(run, 'trading.halted')) expect(purpose).toBe('flatten')
    expect(run.events('daemon.stopping')).toEqual([])

    const release = await order(project, 'release', '*', '--unclaimed')
    expect(release.code).toBe(0)
    expect(release.printed).toMatch(/^lifted: \* halted since .* \(flatten\): drill, by .+$/)
    await run.until(
      'an order after the release',
      () => sentAfter(run, 'trading.released').length > 0,
    )
    await run.stop()
    expect(run.summary).toMatchObject({ clean: true, exchange: { agrees: true } })
  })

  test('a release before a flatten is done says what nothing closes any more', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('order.fill')
    // Both are read in one round, so that nothing is closed between them.
    run.kill('SIGSTOP')
    await order(project, 'flatten', '*', '--wait', '0ms')
    const releasing = order(project, 'release', '*', '--wait', '60s')
    const inbox = join(project.directory, '.intentd/paper/operator')
    const commands = () => readdirSync(inbox).filter((name) => name.endsWith('.json'))
    await vi.waitFor(() => expect(commands()).toHaveLength(2), 60_000)
    run.kill('SIGCONT')
    const { code, printed } = await releasing
    await run.stop()

    const [dropped] = run.events('flatten.dropped')
    const said = Object.entries(dropped?.['stillHeld'] ?? {}).map(
      ([holder, size]) => `closes it any more: ${holder} ${size}`,
    )
    expect(code).toBe(0)
    expect(said.length).toBeGreaterThan(0)
    for (const line of said) expect(printed).toContain(line)
  })

  test('restricts until a release, never loosens, and says what is held', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('order.sent')

    const halted = await order(project, 'mode', 'BTCUSDT', 'halted')
    const loosened = await order(project, 'mode', 'BTCUSDT', 'reducing')
    const elsewhere = await order(project, 'mode', 'ETHUSDT', 'active')
    const released = await order(project, 'release', 'BTCUSDT')
    await run.stop()

    const held = String.raw`held: BTCUSDT halted since [^(]+ UTC \(operator\): drill, by .+$`
    expect([halted, loosened, elsewhere, released]).toEqual([
      { code: 0, printed: expect.stringMatching(`^${held}`) as string },
      {
        code: 1,
        printed: expect.stringMatching(`^not done: .*never loosens.*\n${held}`) as string,
      },
      {
        code: 1,
        printed: expect.stringMatching(`^not done: nothing .* holds ETHUSDT\n${held}`) as string,
      },
      { code: 0, printed: expect.stringMatching(/^lifted: BTCUSDT halted since .*$/) as string },
    ])
    expect(run.events('trading.notLoosened')).toMatchObject([{ scope: 'BTCUSDT', mode: 'halted' }])
  })

  test('with no daemon there waits for the next start, before its first order and in the order given', async () => {
    const project = projects.open()
    for (const words of [
      ['restrict', 'strategy:trend-btc', 'halted'],
      ['restrict', 'ETHUSDT', 'reducing'],
    ]) {
      const { code, printed } = await order(project, ...words, '--wait', '0ms')
      expect([code, printed]).toEqual([
        75,
        expect.stringMatching(/^no daemon runs here now [^]*no daemon has read it yet/) as string,
      ])
    }
    // What it would end at the next start nobody has looked at.
    expect(await order(project, 'release', 'ETHUSDT')).toEqual({
      code: 75,
      printed: expect.stringMatching(/^not done: no daemon runs here/) as string,
    })
    const directory = join(project.directory, '.intentd/paper')
    const file = postCommand(directory, {
      kind: 'release',
      scope: 'ETHUSDT',
      reason: 'drill',
      by: 'me',
    })
    await order(project, 'flatten', 'strategy:grid-eth', '--wait', '0ms')
    const run = project.run(FAST)
    await run.untilEvent('order.sent', 3)
    await run.stop()

    const printed = run.log.filter(({ event }) => /^trading|^order.sent/.test(event)).slice(0, 5)
    expect(printed.map(({ event, scope }) => [event, scope])).toEqual([
      ['trading.releaseTooOld', 'ETHUSDT'],
      ['trading.halted', 'strategy:trend-btc'],
      ['trading.reducing', 'ETHUSDT'],
      ['trading.halted', 'strategy:grid-eth'],
      ['order.sent', undefined],
    ])
    expect(takeAnswer(file)).toMatchObject({ isTooOld: true, lifted: [] })
    expect(run.events('order.sent').filter(({ strategy }) => strategy === 'grid-eth')).toEqual([])
  })

  test('is refused by the daemon too, which may know fewer scopes than the command line', async () => {
    const project = projects.open()
    project.write('config/all.yaml', project.read('config/paper.yaml'))
    project.edit('config/paper.yaml', '  - strategies/trend-eth.yaml\n', '')
    const run = project.run(FAST)
    await run.untilEvent('daemon.running')

    const refused = await order(project, 'flatten', 'strategy:trend-eth', '-c', 'config/all.yaml')
    await run.stop()

    expect(refused).toEqual({
      code: 1,
      printed: expect.stringContaining('without strategy:trend-eth') as string,
    })
    expect(run.events('trading.scopeUnknown')).toMatchObject([{ scope: 'strategy:trend-eth' }])
  })

  test('names a strategy also by its bare id, and does not change the name of an instrument', async () => {
    const project = projects.open()
    const left: unknown[] = []
    for (const [verb, scope, ...mode] of [
      ['pause', 'grid-btc'],
      ['flatten', 'BTCUSDT'],
    ] as const) {
      const { code, printed } = await order(project, verb, scope, ...mode, '--wait', '0ms')
      expect(code).toBe(75)
      const [, file = ''] = /unless you remove (\S+)/.exec(printed) ?? []
      left.push(JSON.parse(readFileSync(file, 'utf8')))
    }

    expect(left).toMatchObject([{ scope: 'strategy:grid-btc' }, { scope: 'BTCUSDT' }])
  })

  test.each([
    [
      ['flatten', 'BTCUSD'],
      new RegExp(`BTCUSD; did you mean BTCUSDT\\?\nscopes: \\*, BTCUSDT, ETHUSDT, ${SCOPES}`),
    ],
    [['restrict', 'grid-bct', 'halted'], /not in this configuration: grid-bct/],
    [['mode', 'BTCUSDT', 'killed'], /Allowed choices are active, reducing, halted/],
    [['mode', 'BTCUSDT'], /missing required argument 'mode'/],
    [['flatten'], /missing required argument 'scope'/],
    [['release', '*', '--reason', ''], /write 1 to 500 characters/],
  ])('%j is not understood: exit 64, and nothing is left for the daemon', async (args, printed) => {
    const project = projects.open()
    const verb = project.start(args.includes('--reason') ? args : [...args, '--reason', 'drill'])

    expect((await verb.ended).code).toBe(64)
    expect([...verb.stderr, ...verb.stdout].join('\n')).toMatch(printed)
    expect(readdirSync(project.directory)).not.toContain('.intentd')
  })
})
