const PERCENT = /^(\d{1,3}(?:\.\d{1,4})?) ?%$/

/**
 * A number without % could be a size.
 * @returns percent, 100 for an empty text, or why it is no share
 */
export function readShare(given: string): number | string {
  if (given === '') return 100
  const percent = Number(PERCENT.exec(given)?.[1])
  if (percent > 0 && percent <= 100) return percent
  return `${given} is no share: write it with %, such as 50 %, above 0 and at most 100; a size is not taken here`
}
