import { DirectExchange } from '../../../src/backtest/direct-exchange.ts'
import {
  type MemoryJournal,
  VirtualAccount,
  type VirtualAccountOptions,
} from '../../../src/backtest/backtest.ts'
import {
  DirectNetwork,
  type Network,
  type VirtualCall,
} from '../../../src/backtest/virtual-wire.ts'
import { VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import type { ProductType } from '../../../src/domain/instrument.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'

const POLLING = { tickersMs: 1000, fillsMs: 1000, positionsMs: 2000, timeMs: 500 }
const LATENCY_MS = 40
const TIMEOUT_MS = 5000
const PAGE_FILLS = 100

export interface AccountRunOptions extends Pick<
  VirtualAccountOptions,
  'settings' | 'strategies' | 'hasPreviousRun'
> {
  /** Unix ms. */
  readonly startAt: number
  readonly core: ExchangeCore
  readonly productType: ProductType
  readonly journal: MemoryJournal
  /** Calls are lost at that time, Unix ms. */
  readonly isCutOff: (at: number) => boolean
}

/**
 * One process of an account in virtual time, on the journal of earlier ones. Abandoning it kills
 * it.
 */
export class AccountRun {
  readonly #time: VirtualTime
  readonly #account: VirtualAccount

  constructor({ startAt, core, productType, journal, isCutOff, ...options }: AccountRunOptions) {
    const time = new VirtualTime(startAt)
    this.#time = time
    this.#account = new VirtualAccount({
      ...options,
      time,
      journal,
      clock: time.clock,
      polling: POLLING,
      pageFills: PAGE_FILLS,
      exchange: new DirectExchange(core, () => time.now, { productType }),
      network: new CutNetwork(time, isCutOff),
      book: rebuildBook(journal.load(), options.settings.positionMode),
      environment: {
        gate: {
          isStill: false,
          enter: (happens) => happens(),
          settle: (happens) => happens(),
        },
        isKilled: () => false,
        retreatNote: {
          leave: () => true,
          forget: () => undefined,
        },
        listener: {},
        announcements: {
          killState: () => undefined,
          stopped: () => undefined,
          broken: (error) => {
            throw error
          },
        },
      },
    })
    this.#account.start()
  }

  get now(): number {
    return this.#time.now
  }

  get engine(): Engine {
    return this.#account.engine
  }

  run(forMs: number): void {
    this.#time.runUntil(this.#time.now + forMs)
  }
}

/** Loses every call while it is cut off. */
class CutNetwork implements Network {
  readonly isFaithful = false
  readonly #direct: DirectNetwork
  readonly #time: VirtualTime
  readonly #isCutOff: (at: number) => boolean

  constructor(time: VirtualTime, isCutOff: (at: number) => boolean) {
    this.#time = time
    this.#direct = new DirectNetwork(time, LATENCY_MS)
    this.#isCutOff = isCutOff
  }

  connectMs(): number {
    return 0
  }

  send<Data>(call: VirtualCall<Data>): void {
    if (!this.#isCutOff(this.#time.now)) return this.#direct.send(call)
    this.#time.after(TIMEOUT_MS, () =>
      call.hear({
        kind: 'unknown',
        cause: 'timeout',
        code: '',
        message: 'cut off',
        status: undefined,
        receivedAt: call.trusted.clock.now(),
      }),
    )
  }
}
