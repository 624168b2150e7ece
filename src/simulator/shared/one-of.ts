/** A setting with several allowed values; the first is the default. */
export function oneOf<Value extends string | number>(
  byDefault: Value,
  ..._others: readonly Value[]
): Value {
  return byDefault
}
