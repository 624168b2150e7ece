const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** `21 d 6 h` */
export function showDuration(ms: number): string {
  const first = UNITS.findIndex(([unit]) => ms >= unit)
  if (first < 0) return `${Math.round(ms)} ms`
  const [unit, name] = UNITS[first] ?? [1, 'ms']
  const [nextUnit, nextName] = UNITS[first + 1] ?? [1, 'ms']
  const rest = Math.floor((ms % unit) / nextUnit)
  return `${Math.floor(ms / unit)} ${name}${rest > 0 && first < UNITS.length - 1 ? ` ${rest} ${nextName}` : ''}`
}
