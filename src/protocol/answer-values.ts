import { z } from 'zod'

/** Forms of values in answers. Document: Resources and their fields. */

/** A value of an answer: text, or null where the exchange leaves it out. */
export const textOrNull = z.string().nullish()

/** The same, clean: null, empty and missing are all `undefined`. */
export const textIfAny = z.string().nullish().transform(presentText)

/** One of the values that the document lists; real answers hold others too, which are let through. */
export function knownText(...knownValues: readonly string[]) {
  return z.string().nullish().transform(presentText).meta({ knownValues })
}

/** The same where null and empty are left as they are. */
export function knownTextOrNull(...knownValues: readonly string[]) {
  return z.string().nullish().meta({ knownValues })
}

/** A list that is always there, whether it came as null or not at all. */
export function arrayOrNull<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .nullish()
    .transform((list) => list ?? [])
}

/** An entry of a list that is not as the document describes, and why: it must not cost the entries beside it. */
export interface UnreadableRow {
  readonly unreadable: string
  /** The fields of it that are texts. */
  readonly texts: Readonly<Record<string, string>>
}

/**
 * The entries of a list, each read by itself. One that is not as the document describes stands there as an
 * {@link UnreadableRow}, behind the type of the others: whoever reads a list of the account asks {@link isUnreadable}
 * of each. What the exchange is made of here, the simulator, only ever writes the others.
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

/** An entry that is no object at all has no field to name. */
function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it is not as the document describes'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}

export function isUnreadable(row: object): row is UnreadableRow {
  return 'unreadable' in row
}

/** A list that is always there, whether it came as null, as an empty object or not at all. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .union([z.array(item), z.strictObject({})])
    .nullish()
    .transform((list) => (Array.isArray(list) ? list : []))
}

function presentText(text: string | null | undefined): string | undefined {
  return text === null || text === '' ? undefined : text
}
