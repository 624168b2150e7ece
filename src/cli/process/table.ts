import { coinDigits } from '../../domain/coin-amount.ts'
import { wrapWords } from '../../lib/text/wrap-words.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'

export const COLUMNS = 80

const GAP = '  '

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  readonly isNumber?: boolean
  /** At most one column is. */
  readonly isElastic?: boolean
  readonly isEndKept?: boolean
  /** True if a part of the value is useless. */
  readonly isWhole?: boolean
  readonly isBelow?: boolean
}

const NARROWED: readonly {
  readonly widthMin: number
  readonly isMeant: (column: Column<never>) => boolean
}[] = [
  { widthMin: 4, isMeant: ({ isElastic = false }) => isElastic },
  { widthMin: 8, isMeant: ({ isNumber = false }) => !isNumber },
  { widthMin: 6, isMeant: () => true },
]

export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const below = columns.find(({ isBelow }) => isBelow)
  const widthMax = tableWidth()
  if (below === undefined || widthOf(columns, rows) <= widthMax)
    return formatRows(columns, rows, widthMax).join('')
  const [titles = '', ...lines] = formatRows(
    columns.filter((column) => column !== below),
    rows,
    widthMax,
  )
  const under = rows.map((row) => {
    if (below.of(row) === '') return ''
    const text = wrapWords(`${below.title} ${below.of(row)}`.trimStart(), widthMax - 2 * GAP.length)
    return text.map((line, index) => `${GAP}${index === 0 ? '' : GAP}${line}\n`).join('')
  })
  return titles + lines.map((line, index) => line + under[index]).join('')
}

/** A terminal that does not say its width has 0 columns. */
function tableWidth({ isTTY, columns } = process.stdout): number {
  return isTTY ? Math.max(COLUMNS, columns || 0) : Number.POSITIVE_INFINITY
}

function widthOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number {
  return columns.reduce(
    (sum, { title, of }) =>
      sum + GAP.length + Math.max(title.length, ...rows.map((row) => of(row).length)),
    -GAP.length,
  )
}

function formatRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  widthMax: number,
): readonly string[] {
  const cells = rows.map((row) => columns.map(({ of }) => cleanLine(of(row))))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  narrow(columns, widths, widthMax)
  const toLine = (texts: readonly string[]): string =>
    columns
      .map(({ isNumber, isEndKept }, index) => {
        const [text = '', width = 0] = [texts[index], widths[index]]
        if (isNumber) return shorten(text, width).padStart(width)
        return (isEndKept ? cutBeforeEnd : cut)(text, width).padEnd(width)
      })
      .join(GAP)
      .trimEnd()
  return [toLine(columns.map(({ title }) => title)), ...cells.map(toLine)].map(
    (line) => `${line}\n`,
  )
}

function narrow(columns: readonly Column<never>[], widths: number[], widthMax: number): void {
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - widthMax
  for (const { widthMin, isMeant } of NARROWED) {
    while (excess > 0) {
      const left = widths.map((width, index) => {
        const column = columns[index]
        return column && !column.isWhole && isMeant(column) ? width - widthMin : 0
      })
      const most = Math.max(...left)
      if (most <= 0) break
      widths[left.indexOf(most)] = widthMin + most - 1
      excess -= 1
    }
  }
}

function shorten(text: string, width: number): string {
  const value = Number(text.replaceAll(',', ''))
  if (text.length <= width || !Number.isFinite(value)) return cut(text, width)
  const lengths = [3, 2, 1, 0].map((digits) => value.toExponential(digits))
  return lengths.find(({ length }) => length <= width) ?? cut(text, width)
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

function cutBeforeEnd(text: string, width: number): string {
  if (text.length <= width) return text
  const end = text.slice(text.lastIndexOf(' '))
  return cut(text.slice(0, -end.length), width - end.length) + end
}

export function money(text: string | null, coin: string): string {
  if (text === null) return '-'
  const digits = coinDigits(coin)
  const value = Math.round(Number(text) * 10 ** digits) / 10 ** digits || 0
  return Number.isFinite(value)
    ? value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })
    : text
}

export function age(ms: number | null): string {
  if (ms === null) return 'never'
  if (Number.isNaN(ms)) return 'not known'
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return `${Math.round(ms / 3_600_000)} h`
}

/** `takeProfit` is `take profit`. */
export function toPlainWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

export function percent(share: number | null): string {
  return share === null ? '-' : `${(share * 100).toFixed(1)} %`
}

export function price(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(7)))
}
