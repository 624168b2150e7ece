import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { type IntentdProcess } from './intentd-process.ts'
import { type Project, Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']

async function doctor(project: Project) {
  const run = project.start(['doctor'])
  const { code } = await run.ended
  return { code, said: run.stdout.join('\n') }
}

/** The shortest that the configuration allows, ms. */
const PATIENCE_MS = 1000
/** It runs for a tenth of each turn, ms. */
const TURN_MS = 200
const TURNS = (5 * PATIENCE_MS) / TURN_MS

/** As a machine whose processors others use: the daemon gets little of what it wants. */
async function starve(run: IntentdProcess): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    run.kill('SIGSTOP')
    await pause(TURN_MS * 0.9)
    run.kill('SIGCONT')
    await pause(TURN_MS * 0.1)
  }
}

/** The shipped project, with trend-btc standing still as soon as a file is there. */
function openStuck(): Project {
  const project = projects.open()
  project.write(
    'elsewhere/stuck.ts',
    `import { existsSync } from 'node:fs'
import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'stuck',
  params: z.strictObject({}),
  initialState: () => ({}),
  decide() { if (existsSync('stuck')) for (;;); return { intents: [], state: {} } },
})
`,
  )
  const file = 'config/strategies/trend-btc.yaml'
  project.edit(file, '../../strategies/trend.ts', '../../elsewhere/stuck.ts')
  project.write(file, project.read(file).replace(/params:\n(?: .*\n)+/, 'params: {}\n'))
  return project
}

describe('[STR1] a daemon that stands still', () => {
  test('fails doctor, which names it and what to do, until it goes on', async () => {
    const project = projects.open()
    const run = project.run(FAST)
    await run.untilEvent('daemon.running')
    run.kill('SIGSTOP')
    const stopped = await doctor(project)
    run.kill('SIGCONT')
    const resumed = await doctor(project)

    expect(stopped).toMatchObject({
      code: 1,
      said: expect.stringMatching(
        new RegExp(
          `FAIL +daemon +pid ${run.pid} holds the state and does not answer: .*\\n +-> .*kill -CONT ${run.pid}.*kill -KILL ${run.pid}`,
        ),
      ),
    })
    expect(resumed.said).toMatch(new RegExp(`ok +daemon +pid ${run.pid} answers`))
    expect(await run.stop()).toEqual({ code: 0, signal: null })
  })

  test('for want of a processor goes on when it gets one, and only a loop that really is blocked ends it', async () => {
    const project = openStuck()
    const run = project.run([...FAST, '--set', `supervision.hungAfterMs=${PATIENCE_MS}`])
    await run.untilEvent('order.accepted')
    await starve(run)
    const sentBefore = run.events('order.sent').length
    await run.until('orders again', () => run.events('order.sent').length > sentBefore)
    expect(run.events('loop.hung')).toEqual([])

    project.write('stuck', '')
    expect(await run.ended).toEqual({ code: null, signal: 'SIGABRT' })
    expect(run.events('loop.hung')).toMatchObject([{ level: 'fatal', strategy: 'trend-btc' }])
  })
})
