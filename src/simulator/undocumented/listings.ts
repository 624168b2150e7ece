import { type CoreState, type SymbolState } from '../futures/core-state.ts'
import { deliveryStatus } from '../futures/instruments/delivery.ts'
import { sizeText } from '../futures/instruments/instruments.ts'
import { accept } from '../shared/reply.ts'
import { MARGIN_SYMBOLS, type MarginSymbol } from '../margin/margin-symbols.ts'
import { COINS, type Coin } from '../spot/coins.ts'

/** What may be traded, and by which rules. A contract that was delivered has left the list. */
export function futuresContracts(
  state: CoreState,
  _: unknown,
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

/** What of a chain the services have no use for. Facts of the real list of coins. */
interface ChainFacts {
  readonly depositConfirm: string
  readonly withdrawConfirm: string
  readonly minDepositAmount: string
  readonly browserUrl: string
  readonly contractAddress: string | null
}

const COIN_IDS: Readonly<Record<string, string>> = { BTC: '1', USDT: '2', ETH: '3' }

/** By coin and chain; a pair that is not here shows {@link OTHER_CHAIN}. */
const CHAIN_FACTS: Readonly<Record<string, ChainFacts>> = {
  'USDT TRC20': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.01',
    browserUrl: 'https://tronscan.org/#/transaction/',
    contractAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  },
  'USDT ERC20': {
    depositConfirm: '12',
    withdrawConfirm: '64',
    minDepositAmount: '0.01',
    browserUrl: 'https://etherscan.io/tx/',
    contractAddress: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  },
  'BTC BTC': {
    depositConfirm: '1',
    withdrawConfirm: '1',
    minDepositAmount: '0.00001',
    browserUrl: 'https://www.blockchain.com/explorer/transactions/btc/',
    contractAddress: null,
  },
}

const OTHER_CHAIN: ChainFacts = {
  depositConfirm: '12',
  withdrawConfirm: '64',
  minDepositAmount: '0.0001',
  browserUrl: 'https://etherscan.io/tx/',
  contractAddress: null,
}

/** The coins that the spot service can withdraw, or the one that is asked for. */
export function coinInformation(asked: string | undefined) {
  return COINS.filter(({ coin }) => asked === undefined || coin === asked.toUpperCase()).map(toCoin)
}

function toCoin({ coin, chains }: Coin, index: number) {
  return {
    coinId: COIN_IDS[coin] ?? String(1000 + index),
    coin,
    transfer: 'true',
    chains: chains.map(({ chain, withdrawFee, minWithdrawAmount, withdrawMinScale }) => ({
      chain,
      needTag: 'false',
      withdrawable: 'true',
      rechargeable: 'true',
      withdrawFee,
      extraWithdrawFee: '0',
      minWithdrawAmount,
      withdrawMinScale: String(withdrawMinScale),
      withdrawStep: '0',
      congestion: 'normal',
      ...(CHAIN_FACTS[`${coin} ${chain}`] ?? OTHER_CHAIN),
    })),
  }
}

/** The pairs that can be traded on margin. Facts of the real listing; `maxTradeAmount` 0 is no maximum there. */
export function marginCurrencyRows() {
  return MARGIN_SYMBOLS.map(toCurrency)
}

function toCurrency(row: MarginSymbol) {
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
