/** Of a usual terminal: every table fits. */
export const COLUMNS = 80

const GAP = '  '

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Numbers stand to the right. */
  readonly isNumber?: boolean
  /** Is cut first where the table is too wide; one column at most. */
  readonly isElastic?: boolean
}

/** Aligned rows under their titles, `COLUMNS` wide at most; a cut cell ends with `…`. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ of }) => of(row)))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const elastic = columns.findIndex(({ isElastic }) => isElastic)
  const excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - COLUMNS
  if (excess > 0 && elastic >= 0) widths[elastic] = Math.max(4, (widths[elastic] ?? 0) - excess)
  const toLine = (texts: readonly string[]): string =>
    columns
      .map(({ isNumber }, index) => {
        const text = cut(texts[index] ?? '', widths[index] ?? 0)
        return isNumber ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0)
      })
      .join(GAP)
      .trimEnd()
  return [toLine(columns.map(({ title }) => title)), ...cells.map(toLine)].map((line) => `${line}\n`).join('')
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

/** Two decimals and thousands, for people; `-` for what is not known. */
export function money(text: string | null): string {
  if (text === null) return '-'
  // Half a cent below nothing is nothing.
  const value = Math.round(Number(text) * 100) / 100 || 0
  return Number.isFinite(value)
    ? value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    : text
}

/** `0.4 s`, `12 s`, `3 min`. */
export function age(ms: number | null): string {
  if (ms === null) return 'never'
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return `${Math.round(ms / 3_600_000)} h`
}
