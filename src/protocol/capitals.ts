import { isRecord } from '../lib/plain-data.ts'

/** The document lists these in upper case; its samples are in lower case too. */
const CAPITALISED: ReadonlySet<string> = new Set(['productType', 'symbol', 'settingType'])

/** Requests have no deeper objects than those in lists. */
export function withCapitals(
  parameters: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read = Object.entries(parameters).map(([name, value]): [string, unknown] => {
    if (Array.isArray(value)) {
      return [name, value.map((item: unknown) => (isRecord(item) ? withCapitals(item) : item))]
    }
    return [name, typeof value === 'string' && CAPITALISED.has(name) ? value.toUpperCase() : value]
  })
  return Object.fromEntries(read)
}
