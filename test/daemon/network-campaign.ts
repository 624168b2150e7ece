import { messageOf } from '../../src/lib/failure.ts'
import { createRandom } from '../../src/lib/random.ts'
import { inSeconds, middleAndLast } from './failover-figures.ts'
import { failOverNetwork, type NetworkFailover } from './network-failovers.ts'
import { listFaults, type NetworkFault } from './network-faults.ts'

/** One account lasts for so many: the exchange forgets orders after eighteen minutes, and one that fails ends early. */
const OF_ONE_ACCOUNT = 10

export interface NetworkCampaign {
  readonly failovers: number
  readonly leaseMs: number
  readonly seed: number
  /** So many accounts at a time. */
  readonly atOnce: number
  /** Only faults with this in their names. */
  readonly faultHas: string
}

/** @returns whether nothing was doubled, lost, or otherwise than it should be */
export async function runNetworkCampaign(campaign: NetworkCampaign): Promise<boolean> {
  const { leaseMs, seed, atOnce } = campaign
  const plan = drawPlan(campaign)
  const all: NetworkFailover[] = []
  const sums = { orders: 0, fills: 0, signed: 0, differences: 0 }
  const chains = Array.from(
    { length: Math.ceil(plan.length / OF_ONE_ACCOUNT) },
    (_, index) => index,
  )
  const playNext = async (): Promise<void> => {
    const index = chains.shift()
    if (index === undefined) return
    const faults = plan.slice(index * OF_ONE_ACCOUNT, (index + 1) * OF_ONE_ACCOUNT)
    const onFailover = (fault: string, takenMs: number): void =>
      console.log(`${index + 1}: ${inSeconds(takenMs)}  ${fault}`)
    try {
      const report = await failOverNetwork({ faults, leaseMs, seed: seed + index, onFailover })
      const { orders, fills, signed, differences } = report
      all.push(...report.failovers)
      sums.orders += orders
      sums.fills += fills
      sums.signed += signed
      sums.differences += differences.length
      console.log(
        `${index + 1}: ${orders} orders, ${fills} fills, ${differences.length} differences`,
      )
      for (const difference of differences) console.log(`  ${difference}`)
    } catch (error) {
      sums.differences += 1
      console.log(`${index + 1}: not played to its end: ${messageOf(error)}`)
    }
    await playNext()
  }
  await Promise.all(Array.from({ length: atOnce }, playNext))
  printFigures(all)
  console.log(
    `${all.length} failovers, ${sums.orders} orders, ${sums.fills} fills, ${sums.signed} signed requests, ${sums.differences} differences`,
  )
  return sums.differences === 0
}

/** In an order that the seed decides; all of them before any comes again. */
function drawPlan({ failovers, seed, faultHas }: NetworkCampaign): readonly NetworkFault[] {
  const random = createRandom(`network plan ${seed}`)
  const fitting = listFaults().filter(({ name }) => name.includes(faultHas))
  if (fitting.length === 0) throw new Error(`no fault has "${faultHas}" in its name`)
  const drawn: NetworkFault[] = []
  while (drawn.length < failovers) {
    const shuffled = fitting
      .map((fault) => ({ fault, at: random.next() }))
      .toSorted((one, other) => one.at - other.at)
    drawn.push(...shuffled.map(({ fault }) => fault))
  }
  return drawn.slice(0, failovers)
}

function printFigures(all: readonly NetworkFailover[]): void {
  console.log('\nuntil the lease was taken, and without an order: median, longest')
  const kinds = Map.groupBy(all, ({ fault, isByFault }) =>
    isByFault
      ? fault.replace(/^stopped at .*,/, 'stopped at a point,')
      : `${fault}; killed after it`,
  )
  for (const [kind, those] of [...kinds, ['all', all] as const]) {
    const taken = middleAndLast(those.map(({ takenMs }) => takenMs))
    const without = middleAndLast(those.flatMap(({ withoutOrderMs }) => withoutOrderMs ?? []))
    console.log(`${[...taken, ...without].join(' ')}  ${kind}, ${those.length} times`)
  }
}
