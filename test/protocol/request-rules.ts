import { describe, expect, it } from 'vitest'
import { type RuleContext } from '../../src/protocol/endpoint.ts'
import { endpointNamed, type EndpointName } from '../../src/protocol/endpoints.ts'

const ONE_WAY: RuleContext = { positionMode: 'one_way_mode' }

/** What the document says against a request: empty when it may be sent. */
export function problemsOf(
  endpoint: EndpointName,
  request: unknown,
  context: RuleContext = ONE_WAY,
): string {
  const row = endpointNamed(endpoint)
  const checked = row.request.safeParse(request)
  if (!checked.success) {
    return checked.error.issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ')
  }
  return (row.rules?.(checked.data, context) ?? []).join('; ')
}

export type Fields = Record<string, unknown>
export type Accepted = readonly [what: string, change: Fields]
export type Refused = readonly [what: string, change: Fields, problem: RegExp]

export interface RequestRules {
  readonly accepted: readonly Accepted[]
  readonly refused: readonly Refused[]
  readonly context?: RuleContext
}

/** One test a rule: `base` with a change, accepted or refused with the rule in the message. */
export function describeRequest(
  endpoint: EndpointName,
  base: Fields,
  { accepted, refused, context = ONE_WAY }: RequestRules,
): void {
  describe(endpoint, () => {
    for (const [what, change] of accepted) {
      it(`accepts ${what}`, () => {
        expect(problemsOf(endpoint, { ...base, ...change }, context)).toBe('')
      })
    }
    for (const [what, change, problem] of refused) {
      it(`refuses ${what}`, () => {
        expect(problemsOf(endpoint, { ...base, ...change }, context)).toMatch(problem)
      })
    }
  })
}
