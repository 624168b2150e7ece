import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { rebuildBook } from '../../src/engine/book/book-json.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']
const SET = ['--set', 'simulator.speed=600']

async function ask(project: Project, ...words: string[]) {
  const verb = project.start([...words, ...SET, '--set', 'execution.acceptanceWindowMs=1000'])
  const { code } = await verb.ended
  return { code, out: verb.stdout.join('\n'), said: verb.stderr.join('\n') }
}

/** A strategy that takes a position and keeps it. */
function writeHolder(project: Project): void {
  project.write(
    'own/holder.ts',
    `import { defineStrategy, z } from '#strategy'
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
    'id: holder\nmodule: ../../own/holder.ts\nisolation: inline\ninstruments: [ETHUSDT]\nrisk: { positionMax: "1", orderSizeMax: "1", openOrdersMax: 4 }\n',
  )
  project.edit('config/paper.yaml', 'strategies:\n', 'strategies:\n  - strategies/holder.yaml\n')
}

/**
 * By clientOid: what rests by the book, and by the exchange; what the exchange has dropped because it would have
 * crossed; and how many orders it has beyond one a clientOid: what was sent again is none.
 */
function readOrders(state: string) {
  const identity = 'simulator USDT-FUTURES one_way_mode'
  const journal = openSqliteJournal({ file: join(state, 'journal.sqlite'), identity, keepSince: () => 0 })
  const { open } = rebuildBook(journal.load(), 'one_way_mode')
  journal.close()
  const ours = new Set<string>([...open.values()].flatMap((orders) => [...orders.keys()]))
  const exchange = new DatabaseSync(join(state, 'exchange.sqlite'))
  const select = (where: string) => {
    const rows = exchange.prepare(`SELECT json ->> 'clientOid' AS id FROM orders WHERE json ->> ${where}`)
    return new Set(rows.all().map(({ id }) => String(id)))
  }
  const resting = select(`'status' = 'live'`)
  const dropped = select(`'cancelReason' = 'post_only'`)
  const count = exchange.prepare(
    `SELECT count(*) - count(DISTINCT json ->> 'clientOid') AS doubled FROM orders`,
  )
  const doubled = count.get()?.['doubled']
  exchange.close()
  return { ours, resting, dropped, doubled }
}

describe.concurrent('[CFG2] a configuration that has changed', () => {
  test('is planned, and taken by a daemon that trades: strategies start and stop, limits change, no order is lost', async () => {
    const project = projects.open()
    writeHolder(project)
    const run = project.run(FAST)
    await run.until('what is to be held', () =>
      run.events('order.fill').some(({ strategy }) => strategy === 'holder'),
    )
    expect(await ask(project, 'plan')).toMatchObject({ code: 1, out: 'nothing would change' })

    project.edit('config/paper.yaml', '  - strategies/grid-eth.yaml\n', '')
    project.edit('config/paper.yaml', '  - strategies/holder.yaml\n', '')
    project.edit('config/paper.yaml', 'openOrdersMax: 100', 'openOrdersMax: 60')
    project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 4')
    const plan = await ask(project, 'plan')
    expect(plan.code).toBe(0)
    expect(plan.out).toMatch(/^- grid-eth is stopped$/m)
    expect(plan.out).toMatch(/^~ risk\.openOrdersMax: 100 -> 60 \(tighter\)$/m)
    expect(plan.out).toMatch(/^~ grid-btc\.params\.levels: 8 -> 4$/m)
    expect(plan.out).toMatch(/open orders of grid-eth on ETHUSDT that nobody wants any more: cancelled/)
    expect(plan.out).toMatch(/^! ETHUSDT 1 of holder is held, and nobody will trade it: flatten it before/m)

    const reload = await ask(project, 'reload')
    expect([reload.code, reload.said]).toEqual([
      0,
      expect.stringContaining('done: it runs with the new configuration'),
    ])
    expect((await ask(project, 'status')).out.replaceAll(/\s+/g, ' ')).toContain(
      '! ETHUSDT 1 of holder is held, and nobody trades it: put the strategy back and flatten it',
    )
    expect(run.events('daemon.running')).toHaveLength(2)
    const from = run.log.findLastIndex(({ event }) => event === 'daemon.running')
    await run.until('orders after it', () => run.log.slice(from).some(({ event }) => event === 'order.sent'))
    expect(
      run.log.slice(from).filter(({ event, strategy }) => event === 'order.sent' && strategy === 'grid-eth'),
    ).toEqual([])
    expect(await run.stop()).toEqual({ code: 0, signal: null })
    expect(run.summary.exchange).toMatchObject({ agrees: true, differences: [] })
  })

  test('that is broken, or wants a new process, is refused and changes nothing, twice at once too', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('order.fill')
    project.edit('config/paper.yaml', 'positionMode: one_way_mode', 'positionMode: hedge_mode')
    const plan = await ask(project, 'plan')
    expect(plan.out).toMatch(
      /^! account\.positionMode: "one_way_mode" -> "hedge_mode": only a new process takes this/m,
    )
    expect((await ask(project, 'reload')).code).toBe(1)
    // By the signal, which asks nobody before.
    run.kill('SIGHUP')
    await run.untilEvent('reload.refused')
    project.write('config/strategies/grid-btc.yaml', 'id: [')
    run.kill('SIGHUP')
    run.kill('SIGHUP')
    expect(await run.untilEvent('reload.refused', 2)).toMatchObject({
      problems: [expect.stringMatching(/^config\/strategies\/grid-btc\.yaml:1:\d+: /)],
    })
    // The file that the run began with is read, and no other one, where it is gone as well.
    renameSync(join(project.directory, 'config/paper.yaml'), join(project.directory, 'config/away.yaml'))
    run.kill('SIGHUP')
    expect(await run.untilEvent('reload.refused', 3)).toMatchObject({
      problems: [expect.stringMatching(/^config\/paper\.yaml: /)],
    })
    const from = run.log.length
    await run.until('orders after it', () => run.log.slice(from).some(({ event }) => event === 'order.sent'))
    expect(run.events('daemon.running')).toHaveLength(1)
    expect((await run.stop()).code).toBe(0)
  })

  test('that is asked for twice at once is taken twice, one after the other, and a stop meanwhile leaves nothing that rests', async () => {
    const project = projects.open()
    const run = project.run([...FAST, '--set', 'onStop=cancel'])
    await run.untilEvent('order.fill')
    project.edit('config/strategies/grid-btc.yaml', 'levels: 8', 'levels: 6')
    run.kill('SIGHUP')
    await run.untilEvent('reload.begun')
    project.edit('config/strategies/grid-btc.yaml', 'levels: 6', 'levels: 4')
    run.kill('SIGHUP')
    await run.untilEvent('reload.begun', 2)
    // A stop while it comes up again takes away what the run before has left.
    await run.untilEvent('daemon.opened', 3)
    expect(run.events('reload.begun').map(({ settings }) => settings)).toEqual([
      ['grid-btc.params.levels: 8 -> 6'],
      ['grid-btc.params.levels: 6 -> 4'],
    ])
    expect((await run.stop()).code).toBe(0)
    expect(run.summary).toMatchObject({ clean: true, exchange: { openOrders: 0, differences: [] } })
  })

  test('reloaded while it trades many orders, again and again, loses and doubles none', async () => {
    const project = projects.open()
    for (const name of ['grid-btc', 'grid-eth'])
      project.edit(`config/strategies/${name}.yaml`, 'levels: 8', 'levels: 20')
    const run = project.run(FAST)
    await run.untilEvent('order.fill')
    for (const [from, to] of [
      ['levels: 20', 'levels: 16'],
      ['levels: 16', 'levels: 20'],
      ['levels: 20', 'levels: 12'],
    ] as const) {
      project.edit('config/strategies/grid-btc.yaml', from, to)
      const count = run.events('daemon.running').length
      run.kill('SIGHUP')
      await run.untilEvent('daemon.running', count + 1)
    }
    expect((await run.stop()).code).toBe(0)
    expect(run.summary).toMatchObject({ clean: true, exchange: { agrees: true } })
    const { ours, dropped, resting, doubled } = readOrders(
      run.events('daemon.opened')[0]?.['state'] as string,
    )
    expect(run.events('daemon.stopped').at(-1)?.['openOrders']).toBe(ours.size)
    expect(resting.size).toBeGreaterThan(20)
    // What was accepted post only, and would have crossed a moment later, the exchange drops without a word.
    expect([...ours].filter((id) => !resting.has(id) && !dropped.has(id))).toEqual([])
    expect([...resting].filter((id) => !ours.has(id))).toEqual([])
    expect(doubled).toBe(0)
  })

  test('of a strategy that is other code is planned and taken, with the params that the new code wants', async () => {
    const project = projects.open()
    const code = (params: string, said: string) => `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  name: 'own', params: z.strictObject({ ${params} }), initialState: () => ({}),
  decide(market, { params, state, log }) { log.info('${said}', params); return { intents: [], state } },
})
`
    project.write('own/own.ts', code('size: z.int().default(1)', 'one'))
    project.write(
      'config/strategies/trend-btc.yaml',
      'id: trend-btc\nmodule: ../../own/own.ts\ninstruments: [BTCUSDT]\nrisk: { positionMax: "1", orderSizeMax: "1", openOrdersMax: 4 }\n',
    )
    const run = project.run(FAST)
    expect(await run.untilEvent('strategy.said')).toMatchObject({ message: 'one', facts: { size: 1 } })
    project.write('own/own.ts', code('size: z.int().default(1), more: z.int().default(5)', 'two'))
    expect((await ask(project, 'plan')).out).toBe('~ trend-btc: other code')
    expect((await ask(project, 'reload')).code).toBe(0)
    await run.until('the new code', () =>
      run.events('strategy.said').some(({ message }) => message === 'two'),
    )
    expect(run.events('strategy.said').at(-1)).toMatchObject({ message: 'two', facts: { size: 1, more: 5 } })
    expect((await run.stop()).code).toBe(0)
  })
})
