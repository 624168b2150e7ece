export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) deepFreeze(part)
  return value
}

/** Each property of `other` is read once at most. @param one plain data */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false
  if (Array.isArray(one)) return Array.isArray(other) && isSameList(one, other)
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const names = Object.keys(one)
  const others = Object.keys(other)
  return (
    names.length === others.length &&
    names.every(
      (name, place) =>
        name === others[place] && isSameData(one[name as never], other[name as never]),
    )
  )
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let index = 0; index < one.length; index++)
    if (!isSameData(one[index], other[index])) return false
  return true
}
