import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'

/** Real processes: slow to start on a busy machine. */
const TIMEOUT_MS = 300_000

/** Half the answers of a hostile exchange are lost or late; a market at speed fills something. */
const HOSTILE = ['-c', 'config/hostile.yaml', '--set', 'record=true', '--summary', 'json']

const projects = new Projects()
afterAll(() => projects.close())

/** Where the recordings of the project's one market are. */
function recordingsOf(project: Project): string {
  const paths = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })
  const found = paths.find((path) => path.endsWith('recordings'))
  if (found === undefined) throw new Error('nothing was recorded')
  return found
}

async function replay(project: Project, args: readonly string[]) {
  const run = project.start(['replay', ...args])
  const { code } = await run.ended
  return { code, text: run.stdout.join('\n'), errors: run.stderr.join('\n') }
}

/** A run that is killed in the middle of its work, and one that ends in good order. */
async function recordTwoRuns(): Promise<{ project: Project; directory: string }> {
  const project = projects.open()
  const first = project.run(HOSTILE)
  await first.until('orders and answers', () => first.events('batch.answered').length >= 2)
  await first.stop('SIGKILL')
  const second = project.run(HOSTILE)
  // Of the strategy that is changed later: another one may be the first, where answers are lost.
  await second.until('orders of grid-btc', () =>
    second.events('order.sent').some(({ strategy }) => strategy === 'grid-btc'),
  )
  await second.stop()
  return { project, directory: recordingsOf(project) }
}

test.concurrent(
  '[DET1] [ORD5] a hostile run, killed and started again, is made again to the byte; a changed strategy shows',
  async () => {
    const { project, directory } = await recordTwoRuns()

    const whole = await replay(project, [directory])
    const same = await replay(project, [directory, '--strategy', 'config/strategies/grid-btc.yaml'])
    project.edit('config/strategies/grid-btc.yaml', 'size: "0.002"', 'size: "0.001"')
    const changed = await replay(project, [
      directory,
      '--strategy',
      'config/strategies/grid-btc.yaml',
    ])

    expect(whole.errors).toBe('')
    expect(whole.code).toBe(0)
    expect(whole.text).toMatch(/^replayed +2 files of 2 runs/)
    expect(whole.text).toMatch(/[1-9]\d* orders? in [1-9]\d* batch/)
    expect(whole.text).toMatch(/same effects, to the byte$/)
    expect(same.text).toMatch(/[1-9]\d* decisions, \d+ the same: no intent differs$/)
    expect(changed.code).toBe(0)
    expect(changed.text).toMatch(
      / {2}- quote (?:buy|sell) 0\.002 at [^]* {2}\+ quote (?:buy|sell) 0\.001 at /,
    )
    expect(changed.text).toMatch(/decisions, \d+ the same, [1-9]\d* differ: BTCUSDT \d+$/)
  },
  TIMEOUT_MS,
)

test.concurrent(
  'a recording that was cut off or changed replays as far as it is whole, and says where it ends',
  async () => {
    const project = projects.open()
    const run = project.run(HOSTILE)
    await run.untilEvent('order.accepted')
    await run.stop()
    const directory = join(project.directory, recordingsOf(project))
    const file = join(directory, readdirSync(directory)[0] ?? '')
    const bytes = readFileSync(file)

    truncateSync(file, bytes.length - 40)
    const cut = await replay(project, [file])
    bytes[bytes.length - 60] = (bytes[bytes.length - 60] ?? 0) ^ 1
    writeFileSync(file, bytes)
    const changed = await replay(project, [file])

    expect(cut.code).toBe(0)
    expect(cut.text).toMatch(/^replayed +1 file of 1 run:/)
    expect(cut.text).toMatch(/note +.*ends at byte \d+ without its last line/)
    expect(changed.code).toBe(1)
    expect(changed.errors).toMatch(/RECORDING_DAMAGED[^]*byte +\d+/)
  },
  TIMEOUT_MS,
)
