import { cleanLine } from './clean-text.ts'

/** A spreadsheet takes such a cell for a formula. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** RFC 4180, on one line. */
export function toCsvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const line = cleanLine(value)
  const text = FORMULA.test(line) && !NUMBER.test(line) ? `'${line}` : line
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
