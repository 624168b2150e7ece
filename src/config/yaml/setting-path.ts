/** Path of a setting: mapping keys and sequence indexes. */
export type SettingPath = readonly PropertyKey[]

/** `risk.openOrdersMax`, `strategies.0`; keys with odd characters are quoted. */
export const formatPath = (path: SettingPath): string =>
  path
    .map((key) => (/^[\w-]{1,64}$/.test(String(key)) ? String(key) : quote(String(key))))
    .join('.')

/** Text between double quotes: control characters escaped, long texts cut, the login of an address hidden. */
export function quote(text: string): string {
  const safe = hideLogins(text)
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe)
}

/** A text without the user:password@ and the ?password= of the addresses in it (SEC1). */
export function hideLogins(text: string): string {
  return text
    .replaceAll(/\/\/[^\s'"]*@/g, '//[hidden]@')
    .replaceAll(/([?&]password=)[^&\s'"]*/g, '$1[hidden]')
}
