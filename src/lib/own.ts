/** What a file may change that owns a piece of state; for everybody else it is read-only. */
export type Own<State> = { -readonly [Name in keyof State]: OwnValue<State[Name]> }

type OwnValue<Value> =
  Value extends ReadonlyMap<infer Key, infer Entry>
    ? Map<Key, Entry>
    : Value extends ReadonlySet<infer Member>
      ? Set<Member>
      : Value

/**
 * The same state, to be changed. Only the one file that owns it calls this, in functions whose names say what
 * happened; everybody else sees it read-only. `test/tidy.test.ts` holds that.
 */
export function own<State>(state: State): Own<State> {
  return state as Own<State>
}
