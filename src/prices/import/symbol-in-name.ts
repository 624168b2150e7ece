/** The instrument that a file's name says. */

/** freqtrade's: `BTC_USDT-5m.json`, of futures `BTC_USDT_USDT-1h-futures.json`. Not Binance's `BTCUSD_PERP-1m-2025-06.zip`. */
const PAIR = /^([A-Z0-9]+)_(?!PERP-)([A-Z]+)(?:_[A-Z]+)?-\d/

/** `BTCUSDT-1m-2025-01.zip`, `BTCUSDT2020-03-25.csv.gz`, `1000PEPEUSDT_15_2023-01-01.csv`, `C98USDT.csv`. */
const BEGINNING = /^(?=\d*[A-Z])([A-Z0-9]{2,}?)(?=[-_.]|\d{4}-\d\d|$)/

/** @param name Without its folder. @returns undefined where it does not begin with a symbol in capitals. */
export function symbolInName(name: string): string | undefined {
  const [, base, quote] = PAIR.exec(name) ?? []
  if (base !== undefined && quote !== undefined) return `${base}${quote}`
  return BEGINNING.exec(name)?.[1]
}
