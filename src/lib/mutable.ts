type WritableValue<Value> =
  Value extends ReadonlyMap<infer Key, infer Item>
    ? Map<Key, Item>
    : Value extends ReadonlySet<infer Item>
      ? Set<Item>
      : Value extends readonly unknown[]
        ? { -readonly [Index in keyof Value]: Value[Index] }
        : Value

/** The owner of a state may change its maps, sets and lists, and nothing deeper. */
export type Mutable<State> = State extends
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | readonly unknown[]
  ? WritableValue<State>
  : { -readonly [Name in keyof State]: WritableValue<State[Name]> }

/** `test/tidy.test.ts` knows the owner, a file, of each state. */
export function mutable<State extends object>(state: State): Mutable<State> {
  return state as Mutable<State>
}
