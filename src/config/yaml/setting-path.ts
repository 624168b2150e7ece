/** Path of a setting: mapping keys and sequence indexes. */
export type SettingPath = readonly PropertyKey[]

/** `risk.openOrdersMax`, `strategies.0`; keys with odd characters are quoted. */
export const formatPath = (path: SettingPath): string =>
  path.map((key) => (/^[\w-]{1,64}$/.test(String(key)) ? String(key) : quote(String(key)))).join('.')

/** Text between double quotes: control characters escaped, long texts cut, user:password@ of an address hidden. */
export function quote(text: string): string {
  const safe = text.replace(/\/\/[^/\s]*@/, '//[hidden]@')
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe)
}
