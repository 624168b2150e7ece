import { ANSWER_BYTES_MAX } from '../../protocol/endpoint.ts'
import { endpointNamed, type EndpointName, type ResponseOf } from '../../protocol/endpoints.ts'
import type { AnswerRules, ParsedData } from './answer-reader.ts'

/** How the answers of an endpoint are read: by the schema of the table. */
export function answerRulesOf<Name extends EndpointName>(
  endpoint: Name,
  options: Pick<AnswerRules<unknown>, 'answerBytesMax' | 'scrub'>,
): AnswerRules<ResponseOf<Name>> {
  const answerBytesMax = answerBytesMaxOf(endpoint, options.answerBytesMax)
  const isGateway = endpointNamed(endpoint).auth === 'schemeB'
  // The row's own schema makes the data, so it has the row's own type.
  const parse = (data: unknown) => parseData(endpoint, data) as ParsedData<ResponseOf<Name>>
  return { ...options, answerBytesMax, isGateway, parse }
}

/** Largest answer of an endpoint that is read. @param bytesMax what the configuration allows any of them */
export function answerBytesMaxOf(endpoint: EndpointName, bytesMax: number): number {
  return endpointNamed(endpoint).listsMarket === true
    ? bytesMax
    : Math.min(bytesMax, ANSWER_BYTES_MAX)
}

function parseData(endpoint: EndpointName, data: unknown): ParsedData<unknown> {
  const parsed = endpointNamed(endpoint).response.safeParse(data)
  if (parsed.success) return { success: true, data: parsed.data }
  const [issue] = parsed.error.issues
  const at = ['data', ...(issue?.path ?? [])].map(String).join('.')
  return { success: false, problem: `${at}: ${issue?.message}` }
}
