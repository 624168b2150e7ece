// The daemon never runs the code of an isolated strategy itself, so this thread is restricted like
// one that trades.

import { YamlSource } from '../../config/yaml/yaml-source.ts'
import { decimal } from '../../lib/decimal.ts'
import { runTask } from '../../lib/supervised-thread.ts'
import { systemTimers } from '../../lib/timers.ts'
import { guardThread } from '../../strategy/isolation/guard-thread.ts'
import { describeThrown } from '../../strategy/strategy-failure.ts'
import type { Examination, ExaminationNews, ExaminationTask } from './examine-strategy.ts'
import { readCode } from './read-code.ts'

/** While this timer is set, the thread waits for stray errors. */
const STRAY_MS_MAX = 250
const LOOK_MS = 10

const strays: string[] = []
const getActiveResourcesInfo = process.getActiveResourcesInfo.bind(process)

await runTask<ExaminationTask, ExaminationNews>(async (task, report) => {
  process.on('uncaughtException', (error) => strays.push(describeThrown(error)))
  guardThread()
  report({ kind: 'begun' })
  const examination = await examine(task)
  await waitForStrays()
  report({ kind: 'examined', examination, strays })
})

async function examine({
  moduleFile,
  source: copy,
  instruments,
}: ExaminationTask): Promise<Examination> {
  const source = new YamlSource(copy.text, copy.shown)
  source.repeat(copy.overrides)
  const known = instruments.map((one) => ({ ...one, notionalMin: decimal(one.notionalMin) }))
  const read = await readCode(moduleFile, source, known)
  if ('problems' in read) return read
  const { strategy, params, needs } = read
  try {
    // This throws if the needs cannot be sent to another thread.
    return structuredClone({ name: strategy.name, params, needs })
  } catch (error) {
    const text = `its schema makes of them what cannot cross into its thread: ${describeThrown(error)}`
    return { problems: [source.problem(['params'], text)] }
  }
}

async function waitForStrays(): Promise<void> {
  let waitedMs = 0
  do {
    await new Promise<void>((done) => systemTimers.after(waitedMs === 0 ? 0 : LOOK_MS, done))
    waitedMs += LOOK_MS
  } while (
    waitedMs < STRAY_MS_MAX &&
    strays.length === 0 &&
    getActiveResourcesInfo().includes('Timeout')
  )
}
