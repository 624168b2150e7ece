import { afterAll, describe, expect, test } from 'vitest'
import { shareOf } from '../support/share.ts'
import { type Project, Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** The shipped project, with trend-btc running this code. */
function openWith(code: string, outside = ''): Project {
  const project = projects.open()
  project.write(
    'elsewhere/unruly.ts',
    `import { defineStrategy, z } from 'intentd/strategy'
${outside}
export default defineStrategy({
  name: 'unruly',
  params: z.strictObject({}),
  initialState: () => ({}),
  decide() { ${code}; return { intents: [], state: {} } },
})
`,
  )
  project.edit(
    'config/strategies/trend-btc.yaml',
    '../../strategies/trend.ts',
    '../../elsewhere/unruly.ts',
  )
  const file = project
    .read('config/strategies/trend-btc.yaml')
    .replace(/params:\n(?: .*\n)+/, 'params: {}\n')
  project.write('config/strategies/trend-btc.yaml', file)
  return project
}

/** Of built-in functions alone: compiled, V8 looks nowhere in it whether it is to end. */
const UNENDING =
  'for (const made: unknown[] = []; ;) { made.push(new Array(1000).fill(1)); if (made.length > 100) made.length = 0 }'

describe('[STR1] a strategy', () => {
  const unruly: readonly (readonly [string, string, string, string])[] = [
    ['that ends the process', 'process.exit(3)', '', 'process.exit'],
    ['that kills the process', 'process.kill(process.pid, "SIGKILL")', '', 'process.kill'],
    [
      'that leaves a rejected promise',
      'void Promise.reject(new Error("left alone"))',
      '',
      'left alone',
    ],
    [
      'whose timer throws',
      '',
      'setTimeout(() => { throw new Error("too late") }, 3000)',
      'too late',
    ],
    ['whose timer ends the process', '', 'setTimeout(() => process.exit(4), 3000)', 'process.exit'],
    [
      'whose file rejects while it trades',
      '',
      'setTimeout(() => void Promise.reject(new Error("late promise")), 3000)',
      'late promise',
    ],
  ]

  test.concurrent.each(shareOf(unruly, 2))(
    '%s is halted, and the others go on',
    async (_, code, outside, said) => {
      const run = openWith(code, outside).run(['--set', 'simulator.speed=600', '--summary', 'json'])

      const halted = await run.untilEvent('trading.halted')
      const sentBefore = run.events('order.sent').length
      await run.until('orders of others', () => run.events('order.sent').length > sentBefore)
      const ending = await run.stop()

      expect(ending).toEqual({ code: 0, signal: null })
      expect(halted).toMatchObject({ scope: 'strategy:trend-btc', code: 'strategyFailed' })
      expect(String(halted['reason'])).toContain(said)
      expect(run.events('daemon.broken')).toEqual([])
      expect(run.summary.exchange?.differences).toEqual([])
    },
  )

  test.concurrent('that never comes back in its own thread costs the others one budget, and begins anew after a pause', async () => {
    const project = openWith('if (market.sequence > 40) for (;;);', '')
    project.edit(
      'config/strategies/trend-btc.yaml',
      'isolation: inline',
      'isolation: worker\nthread: { budgetMs: 200 }',
    )
    project.edit('elsewhere/unruly.ts', 'decide()', 'decide(market)')
    const run = project.run(['--set', 'simulator.speed=600', '--summary', 'json'])
    expect(await run.untilEvent('strategy.threadLost')).toMatchObject({ strategy: 'trend-btc' })
    const sentBefore = run.events('order.sent').length
    await run.until('orders of others', () => run.events('order.sent').length > sentBefore)
    // It begins anew, and is lost again.
    await run.untilEvent('strategy.failed', 2)
    expect(run.events('strategy.threadLost').length).toBeGreaterThanOrEqual(2)
    expect(await run.stop()).toEqual({ code: 0, signal: null })
    expect([run.events('daemon.broken'), run.events('loop.hung')]).toEqual([[], []])
    expect(run.summary.exchange?.differences).toEqual([])
  })

  test.concurrent('that never comes back ends the process, and is halted by the next start', async () => {
    const code = 'if (existsSync("stuck")) for (;;);'
    const project = openWith(code, 'import { existsSync } from "node:fs"')
    const args = [
      '--set',
      'simulator.speed=600',
      '--set',
      'supervision.hungAfterMs=3000',
      '--summary',
      'json',
    ]
    const run = project.run(args)
    await run.untilEvent('order.accepted')
    project.write('stuck', '')
    expect(await run.ended).toEqual({ code: null, signal: 'SIGABRT' })
    expect(run.events('loop.hung')).toMatchObject([{ level: 'fatal', strategy: 'trend-btc' }])

    const next = project.run(args)
    expect(await next.untilEvent('trading.halted')).toMatchObject({
      scope: 'strategy:trend-btc',
      by: 'intentd',
    })
    await next.untilEvent('order.sent')
    expect(await next.stop()).toEqual({ code: 0, signal: null })
    expect(next.summary.exchange?.differences).toEqual([])
  })

  test.concurrent('that nothing ends in its own thread ends the run with 79, is halted by the next start, and named by check', async () => {
    const project = openWith(`if (market.sequence > 40) ${UNENDING}`)
    project.edit('config/strategies/trend-btc.yaml', 'isolation: inline', 'isolation: worker')
    project.edit('elsewhere/unruly.ts', 'decide()', 'decide(market)')
    const args = ['--set', 'supervision.hungAfterMs=2000', '--summary', 'json']
    const run = project.run(args)
    await run.untilEvent('strategy.threadLost')

    expect(await run.ended).toEqual({ code: 79, signal: null })
    expect(run.events('loop.hung')).toMatchObject([{ loop: 'the thread of strategy trend-btc' }])
    const next = project.run(args)
    expect(await next.untilEvent('trading.halted')).toMatchObject({ scope: 'strategy:trend-btc' })
    expect(await next.stop()).toEqual({ code: 0, signal: null })
    expect(next.summary.exchange?.differences).toEqual([])

    const check = project.start(['check'])
    expect(await check.ended).toEqual({ code: 78, signal: null })
    expect(check.stderr.join('\n')).toMatch(/unruly (did not come back|takes more than 512 MB)/)
  })

  test.concurrent.each([
    ['ends the process', 'process.exit(0)', /wanted to end the process/],
    ['leaves a rejected promise', 'void Promise.reject(new Error("left alone"))', /left alone/],
  ])('whose file %s is a problem of the configuration', async (_, outside, reported) => {
    const check = openWith('', outside).start(['check'])
    const { code } = await check.ended

    expect(code).toBe(78)
    expect(check.stderr.join('\n')).toMatch(/config\/strategies\/trend-btc\.yaml:\d+:\d+ module: /)
    expect(check.stderr.join('\n')).toMatch(reported)
  })
})
