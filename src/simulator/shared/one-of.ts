/** @returns the default, typed as any of the values that the setting may take */
export function oneOf<Value extends string | number>(
  byDefault: Value,
  ..._others: readonly Value[]
): Value {
  return byDefault
}
