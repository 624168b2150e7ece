/** The middle one and the longest, as text. */
export function middleAndLast(times: readonly number[]): readonly string[] {
  const sorted = times.toSorted((one, other) => one - other)
  return [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value) => inSeconds(value))
}

export function inSeconds(ms: number | undefined): string {
  if (ms === undefined) return '       -'
  return `${(ms / 1000).toFixed(1).padStart(6)} s`
}
