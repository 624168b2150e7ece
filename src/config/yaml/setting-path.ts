export type SettingPath = readonly PropertyKey[]

/** Keys with odd characters are quoted. */
export const formatPath = (path: SettingPath): string =>
  path
    .map((key) => (/^[\w-]{1,64}$/.test(String(key)) ? String(key) : quote(String(key))))
    .join('.')

export function quote(text: string): string {
  const safe = hideLogins(text)
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe)
}

/** user:password@ and ?password= are secrets (SEC1). */
export function hideLogins(text: string): string {
  return text
    .replaceAll(/\/\/[^\s'"]*@/g, '//[hidden]@')
    .replaceAll(/([?&]password=)[^&\s'"]*/g, '$1[hidden]')
}
