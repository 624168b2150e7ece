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
