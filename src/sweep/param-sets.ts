import { createRandom } from '../lib/random.ts'
import { type ParamValues, type SweepFile, TRIALS_MAX, VALUES_MAX } from './sweep-file.ts'

/** Names as for `--param`. */
export type ParamSet = Readonly<Record<string, string>>

/** Digits beyond these are noise from adding steps. */
const DIGITS = 12
const LOG_DIGITS = 6

/** @throws RangeError for too many combinations */
export function listValues({
  params,
}: Pick<SweepFile, 'params'>): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(params).flatMap(([strategy, ofStrategy]) =>
      Object.entries(ofStrategy).map(([name, values]) => {
        const texts = [...new Set(expand(values).map((value) => JSON.stringify(value)))]
        if (texts.length > VALUES_MAX)
          throw new RangeError(`${strategy}.${name} has more than ${VALUES_MAX} values`)
        return [`${strategy}.${name}`, texts] as const
      }),
    ),
  )
}

function expand(values: ParamValues): readonly (number | string | boolean)[] {
  if (Array.isArray(values)) return values
  const { from, to } = values
  if ('step' in values) {
    // One more than allowed shows the excess.
    const count = Math.min(VALUES_MAX, Math.floor((to - from) / values.step + 1e-9)) + 1
    return Array.from({ length: Math.max(0, count) }, (_, index) =>
      round(from + index * values.step, DIGITS),
    )
  }
  const { points, scale, whole } = values
  return Array.from({ length: points }, (_, index) => {
    const share = index / (points - 1)
    const value = scale === 'log' ? from * (to / from) ** share : from + (to - from) * share
    return whole ? Math.round(value) : round(value, scale === 'log' ? LOG_DIGITS : DIGITS)
  })
}

function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits))
}

export function explainValues(
  file: SweepFile,
): { readonly path: readonly string[]; readonly message: string } | undefined {
  for (const [strategy, ofStrategy] of Object.entries(file.params)) {
    for (const [name, values] of Object.entries(ofStrategy)) {
      if (Array.isArray(values)) continue
      const path = ['params', strategy, name, 'from']
      if (!(values.from <= values.to))
        return { path, message: `from is above to: ${values.from}, ${values.to}` }
      if ('scale' in values && values.scale === 'log' && values.from <= 0)
        return { path, message: `a logarithmic scale begins above 0, not at ${values.from}` }
    }
  }
  const counts = [...listValues(file).values()].map((values) => values.length)
  const path = ['params']
  if (counts.length === 0) return { path, message: 'there is no parameter to try' }
  if (file.method === 'grid' && productOf(counts) > TRIALS_MAX) {
    const message = `a grid of ${productOf(counts)} combinations: at most ${TRIALS_MAX}; method random draws some of them`
    return { path, message }
  }
  return undefined
}

function productOf(counts: readonly number[]): number {
  return counts.reduce((product, count) => product * count, 1)
}

export function listParamSets(file: SweepFile): readonly ParamSet[] {
  const values = listValues(file)
  const total = productOf([...values.values()].map(({ length }) => length))
  if (file.method === 'grid' || file.trials >= total)
    return Array.from({ length: Math.min(total, TRIALS_MAX) }, (_, index) =>
      combine(values, digitsOf(values, index)),
    )
  const random = createRandom(`sweep ${file.seed}`)
  const drawn = new Map<string, ParamSet>()
  while (drawn.size < file.trials) {
    const digits = [...values.values()].map(({ length }) => random.integer(length))
    drawn.set(digits.join(','), combine(values, digits))
  }
  return [...drawn.values()]
}

/** The last parameter changes fastest. */
function digitsOf(
  values: ReadonlyMap<string, readonly string[]>,
  index: number,
): readonly number[] {
  let left = index
  const digits = [...values.values()].toReversed().map(({ length }) => {
    const digit = left % length
    left = (left - digit) / length
    return digit
  })
  return digits.toReversed()
}

function combine(
  values: ReadonlyMap<string, readonly string[]>,
  digits: readonly number[],
): ParamSet {
  return Object.fromEntries(
    [...values].map(([name, texts], index) => [name, texts[digits[index] ?? 0] ?? '']),
  )
}
