import { type ContractRules } from '../../../src/domain/contract-rules.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { formatOnGrid } from '../../../src/lib/grid.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { type Instrument } from '../../../src/simulator/futures/instruments/instruments.ts'

/** Contracts and volumes change together, so often. */
const SPELL_MS = 2500

/** Of twelve spells of a contract, one each is spent like this; otherwise it is listed. */
const ODD_SPELLS = ['gone', 'closed', 'hidden', 'unstated'] as const

type Spell = 'listed' | (typeof ODD_SPELLS)[number]

export interface ChangingListOptions {
  readonly seed: string
  readonly instruments: readonly Instrument[]
  /** @returns Unix ms, exchange clock; undefined once all is listed for good */
  readonly now: () => number | undefined
}

/**
 * What the exchange lists: contracts are delisted and listed again, may only be closed, lose their
 * row, or their volume is not stated. Volumes change, so that the ranks do.
 */
export class ChangingList {
  readonly #options: ChangingListOptions
  #spell = -2
  #contracts: ReadonlyMap<string, ContractRules> = new Map()

  constructor(options: ChangingListOptions) {
    this.#options = options
  }

  /** The same map as long as nothing has changed. */
  get contracts(): ReadonlyMap<string, ContractRules> {
    const spell = this.#number
    if (spell === this.#spell) return this.#contracts
    this.#spell = spell
    this.#contracts = new Map(
      this.#options.instruments.flatMap((instrument): [string, ContractRules][] => {
        const is = this.#spellOf(instrument.symbol)
        if (is === 'gone') return []
        const status = is === 'closed' ? 'limit_open' : 'normal'
        return [[instrument.symbol, { ...rulesOf(instrument), status }]]
      }),
    )
    return this.#contracts
  }

  isShown(symbol: string): boolean {
    const spell = this.#spellOf(symbol)
    return spell !== 'gone' && spell !== 'hidden'
  }

  stateVolumes(table: TickerTable): void {
    for (const { symbol } of this.#options.instruments) {
      const row = table.rowOf(symbol)
      if (row < 0) continue
      const volume = this.#drawOf(symbol, 'volume').integer(1_000_000)
      const isStated = this.#spellOf(symbol) !== 'unstated'
      table.columns.usdtVolume[row] = isStated ? 1 + volume : Number.NaN
    }
  }

  get #number(): number {
    const now = this.#options.now()
    return now === undefined ? -1 : Math.floor(now / SPELL_MS)
  }

  #spellOf(symbol: string): Spell {
    if (this.#number === -1) return 'listed'
    return ODD_SPELLS[this.#drawOf(symbol, 'spell').integer(12)] ?? 'listed'
  }

  #drawOf(symbol: string, what: string) {
    return createRandom(`${this.#options.seed}/${what}/${symbol}/${this.#number}`)
  }
}

function rulesOf({ priceGrid, sizeGrid, lotsMin, notionalMin }: Instrument): ContractRules {
  return {
    tickSize: priceGrid.step,
    lotSize: sizeGrid.step,
    minSize: formatOnGrid(sizeGrid, lotsMin),
    minNotional: notionalMin,
    quoteCoin: 'USDT',
  }
}
