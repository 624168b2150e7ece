import type { RunStatistics } from './run-statistics.ts'

const NAMES = ['ordersSent', 'cancelAlls', 'fills', 'restrictions'] as const

/** What a run did since a moment. Money in decimal strings of the margin coin. */
export interface PeriodFigures extends Readonly<Record<(typeof NAMES)[number], number>> {
  readonly fees: string
  readonly realisedProfit: string
}

type Counted = Pick<RunStatistics, (typeof NAMES)[number] | 'fees' | 'profit'>

/** What the statistics of the run have counted since the start, or the last {@link restart}. */
export class StatisticsSince {
  readonly #statistics: RunStatistics
  #from: Counted

  constructor(statistics: RunStatistics) {
    this.#statistics = statistics
    this.#from = copyOf(statistics)
  }

  read(): PeriodFigures {
    const [now, from] = [this.#statistics, this.#from]
    return {
      ordersSent: now.ordersSent - from.ordersSent,
      cancelAlls: now.cancelAlls - from.cancelAlls,
      fills: now.fills - from.fills,
      restrictions: now.restrictions - from.restrictions,
      fees: now.fees.minus(from.fees).toString(),
      realisedProfit: now.profit.minus(from.profit).toString(),
    }
  }

  restart(): void {
    this.#from = copyOf(this.#statistics)
  }
}

function copyOf({ ordersSent, cancelAlls, fills, restrictions, fees, profit }: Counted): Counted {
  return { ordersSent, cancelAlls, fills, restrictions, fees, profit }
}
