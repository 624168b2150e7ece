import { isRecord } from './plain-data.ts'

/** Plain data by the paths of its fields, such as `sha256.config`; a list is one value, as JSON. */
export function toFlatFields(value: unknown, path = ''): ReadonlyMap<string, string> {
  if (!isRecord(value)) return new Map([[path, JSON.stringify(value)]])
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [
      ...toFlatFields(inner, path === '' ? name : `${path}.${name}`),
    ]),
  )
}
