/** Document: `{platform_coin}`, the lower-case ticker of the platform's coin. */
export interface PathValues {
  readonly platform_coin?: string
}

const PATH_VALUE = /^[a-z0-9]{1,20}$/
const PARAMETER = /\{(\w+)\}/g

/** @throws RangeError if a value is missing or is no ticker in lower case */
export function formatPath(template: string, values: PathValues): string {
  return template.replaceAll(PARAMETER, (_, name: string) => {
    const value: unknown = new Map(Object.entries(values)).get(name)
    if (typeof value !== 'string' || !PATH_VALUE.test(value)) {
      throw new RangeError(`the path ${template} needs ${name}, letters and digits in lower case`)
    }
    return value
  })
}
