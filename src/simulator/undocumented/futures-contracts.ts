import { type CoreState, type SymbolState } from '../core/core-state.ts'
import { deliveryStatus } from '../core/delivery.ts'
import { sizeText } from '../core/instruments.ts'
import { accept } from '../core/reply.ts'

/** What may be traded, and by which rules. A contract that was delivered has left the list. */
export function futuresContracts(
  state: CoreState,
  { productType, symbol }: { readonly productType: string; readonly symbol?: string | undefined },
) {
  const listed = [...state.symbols.values()].filter(
    ({ instrument, isSettled }) =>
      instrument.productType === productType &&
      !isSettled &&
      (symbol === undefined || instrument.symbol === symbol),
  )
  return accept(listed.map((entry) => toContract(state, entry)))
}

function toContract({ settings, clock }: CoreState, { instrument }: SymbolState) {
  const { delivery, priceGrid, sizeGrid, priceLimitRatio } = instrument
  return {
    symbol: instrument.symbol,
    baseCoin: instrument.baseCoin,
    quoteCoin: instrument.quoteCoin,
    buyLimitPriceRatio: String(priceLimitRatio),
    sellLimitPriceRatio: String(priceLimitRatio),
    feeRateUpRatio: '0.005',
    makerFeeRate: settings.makerFeeRate,
    takerFeeRate: settings.takerFeeRate,
    openCostUpRatio: '0.01',
    supportMarginCoins: [instrument.marginCoin],
    minTradeNum: sizeText(instrument, instrument.lotsMin),
    // The tick is priceEndStep x 10^-pricePlace.
    priceEndStep: String(priceGrid.units),
    volumePlace: String(sizeGrid.decimals),
    pricePlace: String(priceGrid.decimals),
    sizeMultiplier: sizeGrid.step,
    symbolType: delivery === undefined ? 'perpetual' : 'delivery',
    minTradeUSDT: instrument.notionalMin,
    maxSymbolOrderNum: String(instrument.symbolOrdersMax),
    maxProductOrderNum: String(instrument.productOrdersMax),
    maxPositionNum: '150',
    symbolStatus: SYMBOL_STATUS[deliveryStatus(instrument, clock.now)],
    offTime: '-1',
    limitOpenTime: '-1',
    deliveryTime: delivery === undefined ? '' : String(delivery.deliveryAt),
    deliveryStartTime: delivery === undefined ? '' : String(delivery.listedAt),
    deliveryPeriod: delivery === undefined ? '' : 'this_quarter',
    launchTime: '',
    fundInterval: delivery === undefined ? '8' : '',
    minLever: '1',
    maxLever: String(instrument.leverageMax),
    posLimit: '0.05',
    maintainTime: '',
    maxMarketOrderQty: sizeText(instrument, instrument.marketLotsMax),
    maxOrderQty: sizeText(instrument, instrument.limitLotsMax),
    isRwa: 'NO',
  }
}

const SYMBOL_STATUS = {
  delivery_config_period: 'listed',
  delivery_normal: 'normal',
  delivery_before: 'limit_open',
  delivery_period: 'maintain',
} as const
