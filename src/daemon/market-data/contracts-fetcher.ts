import { configuredContracts } from '../../assembly/instruments/listed-instruments.ts'
import { isEmbedded } from '../../assembly/state/state-place.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { ContractRules } from '../../domain/contract-rules.ts'
import type { EngineEvent } from '../../engine/event.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { BeyondCaller } from '../../exchange/readers/candles-reader.ts'
import { readContracts } from '../../exchange/readers/contracts-reader.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { ProductType } from '../../domain/instrument.ts'

/** New listings are rare, and rules are evaluated every few minutes at most. */
const EVERY_MS = 300_000
const RETRY_MS = 30_000

export interface ContractsFetcherOptions {
  /** Undefined: the simulator inside lists what is configured. */
  readonly caller: BeyondCaller | undefined
  readonly configured: ReadonlyMap<string, ContractRules>
  readonly productType: ProductType
  readonly timers: Timers
  readonly dispatch: (event: EngineEvent) => void
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * Reads what the exchange lists, again and again, a call at a time:
 *
 *     new ──start()──► reading ──answer──► waiting ──time──► reading
 *                         └──────── stop() ──────► stopped
 *
 * A failed read is logged once and repeated sooner.
 */
export class ContractsFetcher {
  readonly #options: ContractsFetcherOptions
  #reading: Promise<void> = Promise.resolve()
  #cancel = (): void => undefined
  #isStopped = false
  #hasFailed = false

  constructor(options: ContractsFetcherOptions) {
    this.#options = options
  }

  start(): void {
    const { caller, configured, dispatch, timers } = this.#options
    if (caller) this.#reading = this.#read(caller)
    // The run has begun by the time this falls due.
    else
      this.#cancel = timers.after(0, () =>
        dispatch({ kind: 'contractsRead', contracts: configured }),
      )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#reading
  }

  async #read(caller: BeyondCaller): Promise<void> {
    const { productType, dispatch, timers } = this.#options
    const reason = await readContracts(caller, productType).then(
      (answer) => {
        if (answer.kind !== 'accepted') return `${answer.code} ${answer.message}`.trim()
        if (answer.data.size === 0) return 'the answer has no contract that can be read'
        if (!this.#isStopped) dispatch({ kind: 'contractsRead', contracts: answer.data })
        return undefined
      },
      (error: unknown) => messageOf(error),
    )
    if (this.#isStopped) return
    if (reason !== undefined && !this.#hasFailed)
      this.#options.logger.log('warn', 'universe.notRead', { reason })
    this.#hasFailed = reason !== undefined
    this.#cancel = timers.after(reason === undefined ? EVERY_MS : RETRY_MS, () => {
      this.#reading = this.#read(caller)
    })
  }
}

export interface FetchedContracts extends Pick<
  ContractsFetcherOptions,
  'timers' | 'dispatch' | 'logger'
> {
  readonly config: DaemonConfig
  readonly settings: Pick<EngineSettings, 'strategies'>
  readonly calls: { readonly client: BeyondCaller }
  /** Later backtests are to have the contracts. */
  readonly isKept: boolean
}

/** @returns undefined where neither a universe nor a later backtest needs the contracts */
export function openContractsFetcher(needs: FetchedContracts): ContractsFetcher | undefined {
  const { config, settings, calls, isKept } = needs
  const isChosen = [...settings.strategies.values()].some(({ universe }) => universe)
  if (!isChosen && !(isKept && listsContracts(config))) return undefined
  return new ContractsFetcher({
    ...needs,
    caller: isEmbedded(config) ? undefined : calls.client,
    configured: configuredContracts(config),
    productType: config.account.productType,
  })
}

/**
 * Without a universe the contracts serve only later backtests, and are read only if that is
 * allowed.
 */
function listsContracts(config: DaemonConfig): boolean {
  return isEmbedded(config) || config.exchange.beyondDocument
}
