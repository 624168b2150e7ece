import type { Envelope } from '../../protocol/envelope.ts'

/** What the runtime has, and the types of es2024 have not: a number's own text. */
interface ExactJson {
  parse(
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

const exact = JSON as unknown as ExactJson

/**
 * The `data` of an envelope as JSON in one line: every field, known or not, and every number digit for digit
 * as it came. An answer without data is `null`.
 */
export function dataText(envelopeJson: string): string {
  const read = exact.parse(envelopeJson, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exact.rawJSON(source) : value,
  ) as Envelope
  return JSON.stringify(read.data ?? null)
}
