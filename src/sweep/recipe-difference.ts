import { toFlatFields } from '../lib/flat-fields.ts'
import { parseBoundedJson } from '../lib/text/bounded-json.ts'

/** Other fields follow from these. */
const FIRST = ['version', 'node', 'sha256.program'] as const

/**
 * Undefined if the recipes, JSON of `describeRecipe`, are equal.
 * @param wanted the sweep's recipe
 * @param own the recipe of this machine
 */
export function describeDifference(wanted: string, own: string): string | undefined {
  if (wanted === own) return undefined
  const there = toFlatFields(parseBoundedJson(wanted))
  const here = toFlatFields(parseBoundedJson(own))
  const names = [...new Set([...there.keys(), ...here.keys()])].filter(
    (name) => there.get(name) !== here.get(name),
  )
  const first = FIRST.find((name) => names.includes(name))
  const shown = first === undefined ? names : [first]
  if (shown.length === 0) return 'its parts are in another order'
  return shown
    .map((name) => `${name} is ${short(here.get(name))} here, ${short(there.get(name))} there`)
    .join('; ')
}

function short(text: string | undefined): string {
  if (text === undefined) return 'missing'
  return text.length > 20 ? `${text.slice(0, 12)}…` : text
}
