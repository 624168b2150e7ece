/**
 * Coins whose unit is worth about one unit of money, including the coins of the exchange's demo.
 */
const MONEY = /^S?USD[A-Z]?$|^(?:EUR|GBP|AUD|CHF|CAD|BRL|DAI|FDUSD|TUSD)$/

/** As many digits as the wire has: a hundredth of a bitcoin is a lot of money. */
const COIN_DIGITS = 8
const MONEY_DIGITS = 2

/** How many decimals of an amount of the coin are shown. */
export function coinDigits(coin: string): number {
  return MONEY.test(coin) ? MONEY_DIGITS : COIN_DIGITS
}

/** An amount of the coin, for display. An amount that rounds to zero has no sign. */
export function showCoin(amount: number, coin: string): string {
  const text = amount.toFixed(coinDigits(coin))
  return Number(text) === 0 ? text.replace('-', '') : text
}
