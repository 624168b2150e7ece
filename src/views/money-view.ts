import type { AccountStatusView, ProfitView } from '../control/views.ts'
import { type Money, sumMoney } from '../domain/fill-money.ts'
import { type Book, splitPair, moneyByStrategy, moneyOf } from '../engine/book/book.ts'
import type { Engine } from '../engine/engine.ts'
import { type Decimal, decimal, sumDecimals, ZERO } from '../lib/decimal.ts'
import type { ShownAccount } from './shown-account.ts'
import { toAmount, toMoneyFigures } from './money-figures.ts'

const DIGITS = 8

interface UnbookedMoney {
  readonly funding?: Decimal | undefined
  readonly unrealised?: Decimal | undefined
}

type MoneyAccount = Pick<ShownAccount, 'book' | 'settings' | 'recent' | 'engine'>

export function viewProfit(account: MoneyAccount): AccountStatusView['profit'] {
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
    strategies: groupBy(moneyByStrategy(book), 0, [...settings.strategies.keys()], (id) => ({
      unrealised: unrealisedOfStrategy(account, id),
    })),
    instruments: groupBy(money, 1, [...settings.instruments.keys()], (symbol) => ({
      funding: book.funding.get(symbol) ?? ZERO,
      unrealised: unrealised.get(symbol),
    })),
  }
}

/** The account's, at the last prices; undefined while unknown. */
export function unrealisedOf(
  { book, engine }: { readonly book: Book; readonly engine: Pick<Engine, 'unrealisedOn'> },
  symbol: string,
): Decimal | undefined {
  const { longLots, shortLots } = book.account.get(symbol) ?? { longLots: 0, shortLots: 0 }
  if (longLots === 0 && shortLots === 0) return ZERO
  const unrealised = engine.unrealisedOn(symbol)
  return Number.isNaN(unrealised) ? undefined : decimal(unrealised.toFixed(DIGITS))
}

function unrealisedOfStrategy({ engine }: MoneyAccount, id: string): Decimal | undefined {
  const unrealised = engine.unrealisedOf(id)
  return unrealised === undefined ? undefined : toAmount(unrealised)
}

function groupBy(
  money: ReadonlyMap<string, Money>,
  part: 0 | 1,
  names: readonly string[],
  besideOf: (name: string) => UnbookedMoney,
): Record<string, ProfitView> {
  const entries = [...money]
  return Object.fromEntries(
    names.map((name) => {
      const own = entries
        .filter(([pair]) => splitPair(pair)[part] === name)
        .map(([, entry]) => entry)
      return [name, sumUp(own, besideOf(name))]
    }),
  )
}

function sumUp(money: Iterable<Money>, beside: UnbookedMoney = {}): ProfitView {
  const figures = toMoneyFigures(sumMoney(money), beside)
  const { fills, net, netWithUnrealised, realisedProfit, fees, funding } = figures
  const { unrealisedProfit, uncounted } = figures
  return {
    fills,
    net,
    netWithUnrealised: netWithUnrealised ?? null,
    realised: realisedProfit,
    fees,
    funding: funding ?? null,
    unrealised: unrealisedProfit ?? null,
    uncounted: uncounted ?? null,
  }
}
