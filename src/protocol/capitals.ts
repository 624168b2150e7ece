import { isRecord } from '../lib/is-record.ts'

/** Parameters that the document lists in capitals and its samples also write in lower case. */
const CAPITALISED: ReadonlySet<string> = new Set(['productType', 'symbol', 'settingType'])

/**
 * Parameters off the wire or out of a person's hands, with what samples write in lower case put in capitals:
 * at the top and in the objects of lists, which is as deep as requests go.
 */
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
