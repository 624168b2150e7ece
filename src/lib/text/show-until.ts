import { showUtc } from './show-utc.ts'

const DAY_MS = 86_400_000

/** `21:16 UTC` within a day, else `2026-11-30 21:16:00 UTC`. */
export function showUntil(at: number, now: number): string {
  if (Math.abs(at - now) >= DAY_MS) return showUtc(at)
  return `${new Date(at).toISOString().slice(11, 16)} UTC`
}
