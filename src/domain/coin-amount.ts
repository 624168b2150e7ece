/** Coins worth about one unit of money, the exchange's demo coins included. */
const MONEY = /^S?USD[A-Z]?$|^(?:EUR|GBP|AUD|CHF|CAD|BRL|DAI|FDUSD|TUSD)$/

/** As on the wire, because a hundredth of a bitcoin is a lot of money. */
const COIN_DIGITS = 8
const MONEY_DIGITS = 2

export function coinDigits(coin: string): number {
  return MONEY.test(coin) ? MONEY_DIGITS : COIN_DIGITS
}

/** An amount that rounds to zero has no sign. */
export function showCoin(amount: number, coin: string): string {
  return groupThousands(toCoinText(amount, coin))
}

/** For programs that read log lines: `1234.50`. */
export function toCoinText(amount: number, coin: string): string {
  const text = amount.toFixed(coinDigits(coin))
  return Number(text) === 0 ? text.replace('-', '') : text
}

/** @param text a decimal */
export function groupThousands(text: string): string {
  const [whole = '', ...rest] = text.split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...rest].join('.')
}
