/** @param before highest value before the first, if known */
export function drawdownsOf(values, before = Number.NEGATIVE_INFINITY) {
  let peak = before
  return values.map((value) => {
    if (value === null) return null
    peak = Math.max(peak, value)
    return value - peak
  })
}

/**
 * The peak before the curve, as a gain. Deposits and withdrawals move the equity and not the gain.
 * @returns undefined if it is not known
 */
export function gainAtPeak({ equity, netWithUnrealised: gains, peak }) {
  const first = equity.findIndex((value, index) => value !== null && gains[index] !== null)
  return peak === null || first < 0 ? undefined : gains[first] + Math.max(0, peak - equity[first])
}
