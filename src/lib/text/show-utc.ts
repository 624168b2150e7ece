/** `2026-11-29 21:19:06 UTC` */
export function showUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
