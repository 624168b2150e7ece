/** A setting that may have any of these values, and has the first by default. */
export function oneOf<Value extends string | number>(
  byDefault: Value,
  ..._others: readonly Value[]
): Value {
  return byDefault
}
