import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { killLeftOver, type IntentdProcess, type LogLine } from '../test/daemon/intentd-process.ts'
import { Project } from '../test/daemon/project.ts'

/**
 * `npm run bench:kill`: from the first byte of `intentd kill` or `intentd flatten`, or of the same by HTTP, to the last
 * order that was accepted and is no close, and to the last fill, of a daemon that trades all the time, stands still
 * (SIGSTOP for two seconds) or is dead. The exchange is the one inside, with its market at 600 times real time; times
 * are real. The start of a verb's own process is part of them. `-- --rounds 3` does all of it three times.
 */
const FAST = ['--set', 'simulator.speed=600', '--summary', 'json']
const STOPPED_MS = 2000
/** So long nothing may follow any more, ms. */
const QUIET_MS = 3000
/** Fills before the command: by then they come all the time. */
const FILLS = 30
const ROUNDS = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 1

const VERBS = {
  kill: ['kill', '--wait', '1s'],
  flatten: ['flatten', '*', '--reason', 'drill', '--wait', '1s'],
}
const ORDERS = { kill: { kind: 'kill' }, flatten: { kind: 'flatten', scope: '*' } }

type Verb = keyof typeof VERBS
type State = 'up' | 'stopped' | 'dead'
interface Case {
  readonly verb: Verb
  readonly by: 'verb' | 'API'
  readonly state: State
}

const TITLES = [
  'order',
  'by',
  'daemon',
  'load',
  'answer',
  'took',
  'last that adds',
  'last fill',
  'proved or closed',
]
const WIDTHS = [9, 6, 9, 13, 24, 10, 16, 11, 16]
print(TITLES)
for (let round = 0; round < ROUNDS; round++) {
  for (const verb of ['kill', 'flatten'] as const) {
    for (const by of ['verb', 'API'] as const) {
      for (const state of ['up', 'stopped', 'dead'] as const) await measure({ verb, by, state })
    }
  }
}

async function measure({ verb, by, state }: Case): Promise<void> {
  const project = new Project()
  try {
    const first = project.run(FAST)
    await first.untilEvent('order.fill', FILLS)
    const load = describeLoad(first)
    const at = Date.now()
    if (state === 'stopped') first.kill('SIGSTOP')
    if (state === 'dead') await first.stop('SIGKILL')
    const ordered = by === 'verb' ? orderByVerb(project, verb) : orderByApi(first, verb)
    const [answer] = await Promise.all([ordered, state === 'stopped' ? wake(first) : undefined])
    const cells = [verb, by, state, load, answer, `${Date.now() - at} ms`]
    // Nobody takes a request: nothing is ordered.
    if (by === 'API' && state === 'dead') return print([...cells, '-', '-', '-'])
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
    print([...cells, after(adding), after(run.events('order.fill')), after([end])])
  } finally {
    await killLeftOver()
    project.remove()
  }
}

/** How often it sends, over the last seconds before the command. */
function describeLoad(run: IntentdProcess): string {
  const sent = run.events('order.sent').map(({ time }) => Date.parse(String(time)))
  const recent = sent.filter((time) => time > Date.now() - 2000)
  return `${(recent.length / 2).toFixed(1)} orders/s`
}

async function orderByVerb(project: Project, verb: Verb): Promise<string> {
  const { code } = await project.start(VERBS[verb]).ended
  return `exit code ${code}`
}

async function orderByApi(run: IntentdProcess, verb: Verb): Promise<string> {
  const [listening] = run.events('control.listening')
  try {
    const answer = await fetch(`${String(listening?.['url'])}/v1/commands`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readFileSync(String(listening?.['token']), 'utf8').trim()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        requestId: `bench-${verb}`,
        reason: 'drill',
        by: 'bench',
        order: ORDERS[verb],
      }),
    })
    return `${answer.status}`
  } catch {
    return 'connection refused'
  }
}

async function wake(run: IntentdProcess): Promise<void> {
  await sleep(STOPPED_MS)
  run.kill('SIGCONT')
}

function print(cells: readonly string[]): void {
  process.stdout.write(
    `${cells
      .map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0))
      .join('')
      .trimEnd()}\n`,
  )
}
