import { accountHoldingOf } from '../../src/engine/book/book.ts'
import { netLots } from '../../src/domain/position.ts'
import { compareMoney } from '../support/invariants/book-comparison.ts'
import { type SoakAccount } from './soak-account.ts'

/** What our book and the exchange's say differently, once a run has ended: nothing, or each in a sentence. */
export function compareLedger({
  book,
  exchange,
}: Pick<SoakAccount, 'book' | 'exchange'>): readonly string[] {
  const fills = [...book.money.values()].reduce((sum, money) => sum + money.fills, 0)
  const open = [...book.open.values()].flatMap((orders) => [...orders.keys()].map(String))
  const resting = exchange.restingOids
  return [
    ...compareMoney(book, exchange.ledger.money),
    ...(fills === exchange.counts.fills ? [] : [`${fills} fills, there ${exchange.counts.fills}`]),
    ...open.filter((name) => !resting.includes(name)).map((name) => `${name} is open here alone`),
    ...resting.filter((name) => !open.includes(name)).map((name) => `${name} rests there alone`),
    ...[...book.account.keys()].flatMap((symbol) => {
      const [here, there] = [
        netLots(accountHoldingOf(book, symbol)),
        exchange.ledger.holdingOf(symbol).lots,
      ]
      return here === there ? [] : [`${symbol}: ${here} lots here, ${there} there`]
    }),
    ...[...book.restrictions.values()].map(({ scope, reason }) => `${scope} is held: ${reason}`),
  ]
}
