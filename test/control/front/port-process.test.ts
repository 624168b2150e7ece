import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { type IntentdProcess } from '../../daemon/intentd-process.ts'
import { Projects } from '../../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

const FAULTS = fileURLToPath(new URL('./fault-on-signal.ts', import.meta.url))

const listeningOf = (run: IntentdProcess, nth: number) =>
  run.events('control.listening')[nth] as unknown as {
    readonly url: string
    readonly token: string
  }

test('a daemon whose port exits or hangs goes on trading, answers at its socket, says so, and has the port again', async () => {
  const project = projects.open()
  const args = ['run', '--set', 'simulator.speed=600', '--set', 'execution.acceptanceWindowMs=1000']
  const run = project.start(args, {}, FAULTS)
  await run.untilEvent('order.fill', 2)
  const token = readFileSync(listeningOf(run, 0).token, 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  for (const [turn, [signal, reason]] of [
    ['SIGWINCH', 'its thread has ended'] as const,
    ['SIGUSR2', 'its thread hung'] as const,
  ].entries()) {
    const fills = run.events('order.fill').length
    run.kill(signal)
    await run.untilEvent('order.fill', fills + 3)
    const status = project.start(['status'])
    expect((await status.ended).code).toBe(0)
    await run.untilEvent('control.notListening', turn + 1)
    expect(run.events('control.notListening').at(-1)).toMatchObject({
      level: 'warn',
      reason,
      advice: 'it is tried again every two seconds',
    })
    await run.untilEvent('control.listening', turn + 2)
    const answer = await fetch(`${listeningOf(run, turn + 1).url}/v1/status`, { headers })
    expect(answer.status).toBe(200)
    await answer.body?.cancel()
  }
  run.kill('SIGTERM')
  expect((await run.ended).code).toBe(0)
})
