import type { AccountView, ProfitView } from '../../control/views.ts'
import type { Money } from '../../domain/snapshot.ts'
import { moneyOf } from '../../engine/book/apply-fill.ts'
import { splitPair } from '../../engine/book/book.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../../lib/decimal.ts'
import type { ShownAccount } from '../account/shown-account.ts'

/** Digits after the point: as many as the wire has. */
const DIGITS = 8

interface Beside {
  readonly funding?: Decimal | undefined
  readonly unrealised?: Decimal | undefined
}

/** What an account has made. Unrealised profit and funding are the account's and an instrument's, not a strategy's. */
export function viewProfit(account: ShownAccount): AccountView['profit'] {
  const { book, settings, recent } = account
  const money = moneyOf(book)
  const { week } = recent
  const unrealised = new Map(
    [...settings.instruments.keys()].map((symbol) => [symbol, unrealisedOf(account, symbol)]),
  )
  const known = [...unrealised.values()]
  const isKnown = known.every((profit) => profit !== undefined)
  return {
    today: sumUp(recent.today.values(), { funding: recent.fundingToday }),
    week: sumUp([week.money], { funding: week.funding }),
    total: sumUp(money.values(), {
      funding: sumDecimals(book.funding.values()),
      unrealised: isKnown ? sumDecimals(known.map((profit) => profit ?? ZERO)) : undefined,
    }),
    strategies: groupBy(money, 0, [...settings.strategies.keys()], () => ({})),
    instruments: groupBy(money, 1, [...settings.instruments.keys()], (symbol) => ({
      funding: book.funding.get(symbol) ?? ZERO,
      unrealised: unrealised.get(symbol),
    })),
  }
}

/** Our own figure, as limits look at it; undefined while what is held, or its price, is not known. */
function unrealisedOf({ book, engine }: ShownAccount, symbol: string): Decimal | undefined {
  const { longLots, shortLots } = book.account.get(symbol) ?? { longLots: 0, shortLots: 0 }
  if (longLots === 0 && shortLots === 0) return ZERO
  const unrealised = engine.unrealisedOf(symbol)
  return Number.isNaN(unrealised) ? undefined : decimal(unrealised.toFixed(DIGITS))
}

function groupBy(
  money: ReadonlyMap<string, Money>,
  part: 0 | 1,
  names: readonly string[],
  besideOf: (name: string) => Beside,
): Record<string, ProfitView> {
  const entries = [...money]
  return Object.fromEntries(
    names.map((name) => {
      const own = entries.filter(([pair]) => splitPair(pair)[part] === name).map(([, entry]) => entry)
      return [name, sumUp(own, besideOf(name))]
    }),
  )
}

function sumUp(money: Iterable<Money>, { funding, unrealised }: Beside = {}): ProfitView {
  const entries = [...money]
  const realised = sumDecimals(entries.map(({ profit }) => profit))
  const fees = sumDecimals(entries.map((entry) => entry.fees))
  return {
    fills: entries.reduce((sum, { fills }) => sum + fills, 0),
    realised: realised.toString(),
    fees: fees.toString(),
    funding: funding?.toString() ?? null,
    unrealised: unrealised?.toString() ?? null,
    net: realised
      .minus(fees)
      .plus(funding ?? ZERO)
      .plus(unrealised ?? ZERO)
      .toString(),
  }
}
