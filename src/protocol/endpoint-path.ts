/**
 * The only path parameter. Document: `{platform_coin}`, the lower-case ticker of the platform's own
 * coin.
 */
export interface PathValues {
  readonly platform_coin?: string
}

/** A path value is a ticker in lower case. */
const PATH_VALUE = /^[a-z0-9]{1,20}$/
const PARAMETER = /\{(\w+)\}/g

/**
 * Fills the parameters into the path of a row.
 * @throws RangeError if a value is missing or is no ticker in lower case.
 */
export function formatPath(template: string, values: PathValues): string {
  return template.replaceAll(PARAMETER, (_, name: string) => {
    const value: unknown = new Map(Object.entries(values)).get(name)
    if (typeof value !== 'string' || !PATH_VALUE.test(value)) {
      throw new RangeError(`the path ${template} needs ${name}, letters and digits in lower case`)
    }
    return value
  })
}
