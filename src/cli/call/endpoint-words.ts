import type { EndpointDescription, FieldDescription } from '../../protocol/describe-endpoint.ts'
import type { Auth, RateLimit, Retry } from '../../protocol/endpoint.ts'

const FAMILIES = [
  ['/api/v2/mix/', 'Futures'],
  ['/api/v2/spot/', 'Spot'],
  ['/api/v2/margin/', 'Margin'],
  ['/api/v2/copy/', 'Copy trading'],
  ['/api/v2/convert/', 'Conversion'],
  ['/api/v2/user/', 'Sub-accounts'],
] as const

export function familyOf({ path, outside }: Pick<EndpointDescription, 'path' | 'outside'>): string {
  if (outside) return 'Beyond the document'
  return FAMILIES.find(([start]) => path.startsWith(start))?.[1] ?? 'Signed gateway'
}

export function titleOf({ section, path }: Pick<EndpointDescription, 'section' | 'path'>): string {
  const inBrackets = /\(([^()]*)\)$/.exec(section)?.[1]?.replace(/, public$/, '')
  if (inBrackets === undefined) return 'the signing example of the document'
  const kind = /\/margin\/(\w+)\//.exec(path)?.[1]
  return kind === undefined || inBrackets.includes(kind)
    ? inBrackets
    : `${inBrackets}, ${kind} margin`
}

export const AUTH_WORDS: Readonly<Record<Auth, string>> = {
  public: 'public, no key needed',
  schemeA: 'signed by scheme A (ACCESS-… headers)',
  schemeB: 'signed by scheme B (x-api-… headers), at the gateway',
}

export const RETRY_WORDS: Readonly<Record<Retry, string>> = {
  safe: 'a read: may be asked again',
  repeatable: 'doing it twice does no harm: may be asked again',
  protocol: 'never repeated by itself: find out first what became of it',
}

export function toLimitWords({
  calls,
  perMs,
  scope,
  copyTraderCalls,
  isAssumed,
}: RateLimit): string {
  const per = perMs === 1000 ? 'a second' : `in ${perMs} ms`
  const who = scope === 'ip' ? 'IP address' : 'account'
  const traders =
    copyTraderCalls === undefined ? '' : `; ${copyTraderCalls} for copy-trading traders`
  const assumed = isAssumed ? '; the document has no limit, this one is our own caution' : ''
  return `${calls} ${calls === 1 ? 'call' : 'calls'} ${per} per ${who}${traders}${assumed}`
}

export function toTypeWords(field: FieldDescription, fields: readonly FieldDescription[]): string {
  if (field.type === 'string') return 'text'
  if (field.type !== 'list') return field.type
  return hasItems(field, fields) ? 'list of objects' : 'list of texts'
}

export function hasItems({ name }: FieldDescription, fields: readonly FieldDescription[]): boolean {
  return fields.some((other) => other.name.startsWith(`${name}[].`))
}

export function toRuleWords(field: FieldDescription): string[] {
  const { values, itemsMax, aliasOf, description = '' } = field
  const mayBeEmpty = field.mayBeEmpty && !description.includes('empty')
  return [
    ...(values.length > 0 ? [`one of ${values.join(', ')}${mayBeEmpty ? ', or empty' : ''}`] : []),
    ...(values.length === 0 && mayBeEmpty ? ['may be empty'] : []),
    ...(field.default === undefined ? [] : [`default ${field.default}`]),
    ...(itemsMax === undefined || description.includes(`at most ${itemsMax}`)
      ? []
      : [`at most ${itemsMax} items`]),
    ...(aliasOf === undefined ? [] : [`another spelling of ${aliasOf}`]),
  ]
}

export function toOption(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export function toShortName(name: string): string | undefined {
  return /^\w+List$/.test(name) ? `${name.slice(0, -'List'.length)}s` : undefined
}
