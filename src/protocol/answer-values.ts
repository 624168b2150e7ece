import { z } from 'zod'

/** Document: Resources and their fields. */

export const textOrNull = z.string().nullish()

export const textIfAny = z.string().nullish().transform(presentText)

/** The document's values; real answers contain others too, so they pass. */
export function knownText(...knownValues: readonly string[]) {
  return z.string().nullish().transform(presentText).meta({ knownValues })
}

/** As {@link knownText}, but null and empty are kept. */
export function knownTextOrNull(...knownValues: readonly string[]) {
  return z.string().nullish().meta({ knownValues })
}

export function arrayOrNull<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .nullish()
    .transform((list) => list ?? [])
}

export interface UnreadableRow {
  readonly unreadable: string
  readonly texts: Readonly<Record<string, string>>
}

/**
 * An entry that does not match becomes an {@link UnreadableRow}, although the type says otherwise:
 * readers of account lists check {@link isUnreadable}. The simulator never writes one.
 */
export function eachRow<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const unreadable = z.unknown().transform((row): UnreadableRow => {
    const [issue] = item.safeParse(row).error?.issues ?? []
    const fields = typeof row === 'object' && row !== null ? Object.entries(row) : []
    const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string')
    return { unreadable: describeIssue(issue), texts: Object.fromEntries(texts) }
  })
  return z.array(z.union([item, unreadable])) as unknown as z.ZodArray<Item>
}

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it is not as the document describes'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}

export function isUnreadable(row: object): row is UnreadableRow {
  return 'unreadable' in row
}

export function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .union([z.array(item), z.strictObject({})])
    .nullish()
    .transform((list) => (Array.isArray(list) ? list : []))
}

function presentText(text: string | null | undefined): string | undefined {
  return text === null || text === '' ? undefined : text
}
