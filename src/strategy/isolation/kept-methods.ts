/**
 * A strategy may replace methods of prototypes in its thread. Checks there call these, kept from
 * before, and use neither `for … of` nor spreads, which call replaceable methods too.
 */
function keep<Self, Args extends readonly unknown[], Result>(
  prototype: object,
  name: string,
): (self: Self, ...args: Args) => Result {
  const property = Object.getOwnPropertyDescriptor(prototype, name) ?? {}
  const method = (Reflect.get(property, 'value') ?? Reflect.get(property, 'get')) as (
    ...args: Args
  ) => Result
  return Function.prototype.call.bind(method)
}

export const startsWith = keep<string, [string], boolean>(String.prototype, 'startsWith')
export const endsWith = keep<string, [string], boolean>(String.prototype, 'endsWith')
export const indexOf = keep<string, [string], number>(String.prototype, 'indexOf')
export const slice = keep<string, [number, number?], string>(String.prototype, 'slice')
export const isIn = keep<ReadonlySet<string>, [string], boolean>(Set.prototype, 'has')
export const hrefOf = keep<URL, [], string>(URL.prototype, 'href')
export const { apply } = Reflect
