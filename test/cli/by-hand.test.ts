import { afterAll, describe, expect, test } from 'vitest'
import { type LogLine } from '../daemon/intentd-process.ts'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const LIMITS = 'manual={orderNotionalMax: "1000", positionNotionalMax: "2000"}'
const STILL = ['--set', 'simulator.speed=1', '--set', LIMITS]

async function give(project: Project, ...args: readonly string[]) {
  const verb = project.start(args)
  const { code } = await verb.ended
  return { code, printed: [...verb.stderr, ...verb.stdout].join('\n') }
}

describe.concurrent('trades by hand at the command line', () => {
  test('are judged, sent once for a key, shown as those of `manual`, closed in part and cancelled', async () => {
    const project = projects.open()
    const run = project.run(STILL)
    await run.untilEvent('order.sent')

    const dry = await give(project, 'order', 'BTCUSDT', 'buy', '0.01', '--market', '--dry-run')
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.printed).toMatch(
      /would be done: buy 0\.01 BTCUSDT at the market; now about \d+\.?\d* USDT, at the ask of \d+\.?\d*; .*grid-btc.* trade BTCUSDT too: they go on/,
    )
    const large = await give(project, 'order', 'BTCUSDT', 'buy', '1', '--market', '--dry-run')
    expect(large).toMatchObject({ code: 1 })
    expect(large.printed).toContain('would be denied: ORDER_NOTIONAL_LIMIT')

    const wanted = ['order', 'BTCUSDT', 'buy', '0.01', '--market', '--key', 'anna-0001']
    expect(await give(project, ...wanted)).toMatchObject({ code: 0 })
    expect((await give(project, ...wanted)).printed).toContain('sent again')
    const isOwn = (line: LogLine): boolean => line['strategy'] === 'manual'
    await run.until('its fill', () => run.events('order.fill').some(isOwn))
    expect(run.events('order.sent').filter(isOwn)).toHaveLength(1)
    expect((await give(project, 'positions')).printed).toContain('manual')
    expect((await give(project, 'fills')).printed).toContain('manual')

    const part = await give(project, 'close', 'BTCUSDT', '50', '%', '--dry-run')
    expect(part.printed).toMatch(
      /would be done: .*; withdraws \d+ open orders: .*; BTCUSDT stays reducing until it is released: `intentd release .*BTCUSDT --reason/,
    )
    const own = await give(project, 'close', 'manual', '50', '%', '--dry-run')
    expect(own.printed).not.toContain('stays reducing')
    expect(await give(project, 'close', 'manual', '50', '%')).toMatchObject({ code: 0 })
    await run.untilEvent('close.done')
    expect(run.events('order.sent').filter(isOwn)).toHaveLength(2)

    const price = run.events('order.fill').find(isOwn)?.['price']
    const limit = String(Math.floor(Number(price) * 0.99))
    const rests = ['order', 'BTCUSDT', 'buy', '0.01', '--limit', limit, '--key', 'anna-0002']
    expect(await give(project, ...rests)).toMatchObject({ code: 0 })
    await run.until('it rests', () => run.events('order.sent').filter(isOwn).length === 3)
    const cancelled = await give(project, 'cancel', 'anna-0002')
    expect(cancelled).toMatchObject({ code: 0 })
    expect(cancelled.printed).toContain('1 order is withdrawn')
    expect((await give(project, 'cancel', 'nothing-such')).code).toBe(1)
  })

  test('without a daemon are not left for the next one', async () => {
    const project = projects.open()
    const order = await give(project, 'order', 'BTCUSDT', 'buy', '0.01', '--market')
    expect(order).toMatchObject({ code: 75 })
    expect(order.printed).toContain('not done: no daemon runs')
    expect((await give(project, 'order', 'BTCUSDT', 'buy', '0.01')).code).toBe(64)
    for (const share of ['150 %', '50']) {
      const refused = await give(project, 'close', 'BTCUSDT', share)
      expect([refused.code, refused.printed]).toEqual([
        64,
        expect.stringContaining(`${share} is no share: write it with %`),
      ])
    }
  })
})
