/** Coins of which one is about a unit of money, those of the exchange's demo included. */
const MONEY = /^S?USD[A-Z]?$|^(?:EUR|GBP|AUD|CHF|CAD|BRL|DAI|FDUSD|TUSD)$/

/** As many as the wire has: a hundredth of a bitcoin is a lot of money. */
const COIN_DIGITS = 8
const MONEY_DIGITS = 2

/** How many digits of an amount of the coin people are shown behind the point. */
export function coinDigits(coin: string): number {
  return MONEY.test(coin) ? MONEY_DIGITS : COIN_DIGITS
}

/** An amount of the coin, for people. What rounds to nothing has no sign. */
export function showCoin(amount: number, coin: string): string {
  const text = amount.toFixed(coinDigits(coin))
  return Number(text) === 0 ? text.replace('-', '') : text
}
