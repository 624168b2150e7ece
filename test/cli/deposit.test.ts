import { afterAll, describe, expect, test } from 'vitest'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

async function give(project: Project, ...args: readonly string[]) {
  const verb = project.start(args)
  const { code } = await verb.ended
  return { code, printed: [...verb.stderr, ...verb.stdout].join('\n') }
}

describe.concurrent('deposits at the command line', () => {
  test('count at once, are entered once for a key, listed and kept over a restart', async () => {
    const project = projects.open()
    const run = project.run(['--set', 'simulator.speed=1'])
    await run.untilEvent('order.sent')

    const dry = await give(project, 'deposit', '1000', '--dry-run')
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.printed).toContain('would be done: entry 1: deposit of 1000 USDT')
    const wanted = ['deposit', '1000', '--note', 'savings', '--key', 'anna-0001']
    expect(await give(project, ...wanted)).toMatchObject({ code: 0 })
    expect((await give(project, ...wanted)).printed).toContain('sent again')
    expect(await give(project, 'withdrawal', '9999999')).toMatchObject({ code: 1 })
    expect(await give(project, 'withdrawal', '50')).toMatchObject({ code: 0 })
    expect(await give(project, 'deposit', '--correct', '2')).toMatchObject({ code: 0 })
    const listed = JSON.parse((await give(project, 'deposit', '--list', '--json')).printed) as {
      amount: string
    }[]
    expect(listed.map(({ amount }) => amount)).toEqual(['1000', '-50', '50'])
    expect(run.events('deposit.entered')).toHaveLength(3)
    await run.stop()

    const again = project.run(['--set', 'simulator.speed=1'])
    await again.untilEvent('order.sent')
    const { printed } = await give(project, 'deposit', '1', '--dry-run')
    expect(printed).toMatch(/entry 4: .* instead of 11000/)
    await again.stop()
  })
})
