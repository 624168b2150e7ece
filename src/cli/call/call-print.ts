import { cleanLine } from '../../lib/text/clean-text.ts'
import { isRecord } from '../../lib/plain-data.ts'

const WIDTH_MAX = 110
const INDENT = '  '

const INSTANT_NAME = /(?:^|[a-z])[Tt]ime$|^ts$/
const INSTANT = /^1\d{12}$/

export function formatData(data: unknown): string {
  return formatValue(data, '').join('\n')
}

function formatValue(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return formatList(value, indent)
  if (isRecord(value)) return formatRecord(value, indent)
  return [`${indent}${toText(value)}`]
}

function formatList(list: readonly unknown[], indent: string): string[] {
  if (list.length === 0) return [`${indent}(none)`]
  if (!list.every(isRecord)) return list.flatMap((item) => formatValue(item, indent))
  const table = formatTable(list)
  if (table !== undefined) return table.map((line) => `${indent}${line}`.trimEnd())
  return list.flatMap((item, index) => [
    `${indent}${index + 1} of ${list.length}`,
    ...formatRecord(item, indent + INDENT),
  ])
}

function formatTable(rows: readonly Readonly<Record<string, unknown>>[]): string[] | undefined {
  const names = [
    ...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== undefined))),
  ]
  if (
    rows.some((row) => names.some((name) => typeof row[name] === 'object' && row[name] !== null))
  ) {
    return undefined
  }
  const cells = [names, ...rows.map((row) => names.map((name) => toCell(name, row[name])))]
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  if (widths.reduce((sum, width) => sum + width + 2, 0) > WIDTH_MAX) return undefined
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

function formatRecord(record: Readonly<Record<string, unknown>>, indent: string): string[] {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return [`${indent}(empty)`]
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? [`${indent}${name}`, ...formatValue(value, indent + INDENT)]
      : [`${indent}${name.padEnd(width)}  ${toCell(name, value)}`.trimEnd()],
  )
}

function toCell(name: string, value: unknown): string {
  const text = toText(value)
  if (!INSTANT_NAME.test(name) || !INSTANT.test(text)) return text
  return `${text} (${new Date(Number(text)).toISOString()})`
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return cleanLine(typeof value === 'string' ? value : JSON.stringify(value))
}
