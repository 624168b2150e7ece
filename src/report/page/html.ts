export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function toHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`\n]+)`/g, '<code>$1</code>')
}

export function toScriptJson(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
): string {
  return JSON.stringify(value, replacer).replaceAll('<', String.raw`\u003c`)
}

/** The page defines --card and --edge. */
export const SCROLL_STYLE = `.scroll { overflow-x: auto; background:
  linear-gradient(to right, var(--card) 40%, transparent) 0 0 / 36px 100% no-repeat local,
  linear-gradient(to left, var(--card) 40%, transparent) 100% 0 / 36px 100% no-repeat local,
  linear-gradient(to right, var(--edge), transparent) 0 0 / 14px 100% no-repeat scroll,
  linear-gradient(to left, var(--edge), transparent) 100% 0 / 14px 100% no-repeat scroll }`

export type Cell = string | { readonly text: string; readonly tone?: 'good' | 'bad' | 'none' }

/** A table with so many columns is set smaller, so that it fits a page. */
const WIDE_FROM = 14

export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  textColumns: readonly number[] = [0],
): string {
  const align = (index: number): string => (textColumns.includes(index) ? ' class="text"' : '')
  const head = columns
    .map((column, index) => `<th${align(index)}>${escapeHtml(column)}</th>`)
    .join('')
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, index) => renderCell(cell, align(index))).join('')}</tr>`,
  )
  const wide = columns.length >= WIDE_FROM ? ' class="wide"' : ''
  return `<div class="scroll"><table${wide}><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}

function renderCell(cell: Cell, align: string): string {
  if (typeof cell === 'string') return `<td${align}>${toHtml(cell)}</td>`
  return `<td class="${cell.tone ?? 'none'}">${escapeHtml(cell.text)}</td>`
}

export function toned(value: number, text: string): Cell {
  return { text, tone: value > 0 ? 'good' : value < 0 ? 'bad' : 'none' }
}

export function renderSection(title: string, content: string, note = ''): string {
  const says = note === '' ? '' : `<p class="note">${toHtml(note)}</p>`
  return `<section><h2>${escapeHtml(title)}</h2>${says}${content}</section>`
}

export function renderList(facts: readonly string[]): string {
  return `<ul>${facts.map((fact) => `<li>${toHtml(fact)}</li>`).join('')}</ul>`
}
