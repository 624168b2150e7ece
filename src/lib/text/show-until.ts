const DAY_MS = 86_400_000

/** `2026-11-30 21:16 UTC`, or `21:16 UTC` if it is less than a day from now. Unix ms. */
export function showUntil(at: number, now = Number.NaN): string {
  const text = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return `${Math.abs(at - now) < DAY_MS ? text.slice(11) : text} UTC`
}
