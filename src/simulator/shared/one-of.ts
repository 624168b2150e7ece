export function oneOf<Value extends string | number>(
  byDefault: Value,
  ..._others: readonly Value[]
): Value {
  return byDefault
}
