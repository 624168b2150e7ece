import { describe, expect, it } from 'vitest'
import { readInstrumentName } from '../../src/prices/instrument-name.ts'

/** Each name as its vendor writes it, with the symbol, its market where the name says it, and its exchange. */
const CERTAIN: readonly [
  name: string,
  symbol: string,
  market?: 'spot' | 'futures' | undefined,
  exchange?: string,
][] = [
  // Binance
  ['BTCUSDT-1m-2025-01.zip', 'BTCUSDT'],
  ['BTCUSDT-1m-2025-01-31.csv', 'BTCUSDT'],
  ['BTCUSDT-trades-2025-06-01.zip', 'BTCUSDT'],
  ['BTCUSDT-aggTrades-2025-06.zip', 'BTCUSDT'],
  ['BTCUSDT-fundingRate-2025-06.zip', 'BTCUSDT'],
  ['BTCUSD_PERP-1m-2025-06.zip', 'BTCUSD', 'futures'],
  ['BTCUSDTPERP_BINANCE_1m.csv', 'BTCUSDT', undefined, 'binance'],
  ['tBTCUSD-1m.csv', 'BTCUSD'],
  ['tETHUSD-1m.csv', 'ETHUSD'],
  ['BTCUSDT_250627-1m-2025-06.zip', 'BTCUSDT_250627', 'futures'],
  ['BTCUSD_250926-trades-2025-06-01.csv', 'BTCUSD_250926', 'futures'],
  ['1000PEPEUSDT-1m.csv', '1000PEPEUSDT'],
  ['1INCHUSDT-5m-2024-02.zip', '1INCHUSDT'],
  ['C98USDT-1m.csv', 'C98USDT'],
  ['ETHBTC-1h-2025-06.zip', 'ETHBTC'],
  ['BTCFDUSD-1m-2025-06.zip', 'BTCFDUSD'],
  ['USDCUSDT-1d-2025.csv', 'USDCUSDT'],
  ['BTCTRY-1m-2025-06.zip', 'BTCTRY'],
  // Bybit
  ['BTCUSDT2020-03-25.csv.gz', 'BTCUSDT'],
  ['BTCUSD2025-06-02.csv.gz', 'BTCUSD'],
  ['BTCUSDM252025-06-02.csv.gz', 'BTCUSDM25'],
  ['BTCUSDZ252025-06-02.csv.gz', 'BTCUSDZ25'],
  ['BTCUSDT-27JUN252025-06-02.csv.gz', 'BTCUSDT_27JUN25', 'futures'],
  ['BTCPERP2025-06-02.csv.gz', 'BTCPERP'],
  ['BTCUSDT_15_2023-01-01_2023-01-31.csv.gz', 'BTCUSDT'],
  ['BTCUSDT_2022-11-10.csv.gz', 'BTCUSDT'],
  ['1000BONKUSDT2024-01-05.csv.gz', '1000BONKUSDT'],
  // OKX
  ['BTC-USDT-trades-2025-06-01.zip', 'BTCUSDT'],
  ['BTC-USDT-SWAP-trades-2025-06-01.zip', 'BTCUSDT', 'futures'],
  ['BTC-USD-SWAP-candlesticks-2025-06-01.zip', 'BTCUSD', 'futures'],
  ['BTC-USDT-250627-trades-2025-06-01.zip', 'BTCUSDT_250627', 'futures'],
  ['BTC-USDT-candlesticks-2025-06.zip', 'BTCUSDT'],
  ['ETH-BTC-trades-2025-06-01.csv', 'ETHBTC'],
  // Kraken
  ['XBTUSD_1.csv', 'XBTUSD'],
  ['XBTUSDT_1440.csv', 'XBTUSDT'],
  ['ETHEUR_60.csv', 'ETHEUR'],
  ['ETHUSD.csv', 'ETHUSD'],
  ['PI_XBTUSD.csv', 'XBTUSD'],
  // Coinbase
  ['BTC-USD.csv', 'BTCUSD'],
  ['ETH-USD_1min_2025.csv', 'ETHUSD'],
  ['Coinbase_BTCUSD_1h.csv', 'BTCUSD', undefined, 'coinbase'],
  ['coinbase-BTC-EUR-5m.csv', 'BTCEUR', undefined, 'coinbase'],
  // cryptodatadownload
  ['Bitstamp_BTCUSD_d.csv', 'BTCUSD', undefined, 'bitstamp'],
  ['Bitstamp_BTCUSD_2023_minute.csv', 'BTCUSD', undefined, 'bitstamp'],
  ['Binance_ETHUSDT_1h.csv', 'ETHUSDT', undefined, 'binance'],
  ['Binance_1INCHUSDT_d.csv', '1INCHUSDT', undefined, 'binance'],
  ['gemini_BTCUSD_2020_1min.csv', 'BTCUSD', undefined, 'gemini'],
  ['Poloniex_ETHBTC_1h.csv', 'ETHBTC', undefined, 'poloniex'],
  ['Bitfinex_EOSUSD_minute.csv', 'EOSUSD', undefined, 'bitfinex'],
  // TradingView
  ['BINANCE_BTCUSDT, 1.csv', 'BTCUSDT', undefined, 'binance'],
  ['BINANCE_BTCUSDT.P, 1.csv', 'BTCUSDT', 'futures', 'binance'],
  ['BYBIT_ETHUSDT.P, 60_a1b2c.csv', 'ETHUSDT', 'futures', 'bybit'],
  ['COINBASE_BTCUSD, 1D.csv', 'BTCUSD', undefined, 'coinbase'],
  ['BITSTAMP_BTCUSD, 240 (1).csv', 'BTCUSD', undefined, 'bitstamp'],
  ['CRYPTO_BTCUSD, 1W.csv', 'BTCUSD'],
  ['OANDA_EURUSD, 5.csv', 'EURUSD', undefined, 'oanda'],
  // Tardis
  ['binance-futures_trades_2025-06-01_BTCUSDT.csv.gz', 'BTCUSDT', 'futures', 'binance'],
  ['binance_quotes_2025-06-01_ETHUSDT.csv.gz', 'ETHUSDT', undefined, 'binance'],
  ['okex-swap_trades_2025-06-01_BTC-USDT-SWAP.csv.gz', 'BTCUSDT', 'futures', 'okx'],
  ['bitmex_trades_2020-04-01_XBTUSD.csv.gz', 'XBTUSD', undefined, 'bitmex'],
  ['coinbase_trades_2025-06-01_BTC-USD.csv.gz', 'BTCUSD', undefined, 'coinbase'],
  [
    'binance-delivery_trades_2021-03-01_BTCUSDT_210625.csv.gz',
    'BTCUSDT_210625',
    'futures',
    'binance',
  ],
  // Kaiko
  ['Coinbase_BTCUSD_trades_2019_03_01.csv.gz', 'BTCUSD', undefined, 'coinbase'],
  ['bfnx_btcusd_trades_2019_03.csv.gz', 'BTCUSD', undefined, 'bitfinex'],
  ['binc_btc-usdt_ohlcv_1m_2025_06.csv.gz', 'BTCUSDT', undefined, 'binance'],
  ['krkn_eth-eur_trades.csv', 'ETHEUR', undefined, 'kraken'],
  // MetaTrader
  ['BTCUSD_M1_202501010000_202506010000.csv', 'BTCUSD'],
  ['EURUSD_H1.csv', 'EURUSD'],
  ['ETHUSD_Daily_201701010000_202501010000.csv', 'ETHUSD'],
  // yfinance
  ['ETH-EUR.csv', 'ETHEUR'],
  ['SOL-USD_1d_max.csv', 'SOLUSD'],
  // freqtrade
  ['BTC_USDT-5m.json', 'BTCUSDT'],
  ['BTC_USDT-5m.feather', 'BTCUSDT'],
  ['BTC_USDT_USDT-1h-futures.json', 'BTCUSDT', 'futures'],
  ['BTC_USDT_USDT-8h-funding_rate.feather', 'BTCUSDT', 'futures'],
  ['BTC_USD_BTC-1h-futures.feather', 'BTCUSD', 'futures'],
  ['ETH_BTC-1d.json.gz', 'ETHBTC'],
  ['1000SHIB_USDT_USDT-1h-futures.json', '1000SHIBUSDT', 'futures'],
  ['WBTC_USDT-1h.json', 'WBTCUSDT'],
  // others
  ['BTC_USDT.csv', 'BTCUSDT'],
  ['ETH-USDT-1h.csv', 'ETHUSDT'],
  ['ETH-EUR-1h.csv', 'ETHEUR'],
  ['BTCUSDT_UMCBL-1m.csv', 'BTCUSDT', 'futures'],
  ['BTCUSDT_SPBL_1min.csv', 'BTCUSDT', 'spot'],
  ['BTCUSDT-perp-1m-2025-05-29_06-19.csv.gz', 'BTCUSDT', 'futures'],
  ['BTCUSDT-spot-ticks-100ms-2024-08-08_10min.csv.gz', 'BTCUSDT', 'spot'],
  ['BTCUSDT-futures-1m.prices', 'BTCUSDT', 'futures'],
  ['btcusdt.csv', 'BTCUSDT'],
  ['btc-usd-1h.csv', 'BTCUSD'],
  ['BTCUSDT_202506.csv', 'BTCUSDT'],
  ['BTCUSDT_20250601.csv', 'BTCUSDT'],
  // cells of columns
  ['BTC/USDT', 'BTCUSDT'],
  ['BTC/USDT:USDT', 'BTCUSDT', 'futures'],
  ['BTC-USDT-SWAP', 'BTCUSDT', 'futures'],
  ['SOLUSDT', 'SOLUSDT'],
  ['XBT/USD', 'XBTUSD'],
]

const UNCLEAR: readonly [name: string, why: RegExp][] = [
  ['prices.csv', /no pair/],
  ['2025-01.csv', /no pair/],
  ['BTC.csv', /BTC without/],
  ['hyperliquid_BTC_1m.csv', /BTC without/],
  ['BTC-PERPETUAL.csv', /BTC without/],
  ['deribit_trades_2020-04-01_BTC-27JUN25.csv.gz', /BTC without/],
  ['deribit_trades_2020-04-01_PERPETUALS.csv.gz', /no pair/],
  ['CRYPTOCAP_TOTAL, 1D.csv', /no pair/],
  ['CME_BTC1!, 1D.csv', /no pair/],
  ['glbx-mdp3-20250601.ohlcv-1m.csv', /no pair/],
  ['bitstampUSD.csv.gz', /no pair/],
  ['krakenEUR.csv', /no pair/],
  ['AUGUST.csv', /no pair/],
  ['trades-usdt.csv', /no pair/],
  ['MY-DATA-USDT.csv', /USDT without/],
  ['backup-usd.csv', /no pair/],
  ['BTCUSDT-ETHUSDT-1m.csv', /BTCUSDT and ETHUSDT/],
  ['BTC-USDT-ETH.csv', /BTCUSDT and ETH/],
  ['BTCUSDT_250601.csv', /250601 may be the date of the file/],
  ['BTCUSDM15.csv', /no pair/],
  ['BTCUSD60.csv', /no pair/],
  ['FDUSD.csv', /FDUSD without/],
  ['allswap-fundingrates-2025-06-01.csv', /no pair/],
  ['x', /no pair/],
  ['', /no pair/],
]

describe('the instrument in a name', () => {
  it.each(CERTAIN)('%s is %s', (name, symbol, market, exchange) => {
    expect(readInstrumentName(name)).toEqual({
      symbol,
      ...(market && { market }),
      ...(exchange && { exchange }),
      countsContracts: /BTCUSD_(PERP|\d{6}-)|-SWAP/.test(name),
    })
  })

  it.each(UNCLEAR)('%s has none that is certain', (name, why) => {
    const found = readInstrumentName(name)

    expect(found.symbol).toBeUndefined()
    expect(found.why).toMatch(why)
  })
})
