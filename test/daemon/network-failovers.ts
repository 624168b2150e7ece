import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { messageOf } from '../../src/lib/failure.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'
import { readAllRecords } from '../crash/compare-books.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { type CabledGround, MACHINES, openCabledGround } from './cabled-ground.ts'
import { type IntentdProcess } from './intentd-process.ts'
import { findLateOrders, timeWithoutOrder } from './ledger-times.ts'
import { Machines } from './machines.ts'
import { type Barred, findSignedWithoutLease } from './signed-requests.ts'
import {
  CLOCK_WRONG_MS_MAX,
  type NetworkFault,
  pause,
  type Placed,
  type Struck,
  TROUBLE_MS,
  untilTradesOrStops,
  watchForStop,
} from './network-faults.ts'

const STEPPED_CLOCK = new URL('./stepped-clock.ts', import.meta.url).href

export interface NetworkFailover {
  readonly fault: string
  /** Whether it was taken over for this fault; else it was killed when the trouble was over. */
  readonly isByFault: boolean
  /** From the fault, or from the kill after it, until the next had the lease. */
  readonly takenMs: number
  /** From the last order that the exchange took before that until the first after it; undefined where there is none. */
  readonly withoutOrderMs: number | undefined
}

export interface NetworkReport {
  readonly failovers: readonly NetworkFailover[]
  readonly orders: number
  readonly fills: number
  /** Signed requests that the exchange saw. */
  readonly signed: number
  readonly differences: Differences
}

export interface NetworkChain {
  /** One after the other; each ends with another writer. */
  readonly faults: readonly NetworkFault[]
  readonly leaseMs: number
  /** Of the prices, the clocks and the moments. */
  readonly seed: number
  readonly onFailover?: (fault: string, takenMs: number) => void
}

/**
 * One account on machines of a network of its own, struck again and again with a standby behind its writer. The last
 * one stops in good order; then the journal and the exchange's ledger are compared.
 */
export async function failOverNetwork(chain: NetworkChain): Promise<NetworkReport> {
  const ground = await openCabledGround(
    chain.seed,
    chain.faults.some(({ isShared }) => isShared === true),
  )
  const play = new Play(chain, ground)
  try {
    return await play.run()
  } finally {
    await play.close()
  }
}

interface Taken extends Pick<NetworkFailover, 'fault' | 'isByFault' | 'takenMs'> {
  /** When the lease was taken, Unix ms. */
  readonly at: number
  readonly run: IntentdProcess
  /** One that stops at a point may not come to trade. */
  readonly hasTraded: boolean
}

class Play {
  readonly #chain: NetworkChain
  readonly #ground: CabledGround
  readonly #machines: Machines
  readonly #random: Random
  readonly #clocks = mkdtempSync(join(tmpdir(), 'intentd-clocks-'))
  readonly #differences: string[] = []
  readonly #taken: Taken[] = []
  readonly #barred: Barred[] = []

  constructor(chain: NetworkChain, ground: CabledGround) {
    this.#chain = chain
    this.#ground = ground
    this.#machines = new Machines(ground, chain.leaseMs)
    this.#random = createRandom(`network ${chain.seed}`)
  }

  async run(): Promise<NetworkReport> {
    const { faults } = this.#chain
    let writer = this.#start(0, faults[0])
    await writer.run.untilEvent('standby.tookOver')
    for (const [index, fault] of faults.entries()) {
      const turn = MACHINES.findIndex((machine) => machine === writer.machine) + 1
      const standbys = [this.#start(turn, faults[index + 1])]
      if (fault.standbys === 2) standbys.push(this.#start(turn + 1, faults[index + 1]))
      try {
        writer = await this.#strike(fault, writer, standbys)
      } catch (error) {
        throw new Error(`number ${index + 1}, ${fault.name}: ${messageOf(error)}`, { cause: error })
      }
    }
    await Machines.trades(writer.run)
    return this.#end(writer)
  }

  async close(): Promise<void> {
    await this.#machines.close()
    rmSync(this.#clocks, { recursive: true, force: true })
  }

  /** @returns who has the lease then */
  async #strike(fault: NetworkFault, writer: Placed, standbys: readonly Placed[]): Promise<Placed> {
    const [next = writer] = standbys
    const struck = this.#around(writer, next)
    if (fault.prepare === undefined) {
      await Promise.all(standbys.map(({ run }) => run.untilEvent('standby.following')))
      await Machines.trades(writer.run)
    }
    const struckAt = systemClock.now()
    await fault.strike(struck)
    const isByFault = fault.takeover === 'must' || (await this.#outlast(fault, struck))
    // One that stops by itself may have done so long before.
    const endedAt = (await writer.stoppedAt) ?? (isByFault ? struckAt : systemClock.now())
    if (!isByFault) writer.run.kill('SIGKILL')
    const winner = await Promise.any(standbys.map(untilTaken))
    const at = systemClock.now()
    const hasTraded = await untilTradesOrStops(winner.run)
    if (fault.takeover === 'must') fault.mend?.(struck)
    const { code } = await writer.run.ended
    this.#barred.push({ machine: writer.machine, from: at, to: systemClock.now() })
    const codes = isByFault ? fault.codes : [null]
    if (!codes.includes(code))
      this.#differences.push(`${fault.name}: its writer ended with ${String(code)}`)
    await this.#sendAway(standbys.filter((standby) => standby !== winner))
    this.#taken.push({
      fault: fault.name,
      isByFault,
      takenMs: at - endedAt,
      at,
      hasTraded,
      run: winner.run,
    })
    this.#chain.onFailover?.(fault.name, at - endedAt)
    return winner
  }

  /** A trouble that may pass. @returns whether it was taken over meanwhile */
  async #outlast(fault: NetworkFault, struck: Struck): Promise<boolean> {
    const { writer, next } = struck
    await pause(TROUBLE_MS)
    fault.mend?.(struck)
    const answered = writer.run.events('batch.answered').length
    const taken = next.run.untilEvent('standby.tookOver').then(() => true)
    const goesOn = writer.run
      .until('it trades again', () => writer.run.events('batch.answered').length > answered + 1)
      .then(() => false)
    // One that ends is taken over; one that goes on is not, and then nobody waits for the other.
    taken.catch(() => undefined)
    const isTaken = await goesOn.catch(() => taken)
    if (isTaken && fault.takeover === 'not')
      this.#differences.push(`${fault.name}: it was taken over`)
    return isTaken
  }

  /** Standbys that were not needed end in good order, and have sent nothing. */
  async #sendAway(standbys: readonly Placed[]): Promise<void> {
    for (const { machine, run } of standbys) {
      const { code } = await run.stop()
      if (code !== 0)
        this.#differences.push(`the other standby, ${machine}, ended with ${String(code)}`)
      if (run.events('batch.sent').length > 0)
        this.#differences.push(`the other standby, ${machine}, traded`)
    }
  }

  async #end({ machine, run }: Placed): Promise<NetworkReport> {
    const { code } = await run.stop()
    if (code !== 0) throw new Error(`the last one ended with ${String(code)}`)
    const truth = await this.#machines.readTruth()
    const takenAt = new Map(
      this.#taken.flatMap(({ run: taker, at }) => {
        const epoch = taker.events('recovery.started')[0]?.['epoch']
        return epoch === undefined ? [] : [[Number(epoch), at]]
      }),
    )
    const signed = this.#ground.signed()
    const records = readAllRecords(this.#machines.journalFile(machine))
    return {
      failovers: this.#taken.map(({ fault, isByFault, takenMs, at, hasTraded }) => ({
        fault,
        isByFault,
        takenMs,
        withoutOrderMs: hasTraded ? timeWithoutOrder(truth, at) : undefined,
      })),
      orders: truth.orders.size,
      fills: truth.fills.size,
      signed: signed.length,
      differences: [
        ...this.#differences,
        ...(await this.#machines.compare(machine, run)),
        ...findLateOrders(records, truth, takenAt),
        ...findSignedWithoutLease(signed, this.#barred),
      ],
    }
  }

  #around(writer: Placed, next: Placed): Struck {
    return {
      writer,
      next,
      machines: this.#machines,
      network: this.#ground.network,
      servers: this.#ground.servers,
      redis: this.#ground.redis,
      setClock: (machine, aheadMs) => this.#setClock(machine, aheadMs),
    }
  }

  #start(turn: number, fault: NetworkFault | undefined): Placed {
    const machine = MACHINES[turn % MACHINES.length] ?? MACHINES[0]
    const clock = this.#setClock(
      machine,
      this.#random.integer(2 * CLOCK_WRONG_MS_MAX) - CLOCK_WRONG_MS_MAX,
    )
    const { env = {}, preload = [] } = fault?.prepare?.(this.#random) ?? {}
    const run = this.#machines.standby(machine, {
      env: { ...env, INTENTD_CLOCK_FILE: clock },
      preload: [STEPPED_CLOCK, preload].flat(),
    })
    return { machine, run, ...(fault?.prepare && { stoppedAt: watchForStop(run) }) }
  }

  #setClock(machine: string, aheadMs: number): string {
    const file = join(this.#clocks, machine)
    // In one step: the daemon looks at it all the time.
    writeFileSync(`${file}.new`, String(aheadMs))
    renameSync(`${file}.new`, file)
    return file
  }
}

async function untilTaken(standby: Placed): Promise<Placed> {
  await standby.run.untilEvent('standby.tookOver')
  return standby
}
