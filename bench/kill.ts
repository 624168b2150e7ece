import { setTimeout as sleep } from 'node:timers/promises'
import { killLeftOver, type IntentdProcess, type LogLine } from '../test/daemon/intentd-process.ts'
import { Project } from '../test/daemon/project.ts'

/**
 * `npm run bench:kill`: from the first byte of `intentd kill` or `intentd flatten` to the last order that was accepted
 * and is no close, and to the last fill, of a daemon that runs under load, stands still (SIGSTOP for two seconds) or is dead.
 * The exchange is the one inside, with its market at 60 times real time; times are real. The start of the verb's own
 * process is part of them.
 */
const FAST = ['--set', 'simulator.speed=60', '--summary', 'json']
const STOPPED_MS = 2000
/** So long nothing may follow any more, ms. */
const QUIET_MS = 3000

const VERBS = {
  kill: ['kill', '--wait', '1s'],
  flatten: ['flatten', '*', '--reason', 'drill', '--wait', '1s'],
}

process.stdout.write(
  'verb     daemon     exit   verb took   last order that adds   last fill   proved or closed\n',
)
for (const verb of ['kill', 'flatten'] as const) {
  for (const state of ['up', 'stopped', 'dead'] as const) await measure(verb, state)
}

async function measure(verb: keyof typeof VERBS, state: 'up' | 'stopped' | 'dead'): Promise<void> {
  const project = new Project()
  try {
    const first = project.run(FAST)
    await first.untilEvent('order.fill', 3)
    // A fill is answered by new orders at once: not in the middle of those.
    await sleep(1037)
    const at = Date.now()
    if (state === 'stopped') first.kill('SIGSTOP')
    if (state === 'dead') await first.stop('SIGKILL')
    const order = project.start(VERBS[verb])
    const [{ code }] = await Promise.all([order.ended, state === 'stopped' ? wake(first) : undefined])
    const tookMs = Date.now() - at
    // What waits for a daemon that is dead is obeyed before the first order of the next.
    const run = state === 'dead' ? project.run(FAST) : first
    const end = await run.untilEvent(verb === 'kill' ? 'kill.clean' : 'flatten.done')
    await sleep(QUIET_MS)
    const after = (lines: readonly LogLine[]): string => {
      const times = lines.map(({ time }) => Date.parse(String(time))).filter((one) => one > at)
      return times.length === 0 ? 'none' : `${Math.max(...times) - at} ms`
    }
    const closing = run.events('order.sent').filter(({ purpose }) => purpose === 'flatten')
    const closes = new Set(closing.map(({ clientOid }) => clientOid))
    // What was recorded and held back at its first byte is not accepted.
    const adding = run.events('order.accepted').filter(({ clientOid }) => !closes.has(clientOid))
    const cells = [after(adding), after(run.events('order.fill')), after([end])]
    process.stdout.write(
      `${verb.padEnd(9)}${state.padEnd(11)}${String(code).padEnd(7)}${`${tookMs} ms`.padEnd(12)}` +
        `${cells[0]?.padEnd(23)}${cells[1]?.padEnd(12)}${cells[2]}\n`,
    )
  } finally {
    await killLeftOver()
    project.remove()
  }
}

async function wake(run: IntentdProcess): Promise<void> {
  await sleep(STOPPED_MS)
  run.kill('SIGCONT')
}
