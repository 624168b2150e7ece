/** What the document's tables and parameter lists name, so that a schema without a counterpart is found. */
export interface DocumentFields {
  /** By `METHOD path`. */
  readonly endpoints: Readonly<Record<string, DocumentedEndpoint>>
  /** Fields by the heading of their table under "Resources and their fields". */
  readonly resources: Readonly<Record<string, DocumentedFields>>
  /** Rate limits in the document's words, by its own name of the endpoint. */
  readonly limits: Readonly<Record<string, string>>
}

export interface DocumentedEndpoint {
  readonly section: string
  readonly parameters: DocumentedFields
  /** Parameters that are required whatever the others say. */
  readonly required: readonly string[]
  /** Names in the sentence about the envelope's `data`. */
  readonly answer: readonly string[]
}

/** Allowed values by field; no values where the document lists fewer than two. */
export type DocumentedFields = Readonly<Record<string, readonly string[]>>

export function readDocument(text: string): DocumentFields {
  const parts = new Map(text.split(/^## /m).map((part) => [lineOf(part), part] as const))
  const sections = (parts.get('Endpoints') ?? '').split(/^###+ /m).slice(1)
  const resources = (parts.get('Resources and their fields') ?? '').split(/^### /m).slice(1)
  const limits = rowsOf(parts.get('Limits') ?? '').filter(({ cells }) =>
    / per second/.test(cells[1] ?? ''),
  )
  return {
    endpoints: Object.fromEntries(sections.flatMap(readEndpoints)),
    resources: Object.fromEntries(resources.map((part) => [lineOf(part), readResource(part)])),
    limits: Object.fromEntries(limits.map(({ cells }) => [cells[0], cells[1]])),
  }
}

/** One section may be about two endpoints, each with a column of its own in the table. */
function readEndpoints(part: string): [string, DocumentedEndpoint][] {
  const section = lineOf(part)
  return [...section.matchAll(/(?:GET|POST) \/\S+/g)].map(([endpoint], index) => {
    const [request = '', answer = ''] = part.split('Response `data`:')
    const parameters = { ...readTable(part, index), ...readProse(request), ...readAsides(part) }
    const required = [...requiredInTable(part, index), ...requiredInProse(request)]
    return [endpoint, { section, parameters, required, answer: namesIn(lineOf(answer)) }]
  })
}

function requiredInTable(part: string, column: number): string[] {
  return rowsOf(part).flatMap(({ header, cells }) => {
    const at = header[1] === 'Isolated' ? 1 + column : header.indexOf('Required')
    return /^(yes|required)$/.test(cells[at] ?? '') ? namesOfCell(cells[0] ?? '') : []
  })
}

/** "required" as a word of its own: "required when …" is a condition. */
function requiredInProse(text: string): string[] {
  return [...text.matchAll(/((?:`\w+`(?:, | and )?)+) \(([^)]*)/g)].flatMap(([, names, rule]) =>
    /(^|, )required(?! when)/.test(rule ?? '') ? namesIn(names ?? '') : [],
  )
}

/** `orderId` (optional), `startTime`, `endTime` (optional, …); in lists, "each item has `orderId` and …". */
function readProse(text: string): DocumentedFields {
  const start = /(Query|Body): `/.exec(text)
  if (start === null) return {}
  const prose = lineOf(text.slice(start.index))
  const names = [...prose.matchAll(/((?:`\w+`(?:, | and )?)+) \(/g)].flatMap(([, list]) =>
    namesIn(list ?? ''),
  )
  const items = /`(\w+)` \(list[^)]*each item has ((?:`\w+`(?: and )?)+)/.exec(prose)
  const nested =
    items === null ? [] : namesIn(items[2] ?? '').map((name) => `${items[1]}[].${name}`)
  return withoutValues([...names, ...nested])
}

/** Names that the document mentions beside its tables: what samples carry, and how they spell it. */
function readAsides(part: string): DocumentedFields {
  const carried = /sample body also carries ((?:`\w+`(?:, | and )?)+)/.exec(part)?.[1] ?? ''
  const renamed = /call this parameter (\w+)/.exec(part)?.[1]
  const spelt = /sample body spells the client ID key `(\w+)`/.exec(part)?.[1]
  return withoutValues([
    ...namesIn(carried),
    ...(renamed === undefined ? [] : [renamed]),
    ...(spelt === undefined ? [] : [`orderIdList[].${spelt}`]),
  ])
}

function readResource(part: string): DocumentedFields {
  const table = readTable(part, 0)
  if (Object.keys(table).length > 0) return table
  const bullets = part.split('\n').filter((line) => line.startsWith('- '))
  const prose = bullets.length > 0 ? bullets.map((line) => line.split(': ')[1] ?? '') : [part]
  return withoutValues(prose.flatMap(namesIn))
}

/** The fields in the first column, with the values that the last one lists, and the fields of their items. */
function readTable(part: string, column: number): DocumentedFields {
  return Object.fromEntries(
    rowsOf(part).flatMap(({ header, cells }) => {
      if (!/^(Field|Parameter)$/.test(header[0] ?? '')) return []
      const isPerEndpoint = header.length > 2 && header[1] === 'Isolated'
      if (isPerEndpoint && cells[1 + column] === 'not listed') return []
      const meaning = cells.at(-1) ?? ''
      const names = namesOfCell(cells[0] ?? '')
      const items = /Each: (.*)/.exec(meaning)?.[1] ?? ''
      const values = items === '' ? valuesIn(meaning) : []
      return names.flatMap((name) => [
        [name, values] as const,
        ...namesIn(items).map((item) => [`${name}[].${item}`, []] as const),
      ])
    }),
  )
}

function rowsOf(part: string): { header: string[]; cells: string[] }[] {
  let header: string[] = []
  return part.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) {
      header = []
      return []
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (header.length === 0) {
      header = cells
      return []
    }
    return cells[0]?.startsWith('---') ? [] : [{ header, cells }]
  })
}

/** `startTime (Unix ms)`, `cTime, uTime`. */
function namesOfCell(cell: string): string[] {
  return cell.replace(/ \(.*\)/, '').split(', ')
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([A-Za-z]\w*)`/g)].map(([, name]) => name ?? '')
}

/** Two or more values in a cell are a list of allowed ones; a single one is mentioned in passing. */
function valuesIn(text: string): string[] {
  const values = [
    ...new Set([...text.matchAll(/`([A-Za-z][\w-]*)`/g)].map(([, value]) => value ?? '')),
  ]
  return values.length > 1 ? values : []
}

function withoutValues(names: readonly string[]): DocumentedFields {
  return Object.fromEntries(names.map((name) => [name, []]))
}

function lineOf(text: string): string {
  return text.split('\n', 1)[0]?.trim() ?? ''
}
