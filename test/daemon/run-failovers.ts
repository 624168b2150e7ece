// Takes accounts over again and again, and compares the books afterwards: see failovers.ts. `npm run failovers`.
import { parseArgs } from 'node:util'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { ENDINGS, failOver, type Failover } from './failovers.ts'
import { killLeftOver } from './intentd-process.ts'

const { values } = parseArgs({
  options: {
    /** Accounts, one after the other. */
    chains: { type: 'string', default: '2' },
    /** Of each account. */
    failovers: { type: 'string', default: '10' },
    /** How long a lease lasts, ms. */
    lease: { type: 'string', default: '4000' },
    /** Decides the moments. */
    seed: { type: 'string', default: '1' },
  },
})

// At once: whatever is waited for would start the next one meanwhile.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void killLeftOver()
    process.kill(process.pid, signal)
  })
}

if (postgresMissing === undefined) await run()
else {
  console.log(postgresMissing)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const server = await postgresServer()
  const all: Failover[] = []
  for (let chain = 0; chain < Number(values.chains); chain++) {
    const report = await failOver({
      place: server.newPlace(),
      leaseMs: Number(values.lease),
      failovers: Number(values.failovers),
      seed: Number(values.seed) + chain,
      onFailover: ({ how, takenMs, tradedMs }) =>
        console.log(
          `${inSeconds(takenMs)} ${tradedMs === undefined ? '  killed' : inSeconds(tradedMs)}  ${how}`,
        ),
    })
    all.push(...report.failovers)
    const { orders, fills, differences } = report
    console.log(`account ${chain + 1}: ${orders} orders, ${fills} fills, ${differences.length} differences`)
    for (const difference of differences) console.log(`  ${difference}`)
    if (differences.length > 0) process.exitCode = 1
  }
  console.log(
    `\n${all.length} failovers; until the lease was taken, and until an order was answered: median, longest`,
  )
  for (const how of ENDINGS) {
    const those = all.filter((failover) => failover.how === how)
    if (those.length === 0) continue
    const taken = those.map(({ takenMs }) => takenMs).toSorted((one, other) => one - other)
    const traded = those.flatMap(({ tradedMs }) => tradedMs ?? []).toSorted((one, other) => one - other)
    console.log(
      `${[...middleAndLast(taken), ...middleAndLast(traded)].join(' ')}  ${how}, ${those.length} times`,
    )
  }
}

function middleAndLast(sorted: readonly number[]): readonly string[] {
  return [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value = 0) => inSeconds(value))
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s`
}
