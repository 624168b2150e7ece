import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** A project whose strategy keeps a timer of its own, which would keep a process for ever. */
function withTimer(): Project {
  const project = projects.open()
  project.edit(
    'strategies/trend.ts',
    'export default',
    'setInterval(() => undefined, 1000)\nexport default',
  )
  return project
}

test.concurrent('a check of a strategy with a timer ends by itself', async () => {
  const run = withTimer().start(['check'])

  expect(await run.ended).toEqual({ code: 0, signal: null })
  expect(run.stdout.at(-1)).toBe('config/paper.yaml: nothing wrong; 4 strategies')
})

test.concurrent('a run of a strategy with a timer ends by itself, and everything is flushed', async () => {
  const run = withTimer().run(['--for', '1s', '--summary', 'json'])

  expect(await run.ended).toEqual({ code: 0, signal: null })
  expect(run.summary.clean).toBe(true)
  expect(run.log.at(-1)).toMatchObject({ event: 'run.summary' })
})

test.concurrent('a long answer reaches a pipe whole before the process ends', async () => {
  const run = projects.open().start(['call', 'tickers', '--product-type', 'USDT-FUTURES', '--json'])

  expect((await run.ended).code).toBe(0)
  expect(() => JSON.parse(run.stdout.join('\n')) as unknown).not.toThrow()
})
