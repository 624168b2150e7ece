import { moneySince } from '../../domain/fill-money.ts'
import { type MoneyFigures, toMoneyFigures } from '../../views/money-figures.ts'
import type { RunStatistics } from '../../views/run-statistics.ts'

const NAMES = ['ordersSent', 'cancelAlls', 'restrictions'] as const

export interface PeriodFigures
  extends Readonly<Record<(typeof NAMES)[number], number>>, MoneyFigures {}

type CountedFigures = Pick<RunStatistics, (typeof NAMES)[number] | 'money' | 'funding'>

export class StatisticsSince {
  readonly #statistics: RunStatistics
  #from: CountedFigures

  constructor(statistics: RunStatistics) {
    this.#statistics = statistics
    this.#from = copyOf(statistics)
  }

  read(): PeriodFigures {
    const [now, from] = [this.#statistics, this.#from]
    return {
      ordersSent: now.ordersSent - from.ordersSent,
      cancelAlls: now.cancelAlls - from.cancelAlls,
      restrictions: now.restrictions - from.restrictions,
      ...toMoneyFigures(moneySince(now.money, from.money), {
        funding: now.funding.minus(from.funding),
      }),
    }
  }

  restart(): void {
    this.#from = copyOf(this.#statistics)
  }
}

function copyOf({
  ordersSent,
  cancelAlls,
  restrictions,
  money,
  funding,
}: CountedFigures): CountedFigures {
  return { ordersSent, cancelAlls, restrictions, money, funding }
}
