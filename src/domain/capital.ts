export type Capital =
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'amount'; /** Margin coin. */ readonly amount: number }

/** `40 %` of the equity, or `4000` of the margin coin; undefined for another text. */
export function parseCapital(text: string): Capital | undefined {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?) ?(%)?$/.exec(text) ?? []
  const value = Number(number)
  if (!(value > 0)) return undefined
  return percent === undefined
    ? { kind: 'amount', amount: value }
    : { kind: 'share', share: value / 100 }
}

/** Margin coin; NaN while the equity is unknown. */
export function capitalAt(capital: Capital, equity: number | undefined): number {
  return capital.kind === 'amount' ? capital.amount : capital.share * (equity ?? Number.NaN)
}
