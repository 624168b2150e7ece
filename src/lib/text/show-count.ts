/** `1 fill`, `2 fills`. */
export function showCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
