import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, Projects } from './project.ts'

const projects = new Projects()
afterAll(() => projects.close())

// On its way to a market that is so quick, a post-only order may be crossed and cancelled: nobody is told.
const FAST = [
  '--set',
  'simulator.speed=1200',
  '--set',
  'simulator.entryLatencyMs=0',
  '--summary',
  'json',
]

test('[ORD5] a journal that lost its tail is refused, repaired, and trades nothing until it is released', async () => {
  const project = projects.open()
  const first = project.run(FAST)
  await first.untilEvent('order.fill', 3)
  await first.stop('SIGKILL')
  cutLog(project)

  const refused = project.run(FAST)
  expect((await refused.ended).code).toBe(70)
  expect(refused.stderr.join('\n')).toMatch(/JOURNAL_(TAIL_LOST|CORRUPT)[^]*intentd repair/)
  const repair = project.start(['repair', '--set', 'simulator.speed=1200'])
  expect((await repair.ended).code).toBe(0)
  const second = project.run(FAST)
  await second.untilEvent('cancelAll.answered')
  await second.stop()

  expect(repair.stdout.join('\n')).toMatch(
    /kept: +.*records\nlost: +at least [1-9]\d* records\naside: +.*damaged-/,
  )
  const named = '--set simulator.speed=1200'
  for (const verb of [`run ${named}`, `release '*' ${named} --reason`])
    expect(repair.stdout.join('\n')).toContain(`\`intentd ${verb}`)
  expect(repair.stdout.join('\n')).toContain(`\`intentd deposit --list ${named}\``)
  expect(second.events('order.sent')).toEqual([])
  expect(second.events('recovery.started')[0]).toMatchObject({
    restrictions: [expect.objectContaining({ scope: '*', code: 'repaired' })],
  })
  const again = project.start(['repair', '--set', 'simulator.speed=1200'])
  await again.ended
  expect(again.stdout.join('\n')).toMatch(/the journal is sound/)
})

/** Takes the last quarter of the log away, as a disk might. */
function cutLog(project: Project): void {
  const state = join(project.directory, '.intentd')
  const log = readdirSync(state, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('journal.sqlite-wal'),
  )
  if (log === undefined) throw new Error('a killed daemon leaves its log')
  const bytes = readFileSync(join(state, log))
  writeFileSync(join(state, log), bytes.subarray(0, Math.floor(bytes.length * 0.75)))
}
