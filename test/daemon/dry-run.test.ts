import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const DRY = ['--set', 'dryRun=true', '--set', 'log.level=debug']

test.concurrent('a dry run decides and plans, the exchange sees no order, and its state is apart', async () => {
  const project = projects.open()
  const run = project.run([...DRY, '--summary', 'json'])
  await run.until('several batches', () => run.events('dryRun.withheld').length >= 2)

  const ended = await run.stop()

  expect(ended).toEqual({ code: 0, signal: null })
  const { summary } = run
  expect(summary.batches).toBeGreaterThanOrEqual(2)
  expect(summary.dryRun).toBe(true)
  expect(summary.thisRun.fills).toBe(0)
  expect(summary.exchange).toMatchObject({ agrees: true, fills: 0, openOrders: 0 })
  const [first] = run.events('dryRun.withheld')
  expect(first).toMatchObject({
    endpoint: 'batchPlaceOrder',
    body: expect.stringContaining('"orderList"') as string,
  })
  expect(run.events('batch.wouldSend').length).toBeGreaterThanOrEqual(2)
  for (const event of ['batch.answered', 'order.rejected', 'orders.refused'] as const)
    expect(run.events(event)).toEqual([])
  expect(run.log.filter(({ event }) => event.endsWith('.sent'))).toEqual([])
  const orders = run.events('order.wouldSend')
  expect(orders[0]).toMatchObject({ level: 'info', price: expect.any(String) as string })
  expect(run.log.filter((line) => 'body' in line && line['level'] !== 'debug')).toEqual([])
  expect(existsSync(join(project.directory, '.intentd/paper/dry-run'))).toBe(true)
})

test.concurrent('a dry run that is to cancel is refused', async () => {
  const run = projects
    .open()
    .start(['check', ...DRY, '--set', 'onRestart=cancel', '--set', 'onStop=flatten'])

  expect((await run.ended).code).toBe(78)
  expect(run.stderr.join('\n')).toMatch(
    /onRestart: a dry run cancels nothing[^]*onStop: a dry run cancels nothing/,
  )
})
