/** `npm test` runs a share of what takes long; `npm run test:whole` runs all of it. */
export const IS_WHOLE = process.env['TEST_SHARE'] === 'whole'

/** Every n-th of them, from the first on; all of them in `npm run test:whole`. */
export function shareOf<T>(whole: readonly T[], nth: number): readonly T[] {
  return IS_WHOLE ? whole : whole.filter((_, index) => index % nth === 0)
}
