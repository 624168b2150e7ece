import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { type StatusView } from '../../src/control/views.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { type IntentdProcess } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']
const SET = ['--set', 'simulator.speed=600']

async function ask(project: Project, ...words: string[]) {
  const verb = project.start([...words, ...SET, '--set', 'execution.acceptanceWindowMs=1000'])
  const { code } = await verb.ended
  const said = [...verb.stderr, ...verb.stdout].join('\n')
  return { code, out: verb.stdout.join('\n'), said }
}

/** A strategy that takes a position and keeps it. */
function writeHolder(project: Project): void {
  project.write(
    'own/holder.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'holder', params: z.strictObject({}), initialState: () => ({}),
  decide: (market, { state }) => ({
    intents: market.instruments.filter((one) => one.hasPrices).map((one) => one.target(one.lots('1'))),
    state,
  }),
})
`,
  )
  project.write(
    'config/strategies/holder.yaml',
    writeStrategy({
      id: 'holder',
      module: '../../own/holder.ts',
      isolation: 'inline',
      instruments: ['ETHUSDT'],
    }),
  )
  project.edit('config/paper.yaml', 'strategies:\n', 'strategies:\n  - strategies/holder.yaml\n')
}

/**
 * By clientOid: what rests by the book, and by the exchange; what the exchange has dropped because it would have
 * crossed; and how many orders it has beyond one a clientOid: what was sent again is none.
 */
function readOrders(state: string) {
  const identity = 'simulator USDT-FUTURES one_way_mode'
  const journal = openSqliteJournal({
    file: join(state, 'journal.sqlite'),
    identity,
    keepSince: () => 0,
  })
  const { open } = rebuildBook(journal.load(), 'one_way_mode')
  journal.close()
  const ours = new Set<string>([...open.values()].flatMap((orders) => [...orders.keys()]))
  const exchange = new DatabaseSync(join(state, 'exchange.sqlite'))
  const select = (where: string) => {
    const rows = exchange.prepare(
      `SELECT json ->> 'clientOid' AS id FROM orders WHERE json ->> ${where}`,
    )
    return new Set(rows.all().map(({ id }) => String(id)))
  }
  const resting = select(`'status' = 'live'`)
  const count = exchange.prepare(
    `SELECT count(*) - count(DISTINCT json ->> 'clientOid') AS doubled FROM orders`,
  )
  const doubled = count.get()?.['doubled']
  exchange.close()
  return { ours, resting, doubled }
}

/** In a thread of its own. */
const codeOf = (
  params: string,
  said: string,
) => `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'own', params: z.strictObject({ ${params} }), initialState: () => ({}),
  decide(market, { params, state, log }) { log.info('${said}', params); return { intents: [], state } },
})
`
const STRAY = "void Promise.reject(new Error('left alone'))\n"
/** Fails by itself when a file is there, in the command alone. */
const LATE_STRAY = `if (process.argv.includes('reload')) {
const look = setInterval(() => {
  if (!process.getBuiltinModule('node:fs').existsSync('late')) return
  clearInterval(look)
  throw new Error('late')
}, 5)
}
`

/** In the place of trend-btc. */
function writeOwn(project: Project): void {
  project.write('own/own.ts', codeOf('size: z.int().default(1)', 'one'))
  const file = writeStrategy({
    id: 'trend-btc',
    module: '../../own/own.ts',
    instruments: ['BTCUSDT'],
    thread: { budgetMs: 30_000 },
  })
  project.write('config/strategies/trend-btc.yaml', file)
  project.write(
    'config/strategies/more.yaml',
    file.replace('trend-btc', 'more').replace('own.ts', 'more.ts'),
  )
}

/** For the nth time, whether or not it came so far each time before. */
async function untilItRuns(run: IntentdProcess, nth: number): Promise<void> {
  await run.untilEvent('daemon.opened', nth)
  const from = run.log.findLastIndex(({ event }) => event === 'daemon.opened')
  await run.until('it runs', () =>
    run.log.slice(from).some(({ event }) => event === 'daemon.running'),
  )
}

async function changeInVain(project: Project, run: IntentdProcess): Promise<void> {
  project.edit('config/paper.yaml', 'positionMode: one_way_mode', 'positionMode: hedge_mode')
  const reload = await ask(project, 'reload')
  expect(reload.out).toMatch(
    /^! account\.positionMode: "one_way_mode" -> "hedge_mode": only a new process takes this/m,
  )
  expect([reload.code, reload.said]).toEqual([
    1,
    expect.stringContaining('not done: the lines with ! want a new process'),
  ])
  // Both say the same, and exit with the same.
  expect((await ask(project, 'plan')).code).toBe(1)
  // By the signal, which asks nobody before; and code that fails by itself is not that of the strategy which runs.
  project.write('own/own.ts', `${codeOf('', 'two')}${STRAY}`)
  project.write('own/more.ts', `${codeOf('', 'more')}${STRAY}`)
  project.edit('config/paper.yaml', 'strategies:\n', 'strategies:\n  - strategies/more.yaml\n')
  run.kill('SIGHUP')
  const failed = 'the strategy failed while it was being loaded: Error: left alone'
  expect(await run.untilEvent('reload.refused')).toMatchObject({
    problems: [
      expect.stringMatching(new RegExp(`^config/strategies/more.yaml:\\d+:\\d+ module: ${failed}`)),
      expect.stringMatching(
        new RegExp(`^config/strategies/trend-btc.yaml:\\d+:\\d+ module: ${failed}`),
      ),
      'account.positionMode: only a new process takes it',
    ],
  })
  expect(run.events('strategy.threadLost')).toEqual([])
  project.write('config/strategies/grid-btc.yaml', 'id: [')
  run.kill('SIGHUP')
  run.kill('SIGHUP')
  expect(await run.untilEvent('reload.refused', 2)).toMatchObject({
    problems: [expect.stringMatching(/^config\/strategies\/grid-btc\.yaml:1:\d+: /)],
  })
  // The file that the run began with is read, and no other one, where it is gone as well.
  renameSync(
    join(project.directory, 'config/paper.yaml'),
    join(project.directory, 'config/away.yaml'),
  )
  run.kill('SIGHUP')
  // Two signals at once may have been refused once or twice.
  await run.until('a refusal of the file that is gone', () =>
    run
      .events('reload.refused')
      .some(({ problems }) => String(problems).startsWith('config/paper.yaml: ')),
  )
  const from = run.log.length
  await run.until('orders after it', () =>
    run.log.slice(from).some(({ event }) => event === 'order.sent'),
  )
  await run.until('its own strategy', () =>
    run.log.slice(from).some(({ event }) => event === 'strategy.said'),
  )
  expect(run.events('daemon.running')).toHaveLength(1)
}

describe.concurrent('[CFG2] a configuration that has changed', () => {
  test('is refused and changes nothing where it is broken or wants a new process, twice at once too; else it is planned, and taken whole: strategies and their code, limits, no order is lost', async () => {
    const project = projects.open()
    writeHolder(project)
    writeOwn(project)
    const kept = ['config/paper.yaml', 'config/strategies/grid-btc.yaml'].map((path) => ({
      path,
      text: project.read(path),
    }))
    const run = project.run(FAST)
    await run.until('what is to be held', () =>
      run.events('order.fill').some(({ strategy }) => strategy === 'holder'),
    )
    expect(await run.untilEvent('strategy.said')).toMatchObject({
      message: 'one',
      facts: { size: 1 },
    })
    expect(await ask(project, 'plan')).toMatchObject({ code: 1, out: 'nothing would change' })
    await changeInVain(project, run)

    for (const { path, text } of kept) project.write(path, text)
    project.edit('config/paper.yaml', '  - strategies/grid-eth.yaml\n', '')
    project.edit('config/paper.yaml', '  - strategies/holder.yaml\n', '')
    project.edit('config/paper.yaml', 'openOrdersMax: 100', 'openOrdersMax: 60')
    project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
    const more = codeOf('size: z.int().default(1), more: z.int().default(5)', 'two')
    project.write('own/own.ts', more)
    project.write('strategies/grid.ts', `${project.read('strategies/grid.ts')}${LATE_STRAY}`)
    const asked = ask(project, 'reload')
    // The command has checked the code by now, and waits for the daemon.
    await run.untilEvent('reload.begun')
    project.write('late', '')
    const reload = await asked
    expect([reload.code, reload.said]).toEqual([
      0,
      expect.stringContaining('done: it runs with the new configuration'),
    ])
    expect(reload.said).toMatch(
      /^! code of .*grid\.ts failed by itself after it was loaded: Error: late \(.*grid\.ts:\d+:\d+\)\)$/m,
    )
    expect(run.events('reload.begun').at(-1)?.['settings']).toContainEqual(
      expect.stringMatching(/^code\.trend-btc: "\w+" -> "\w+"$/),
    )
    expect(reload.out).toMatch(/^- grid-eth is stopped$/m)
    expect(reload.out).toMatch(/^~ risk\.openOrdersMax: 100 -> 60 \(tighter\)$/m)
    expect(reload.out).toMatch(/^~ grid-btc\.params\.levels: 8 -> 4$/m)
    expect(reload.out).toMatch(/^~ trend-btc: other code$/m)
    expect(reload.out).toMatch(
      /open orders of grid-eth on ETHUSDT that nobody wants any more: cancelled/,
    )
    expect(reload.out).toMatch(
      /^! ETHUSDT 1 of holder is held, and nobody will trade it: flatten it before/m,
    )
    const begun = run.events('daemon.opened').map(({ time }) => Date.parse(String(time)))
    const view = JSON.parse((await ask(project, 'status', '--json')).out) as StatusView
    // The process is as old as it was: what begins anew is its run.
    expect(view.processStartedAt).toBeLessThanOrEqual(begun[0] ?? 0)
    expect(view.startedAt).toBeGreaterThan(begun[0] ?? 0)
    expect((await ask(project, 'status')).out.replaceAll(/\s+/g, ' ')).toContain(
      '! ETHUSDT long 1 of holder is held, and nobody trades it, since the strategy was removed: put the strategy back and flatten it',
    )
    expect(run.events('daemon.running')).toHaveLength(2)
    const from = run.log.findLastIndex(({ event }) => event === 'daemon.running')
    await run.until('orders after it', () =>
      run.log.slice(from).some(({ event }) => event === 'order.sent'),
    )
    await run.until('the new code', () =>
      run.events('strategy.said').some(({ message }) => message === 'two'),
    )
    expect(run.events('strategy.said').at(-1)).toMatchObject({
      message: 'two',
      facts: { size: 1, more: 5 },
    })
    expect(
      run.log
        .slice(from)
        .filter(({ event, strategy }) => event === 'order.sent' && strategy === 'grid-eth'),
    ).toEqual([])
    expect(await run.stop()).toEqual({ code: 0, signal: null })
    expect(run.summary.exchange).toMatchObject({ agrees: true, differences: [] })
  })

  test('taken while it trades many orders, again and again, twice at once too, loses and doubles none', async () => {
    const project = projects.open()
    for (const name of ['grid-btc', 'grid-eth'])
      project.edit(`config/strategies/${name}.yaml`, 'levels: 8', 'levels: 20')
    // On its way to a market that is so quick, a post-only order may be crossed and cancelled: nobody is told.
    const run = project.run([...FAST, '--set', 'simulator.entryLatencyMs=0'])
    await run.untilEvent('order.fill')
    const change = (from: number, to: number) => {
      project.edit('config/strategies/grid-btc.yaml', `levels: ${from}`, `levels: ${to}`)
      run.kill('SIGHUP')
    }
    change(20, 16)
    await run.untilEvent('reload.begun')
    // While it comes to rest: one after the other.
    change(16, 20)
    await untilItRuns(run, 3)
    change(20, 12)
    await untilItRuns(run, 4)
    expect(run.events('reload.begun').map(({ settings }) => settings)).toEqual([
      ['grid-btc.params.levels: 20 -> 16'],
      ['grid-btc.params.levels: 16 -> 20'],
      ['grid-btc.params.levels: 20 -> 12'],
    ])
    expect((await run.stop()).code).toBe(0)
    expect(run.summary).toMatchObject({ clean: true, exchange: { agrees: true } })
    const { ours, resting, doubled } = readOrders(
      run.events('daemon.opened')[0]?.['state'] as string,
    )
    expect(run.events('daemon.stopped').at(-1)?.['openOrders']).toBe(ours.size)
    expect(resting.size).toBeGreaterThan(20)
    expect(ours).toEqual(resting)
    expect(doubled).toBe(0)
  })

  test('and a stop while it comes up again takes away what the run before has left', async () => {
    const project = projects.open()
    const run = project.run([...FAST, '--set', 'onStop=cancel'])
    await run.untilEvent('order.fill')
    project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 6')
    run.kill('SIGHUP')
    await run.untilEvent('daemon.opened', 2)
    expect((await run.stop()).code).toBe(0)
    expect(run.summary).toMatchObject({ clean: true, exchange: { openOrders: 0, differences: [] } })
  })
})
