import { parseArgs } from 'node:util'
import { runWorld } from '../support/virtual-world.ts'
import { planWorld } from '../support/world-plan.ts'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    /** Runs one world and prints everything that happened. */
    trace: { type: 'string' },
  },
})

if (values.trace === undefined) runMany(Number(values.worlds), Number(values.seed))
else traceOne(values.trace)

function runMany(worlds: number, firstSeed: number): void {
  const startedAt = process.hrtime.bigint()
  let [violating, events, orders, fills, lives] = [0, 0, 0, 0, 0]
  const byId = new Map<string, number>()
  for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
    const report = runWorld(planWorld(String(seed)))
    events += report.events
    orders += report.orders
    fills += report.fills
    lives += report.lives
    const [first] = report.violations
    if (!first) continue
    violating += 1
    byId.set(first.id, (byId.get(first.id) ?? 0) + 1)
    console.log(`seed ${seed}: ${first.id} ${first.detail}`)
  }
  const minutes = Number(process.hrtime.bigint() - startedAt) / 60e9
  console.log(
    `${worlds} worlds, ${violating} violating ${JSON.stringify(Object.fromEntries(byId))}, ` +
      `${Math.round(worlds / minutes)} a minute; ${events} events, ${lives} lives, ${orders} orders, ${fills} fills`,
  )
  if (violating > 0) process.exitCode = 1
}

function traceOne(seed: string): void {
  const report = runWorld(planWorld(seed))
  for (const line of report.lines) console.log(line)
  console.log(report.violations, report.faults, report.traceHash)
}
