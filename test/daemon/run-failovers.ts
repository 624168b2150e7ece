// Takes accounts over again and again, and compares the books afterwards: see failovers.ts. `npm run failovers`.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { postgresMissing, postgresServer } from '../support/postgres-server.ts'
import { networkMissing } from '../support/private-network.ts'
import { ENDINGS, failOver, type Failover } from './failovers.ts'
import { inSeconds, middleAndLast } from './failover-figures.ts'
import { killLeftOver } from './intentd-process.ts'
import { runNetworkCampaign } from './network-campaign.ts'

const { values } = parseArgs({
  options: {
    /** Accounts, one after the other. */
    chains: { type: 'string', default: '2' },
    /** Of each account. */
    failovers: { type: 'string', default: '10' },
    /** How long a lease lasts, ms. */
    lease: { type: 'string', default: '4000' },
    /** Decides the moments, and with --network the prices too; drawn where there is none. */
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    /** So many takeovers on machines of a network of its own instead. */
    network: { type: 'string' },
    /** So many accounts of these at a time. */
    'at-once': { type: 'string', default: '1' },
    /** Of these, only faults whose name holds that. */
    fault: { type: 'string', default: '' },
  },
})

// At once: whatever is waited for would start the next one meanwhile.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void killLeftOver()
    // Servers end as this process exits.
    process.exit(1)
  })
}

const missing = postgresMissing ?? (values.network === undefined ? undefined : networkMissing)
console.log(missing ?? `seed ${values.seed}`)
if (missing !== undefined) process.exitCode = 1
else if (values.network === undefined) await run()
else {
  const isWell = await runNetworkCampaign({
    failovers: Number(values.network),
    leaseMs: Number(values.lease),
    seed: Number(values.seed),
    atOnce: Number(values['at-once']),
    faultHas: values.fault,
  })
  if (!isWell) process.exitCode = 1
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
    console.log(
      `account ${chain + 1}: ${orders} orders, ${fills} fills, ${differences.length} differences`,
    )
    for (const difference of differences) console.log(`  ${difference}`)
    if (differences.length > 0) process.exitCode = 1
  }
  console.log(
    `\n${all.length} failovers; until the lease was taken, and until an order was answered: median, longest`,
  )
  for (const how of ENDINGS) {
    const those = all.filter((failover) => failover.how === how)
    if (those.length === 0) continue
    const taken = those.map(({ takenMs }) => takenMs)
    const traded = those.flatMap(({ tradedMs }) => tradedMs ?? [])
    console.log(
      `${[...middleAndLast(taken), ...middleAndLast(traded)].join(' ')}  ${how}, ${those.length} times`,
    )
  }
}
