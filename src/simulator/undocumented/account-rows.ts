import { z } from 'zod'
import { textOrNull } from '../../protocol/answer-values.ts'
import { position } from '../../protocol/futures/single-position.ts'
import { productType, symbol } from '../../protocol/values.ts'
import { setFuturesLeverage, setFuturesMarginMode, setFuturesPositionMode } from './futures/account-modes.ts'
import { futuresAccount, futuresAccounts, futuresAllPositions } from './futures/futures-account.ts'
import { changeColumns, readColumns, textRow, undocumented } from './undocumented-row.ts'

const settingsLimit = { calls: 5, perMs: 1000, scope: 'uid' } as const
/** Samples of these endpoints also write it in lower case. */
const anyMarginCoin = z.string().regex(/^[A-Za-z0-9]{2,20}$/, 'a margin coin such as USDT')
const namedSymbol = { symbol, productType, marginCoin: anyMarginCoin }

const text = textOrNull
const exits = { takeProfit: text, stopLoss: text, takeProfitId: text, stopLossId: text }

/** Reads and settings of the futures account outside the document. */
export const accountRows = {
  account: undocumented({
    ...readColumns,
    path: '/api/v2/mix/account/account',
    request: z.looseObject(namedSymbol),
    response: textRow('marginCoin'),
    answer: futuresAccount,
  }),
  accounts: undocumented({
    ...readColumns,
    path: '/api/v2/mix/account/accounts',
    request: z.looseObject({ productType }),
    response: z.array(
      z.looseObject({ marginCoin: z.string(), assetList: z.array(textRow('coin')).nullish() }),
    ),
    answer: futuresAccounts,
  }),
  allPositions: undocumented({
    ...readColumns,
    path: '/api/v2/mix/position/all-position',
    limit: settingsLimit,
    request: z.looseObject({ productType, marginCoin: anyMarginCoin.optional() }),
    response: z.array(position.extend(exits)),
    answer: futuresAllPositions,
  }),
  setLeverage: undocumented({
    ...changeColumns,
    limit: settingsLimit,
    path: '/api/v2/mix/account/set-leverage',
    request: z.looseObject({
      ...namedSymbol,
      leverage: z.string().optional(),
      longLeverage: z.string().optional(),
      shortLeverage: z.string().optional(),
      holdSide: z.enum(['long', 'short']).optional(),
    }),
    response: textRow('symbol'),
    answer: setFuturesLeverage,
  }),
  setMarginMode: undocumented({
    ...changeColumns,
    limit: settingsLimit,
    path: '/api/v2/mix/account/set-margin-mode',
    request: z.looseObject({ ...namedSymbol, marginMode: z.enum(['isolated', 'crossed']) }),
    response: textRow('symbol'),
    answer: setFuturesMarginMode,
  }),
  setPositionMode: undocumented({
    ...changeColumns,
    limit: settingsLimit,
    path: '/api/v2/mix/account/set-position-mode',
    request: z.looseObject({ productType, posMode: z.enum(['one_way_mode', 'hedge_mode']) }),
    response: textRow('posMode'),
    answer: setFuturesPositionMode,
  }),
}
