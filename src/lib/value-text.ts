import { decimal, isDecimal } from './decimal.ts'
import { parseBoundedJson } from './text/bounded-json.ts'

/**
 * Plain values become JSON with marks, without loss. Equal values give equal texts.
 *
 *     {"$map":[[key,value],…]}   {"$set":[…]}   {"$decimal":"1.5"}   {"$floats":[…]}   {"$":"NaN"}
 *
 * A name that begins with `$` is written with one more.
 */

/** @throws TypeError for functions, symbols and instances of other classes */
export function writeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : writeOdd(value)
    case 'undefined':
      return writeOdd(value)
    case 'object':
      return value === null ? 'null' : writeObject(value)
    case 'bigint':
    case 'function':
    case 'symbol':
    default:
      throw new TypeError(`a ${typeof value} cannot be written`)
  }
}

/**
 * @throws SyntaxError for a text that is not JSON, TypeError for a mark that {@link writeValue}
 * does not make
 */
export function parseValue(text: string): unknown {
  return revive(parseBoundedJson(text))
}

/** JSON would turn these into null, or drop them. */
const ODD = new Map<string, number | undefined>([
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
])

function writeOdd(value: number | undefined): string {
  return `{"$":"${Object.is(value, -0) ? '-0' : String(value)}"}`
}

function writeObject(value: object): string {
  if (isJson(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return writeList(value)
  if (value instanceof Map) return `{"$map":${writeValue([...value])}}`
  if (value instanceof Set) return `{"$set":${writeValue([...value])}}`
  if (value instanceof Float64Array) return `{"$floats":${writeValue([...value])}}`
  if (isDecimal(value)) return `{"$decimal":"${value.toString()}"}`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`a ${value.constructor.name} cannot be written`)
  }
  const parts = Object.entries(value).map(
    ([name, part]) => `${writeName(name)}:${writeValue(part)}`,
  )
  return `{${parts.join(',')}}`
}

/** No name looks like a mark. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const [name, part] of Object.entries(value))
    if (name.startsWith('$') || !isJson(part)) return false
  return true
}

function writeList(list: readonly unknown[]): string {
  return `[${list.map(writeValue).join(',')}]`
}

function writeName(name: string): string {
  return JSON.stringify(name.startsWith('$') ? `$${name}` : name)
}

function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(revive)
  const entries = Object.entries(value)
  const [first] = entries
  if (first !== undefined && isMark(first[0])) return reviveMark(first[0], first[1])
  // `__proto__` is a name like any other here.
  return Object.fromEntries(entries.map(([name, part]) => [readName(name), revive(part)]))
}

function isMark(name: string): boolean {
  return name.startsWith('$') && !name.startsWith('$$')
}

function readName(name: string): string {
  return name.startsWith('$$') ? name.slice(1) : name
}

function reviveMark(mark: string, content: unknown): unknown {
  if (mark === '$' && typeof content === 'string' && ODD.has(content)) return ODD.get(content)
  if (mark === '$decimal' && typeof content === 'string') return decimal(content)
  if (mark === '$floats' && Array.isArray(content))
    return Float64Array.from(content.map(revive) as number[])
  if (mark === '$set' && Array.isArray(content)) return new Set(content.map(revive))
  if (mark === '$map' && Array.isArray(content)) {
    return new Map(content.map((pair: readonly unknown[]) => [revive(pair[0]), revive(pair[1])]))
  }
  throw new TypeError(`${mark} marks nothing that is known`)
}
