import { toFlatFields } from '../../lib/flat-fields.ts'
import type { RunRecipe } from '../run-report.ts'

/** A field of `run.json` that is not the same in two runs, such as `params.grid.levels`. */
export interface RecipeDifference {
  readonly name: string
  readonly one: string
  readonly other: string
}

/** Undefined if one is no recipe of a backtest, such as that of a recorded run. */
export function listDifferences(
  one: RunRecipe | undefined,
  other: RunRecipe | undefined,
): readonly RecipeDifference[] | undefined {
  if (one?.['format'] !== 1 || other?.['format'] !== 1) return undefined
  const [ours, theirs] = [toFlatFields(one), toFlatFields(other)]
  // Reports of earlier versions have no params, so what was given of them is all that is known.
  const isParamKnown = 'params' in one && 'params' in other
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((name) => ours.get(name) !== theirs.get(name) && !(isParamKnown && name === 'param'))
    .map((name) => ({ name, one: show(name, ours), other: show(name, theirs) }))
}

function show(name: string, fields: ReadonlyMap<string, string>): string {
  const text = fields.get(name)
  if (text === undefined) return 'missing'
  const bare = text.startsWith('"') ? text.slice(1, -1) : text
  return name.startsWith('sha256.') && bare.length > DIGEST_SHOWN
    ? `${bare.slice(0, DIGEST_SHOWN)}…`
    : bare
}

const DIGEST_SHOWN = 12
