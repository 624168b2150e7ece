// CPU time of this thread for a poll of 600 tickers and for a batch of 50 orders: a plain script beside the exchange
// client, in turn, against one server on a thread of its own. Rows of `npm run bench`.

import { bare, client, type Contender, startServer } from './floor.ts'

const CALLS = 60
/** Until the code is compiled and the connections are warm. */
const WARM_UP = 300

export interface CostRound {
  /** CPU ms of one call. */
  readonly floorMs: number
  readonly clientMs: number
}

export interface ClientCost {
  readonly poll: readonly CostRound[]
  readonly batch: readonly CostRound[]
}

export async function measureClientCost(rounds: number): Promise<ClientCost> {
  const server = await startServer()
  const [floor, ours] = [bare(server.baseUrl), client(server.baseUrl)]
  for (const one of [floor, ours])
    for (let call = 0; call < WARM_UP; call++) await one.place(await one.poll())
  const cost: { poll: CostRound[]; batch: CostRound[] } = { poll: [], batch: [] }
  for (let round = 0; round < rounds; round++) {
    cost.poll.push({
      floorMs: await cpuOf(() => floor.poll()),
      clientMs: await cpuOf(() => ours.poll()),
    })
    cost.batch.push({
      floorMs: await cpuOf(() => floor.place(BID)),
      clientMs: await cpuOf(() => ours.place(BID)),
    })
  }
  await Promise.all([floor, ours].map((one: ReturnType<Contender>) => one.close()))
  await server.stop()
  return cost
}

const BID = 42_000

async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  for (let done = 0; done < CALLS; done++) await call()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / CALLS
}
