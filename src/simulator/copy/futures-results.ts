import { sumDecimals, ZERO } from '../../lib/decimal.ts'
import { accountOf, coinOf, symbolOf, type CoreState } from '../futures/core-state.ts'
import { unrealised } from '../futures/positions/position.ts'

const COIN = 'USDT'

export type FuturesResults = Readonly<ReturnType<typeof futuresResults>>

export function futuresResults(state: CoreState, uid: string, afterTrade: number) {
  const account = accountOf(state, uid)
  const { balance, realisedProfit, fees, funding, insurance } = coinOf(account, COIN)
  const open = [...account.positions.values()].flatMap((position) => {
    const { instrument, markTicks } = symbolOf(state, position.symbol)
    return instrument.marginCoin === COIN ? [unrealised(instrument, position, markTicks)] : []
  })
  let gains = 0
  let losses = 0
  let lastTrade = afterTrade
  for (let index = account.fills.length - 1; index >= 0; index--) {
    const fill = account.fills[index]
    if (fill === undefined || fill.sequence <= afterTrade) break
    lastTrade = Math.max(lastTrade, fill.sequence)
    if (fill.profit.gt(ZERO)) gains++
    else if (fill.profit.lt(ZERO)) losses++
  }
  return {
    profit: realisedProfit.minus(fees).plus(funding).plus(insurance),
    equity: balance.plus(sumDecimals(open)),
    gains,
    losses,
    lastTrade,
  }
}
