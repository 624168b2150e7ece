import { type ContractRules } from '../../../src/domain/contract-rules.ts'
import { type TickerTable } from '../../../src/domain/ticker-table.ts'
import { formatOnGrid } from '../../../src/lib/grid.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { type ListedContract } from '../../../src/simulator/futures/instruments/instruments.ts'

/** Contracts and volumes change together, so often. */
const SPELL_MS = 2500

/** Of twelve spells of a contract, one each is spent like this; otherwise it is listed. */
const ODD_SPELLS = ['gone', 'closed', 'hidden', 'unstated'] as const

type Spell = 'listed' | (typeof ODD_SPELLS)[number]

/** Contracts are read so often. */
const READING_MS = 1000

/** Wrong answers are so far apart that no two evaluations in a row see one. */
const LIE_EVERY_MS = 12_000

/** One answer of the tickers lacks all rows, or two; or all rows state a delivery, or no volume. */
const LIES = ['bare', 'halved', 'delivered', 'empty'] as const

type Lie = (typeof LIES)[number]

export interface ChangingListOptions {
  readonly seed: string
  readonly instruments: readonly ListedContract[]
  /** @returns Unix ms, exchange clock; undefined once all is listed for good */
  readonly now: () => number | undefined
}

/**
 * What the exchange lists: contracts are delisted and listed again, may only be closed, lose their
 * row, or their volume is not stated. Volumes change, so that the ranks do. Now and then one answer
 * of the tickers, or one reading of the contracts, is wrong.
 */
export class ChangingList {
  readonly #options: ChangingListOptions
  #reading = -2
  #lieFrom: number | undefined
  #lie: Lie | undefined
  #contracts: ReadonlyMap<string, ContractRules> = new Map()

  constructor(options: ChangingListOptions) {
    this.#options = options
  }

  /** The same map until they are read again. */
  get contracts(): ReadonlyMap<string, ContractRules> {
    const now = this.#options.now()
    const reading = now === undefined ? -1 : Math.floor(now / READING_MS)
    if (reading === this.#reading) return this.#contracts
    this.#reading = reading
    // Contracts of one reading alone, all but the last, are missing.
    const isWrong = createRandom(`${this.#options.seed}/reading/${reading}`).integer(12) === 0
    const wrongMax = isWrong && reading >= 0 ? this.#options.instruments.length - 1 : 0
    this.#contracts = new Map(
      this.#options.instruments.flatMap((instrument, index): [string, ContractRules][] => {
        if (index < wrongMax) return []
        const is = this.#spellOf(instrument.symbol)
        if (is === 'gone') return []
        const status = is === 'closed' ? 'limit_open' : 'normal'
        return [[instrument.symbol, { ...rulesOf(instrument), status }]]
      }),
    )
    return this.#contracts
  }

  /** Before the rows of an answer are asked for. */
  beginAnswer(): void {
    const now = this.#options.now()
    const number = Math.floor((now ?? 0) / LIE_EVERY_MS)
    const random = createRandom(`${this.#options.seed}/lie/${number}`)
    const from = number * LIE_EVERY_MS + random.integer(4000)
    this.#lie = undefined
    if (now === undefined || now < from || this.#lieFrom === from) return
    this.#lieFrom = from
    this.#lie = LIES[random.integer(LIES.length)]
  }

  isShown(symbol: string): boolean {
    if (this.#lie === 'bare') return false
    const place = this.#options.instruments.findIndex((one) => one.symbol === symbol)
    if (this.#lie === 'halved' && place < 2) return false
    const spell = this.#spellOf(symbol)
    return spell !== 'gone' && spell !== 'hidden'
  }

  stateVolumes(table: TickerTable): void {
    for (const { symbol } of this.#options.instruments) {
      const row = table.rowOf(symbol)
      if (row < 0) continue
      const volume = this.#drawOf(symbol, 'volume').integer(1_000_000)
      const isStated = this.#spellOf(symbol) !== 'unstated'
      table.columns.usdtVolume[row] = isStated && this.#lie !== 'empty' ? 1 + volume : Number.NaN
      if (this.#lie === 'delivered') table.columns.deliveryTime[row] = this.#lieFrom ?? 0
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

function rulesOf({ priceGrid, sizeGrid, lotsMin, notionalMin }: ListedContract): ContractRules {
  return {
    tickSize: priceGrid.step,
    lotSize: sizeGrid.step,
    minSize: formatOnGrid(sizeGrid, lotsMin),
    minNotional: notionalMin,
    quoteCoin: 'USDT',
  }
}
