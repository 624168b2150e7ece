type WritableValue<Value> =
  Value extends ReadonlyMap<infer Key, infer Item>
    ? Map<Key, Item>
    : Value extends ReadonlySet<infer Item>
      ? Set<Item>
      : Value extends readonly unknown[]
        ? { -readonly [Index in keyof Value]: Value[Index] }
        : Value

/** A state's owner can set its properties, and change its maps, sets and arrays, but no deeper. */
export type Own<State> = State extends
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | readonly unknown[]
  ? WritableValue<State>
  : { -readonly [Name in keyof State]: WritableValue<State[Name]> }

/** Only the state's owner, a file, calls this; `test/tidy.test.ts` knows the owners. */
export function own<State extends object>(state: State): Own<State> {
  return state as Own<State>
}
