import { endpointNamed, type EndpointName, endpointNames, type ResponseOf } from '../../protocol/endpoints.ts'
import { type AnswerRules } from './answer-reader.ts'

export interface EndpointRulesOptions {
  readonly answerBytesMax: number
  /** Takes our secrets out of a foreign text. */
  readonly scrub: (text: string) => string
}

/** How the answers of each endpoint are read: by the schemas of the table. */
export class EndpointRules {
  readonly #rules: ReadonlyMap<EndpointName, AnswerRules<unknown>>

  constructor(options: EndpointRulesOptions) {
    this.#rules = new Map(
      endpointNames.map((endpoint) => {
        const isGateway = endpointNamed(endpoint).auth === 'schemeB'
        const rules = { ...options, isGateway, parse: (data: unknown) => parseData(endpoint, data) }
        return [endpoint, rules] as const
      }),
    )
  }

  for<Name extends EndpointName>(endpoint: Name): AnswerRules<ResponseOf<Name>> {
    // The row's own schema makes the data, so it has the row's own type.
    return this.#rules.get(endpoint) as AnswerRules<ResponseOf<Name>>
  }
}

function parseData(endpoint: EndpointName, data: unknown): ReturnType<AnswerRules<unknown>['parse']> {
  const parsed = endpointNamed(endpoint).response.safeParse(data)
  if (parsed.success) return { success: true, data: parsed.data }
  const [issue] = parsed.error.issues
  const at = ['data', ...(issue?.path ?? [])].map(String).join('.')
  return { success: false, problem: `${at}: ${issue?.message}` }
}
