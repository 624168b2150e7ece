import { MARGIN_SYMBOLS, type MarginSymbol } from '../margin/margin-symbols.ts'

/** The pairs that can be traded on margin. Facts of the real listing; `maxTradeAmount` 0 is no maximum there. */
export function marginCurrencyRows() {
  return MARGIN_SYMBOLS.map(toRow)
}

function toRow(row: MarginSymbol) {
  return {
    symbol: row.symbol,
    baseCoin: row.baseCoin,
    quoteCoin: row.quoteCoin,
    maxCrossedLeverage: row.crossedLeverageMax.toString(),
    maxIsolatedLeverage: row.isolatedLeverageMax.toString(),
    warningRiskRatio: '0.8',
    liquidationRiskRatio: '1',
    minTradeAmount: row.baseMin.toString(),
    maxTradeAmount: '0',
    takerFeeRate: row.feeRate.toString(),
    makerFeeRate: row.feeRate.toString(),
    pricePrecision: String(row.pricePlaces),
    quantityPrecision: String(row.quantityPlaces),
    minTradeUSDT: row.notionalMin.toString(),
    isBorrowable: true,
    userMinBorrow: '1',
    status: '1',
    isIsolatedBaseBorrowable: true,
    isIsolatedQuoteBorrowable: true,
    isCrossBorrowable: true,
  }
}
