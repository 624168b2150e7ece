import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import type { Answer, RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import {
  type Envelope,
  envelope,
  requestTimeOf,
  SUCCESS_CODE,
  withoutMark,
} from '../../protocol/envelope.ts'
import { errorCode } from '../../protocol/error-codes.ts'
import type { WireAnswer } from './pending-call.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import { ANSWER_BYTES_MAX } from '../../protocol/endpoint.ts'
import { type EndpointName, endpointNamed, type ResponseOf } from '../../protocol/endpoints.ts'

/** So much of the exchange's message is kept for the log. */
const MESSAGE_CHARS_MAX = 300

/** Large enough to unpack the list of all tickers in one piece: in small chunks that takes several times as long. */
const GUNZIP_CHUNK_BYTES = 512 * 1024

/** Codes that are definite for an item of a batch, but leave it open what happened when they answer a whole request. */
const AMBIGUOUS_FOR_A_REQUEST: ReadonlySet<string> = new Set([
  // A generic check of values. The exchange also answers it during a release of its own, whatever it did.
  '40808',
])

/** Document: "400 bad request; 403 forbidden (not whitelisted or invalid signature)". */
const GATEWAY_REFUSALS: ReadonlyMap<number, { readonly topic: string; readonly message: string }> =
  new Map([
    [400, { topic: 'parameter', message: 'Bad Request' }],
    [403, { topic: 'auth', message: 'Forbidden: not whitelisted, or the signature is invalid' }],
  ])

export interface AnswerRules<Data> {
  /** Makes typed data of the envelope's `data`, or says what is wrong with it. */
  readonly parse: (data: unknown) => ParsedData<Data>
  readonly answerBytesMax: number
  /** The signed gateway: the HTTP status says what became of the request. Document: Errors, 2. */
  readonly isGateway?: boolean
  /** Removes our secrets from a text of the exchange. */
  readonly scrub: (text: string) => string
}

export type ParsedData<Data> =
  | { readonly success: true; readonly data: Data }
  | { readonly success: false; readonly problem: string }

/**
 * Decides whether an answer is accepted, refused or unknown. Whatever is not understood is unknown, never guessed.
 * Document: Common conventions, 2. Never throws.
 */
export function readAnswer<Data>(answer: WireAnswer, rules: AnswerRules<Data>): Answer<Data> {
  const { status } = answer
  if (status === 429) return rateLimited(answer, parseEnvelope(answer, rules))
  if (status >= 500) return unknown(answer, 'serverError', `HTTP_${status}`, 'the server failed')
  const read = parseEnvelope(answer, rules)
  const refusal = rules.isGateway === true ? gatewayRefusal(answer, read) : undefined
  if (refusal !== undefined) return refusal
  if (typeof read === 'string') return unknown(answer, 'unreadable', `HTTP_${status}`, read)
  const { code } = read
  if (code === SUCCESS_CODE) return readSuccess(answer, read, rules)
  const { class: errorClass, topic } = errorCode(code)
  const message = messageOf(read)
  if (errorClass === 'ambiguous' || AMBIGUOUS_FOR_A_REQUEST.has(code)) {
    return { ...unknown(answer, 'ambiguousCode', code, message), ...timesOf(answer, read) }
  }
  if (topic === 'rate') return rateLimited(answer, read)
  return {
    kind: 'refused',
    class: errorClass,
    topic,
    code,
    message,
    status,
    ...timesOf(answer, read),
  }
}

/** The same, with the accepted data also as the exchange wrote it. */
export function readExactly<Data>(
  wire: WireAnswer,
  rules: AnswerRules<Data>,
): Answer<{ readonly data: Data; readonly text: string }> {
  const answer = readAnswer(wire, rules)
  if (answer.kind !== 'accepted') return answer
  const bytes = unpackAnswer(wire, rules.answerBytesMax)
  const text = typeof bytes === 'string' ? 'null' : rules.scrub(dataText(bytes.toString('utf8')))
  return { ...answer, data: { data: answer.data, text } }
}

function readSuccess<Data>(
  answer: WireAnswer,
  read: Envelope,
  rules: AnswerRules<Data>,
): Answer<Data> {
  const { status } = answer
  const times = timesOf(answer, read)
  if (status < 200 || status >= 300) {
    const message = 'the code says success, the HTTP status does not'
    return { ...unknown(answer, 'ambiguousCode', SUCCESS_CODE, message), ...times }
  }
  const parsed = rules.parse(read.data)
  if (parsed.success) return { kind: 'accepted', data: parsed.data, ...times }
  return { ...unknown(answer, 'unreadable', SUCCESS_CODE, parsed.problem), ...times }
}

function rateLimited(answer: WireAnswer, read: Envelope | string): RefusedAnswer {
  const isRead = typeof read !== 'string' && read.code !== SUCCESS_CODE
  return {
    kind: 'refused',
    class: 'retry',
    topic: 'rate',
    code: isRead ? read.code : '429',
    message: isRead ? messageOf(read) : 'Too Many Requests',
    status: answer.status,
    ...(typeof read === 'string' ? { receivedAt: answer.receivedAt } : timesOf(answer, read)),
  }
}

/** Undefined where the gateway's HTTP status does not refuse. */
function gatewayRefusal(answer: WireAnswer, read: Envelope | string): RefusedAnswer | undefined {
  const { status, receivedAt } = answer
  const refusal = GATEWAY_REFUSALS.get(status)
  if (refusal === undefined) return undefined
  const { topic, message } = refusal
  const plain = { kind: 'refused', class: 'definite', topic, status } as const
  if (typeof read === 'string' || read.code === SUCCESS_CODE) {
    return { ...plain, code: String(status), message, receivedAt }
  }
  return { ...plain, code: read.code, message: messageOf(read), ...timesOf(answer, read) }
}

function unknown(
  { status, receivedAt }: WireAnswer,
  cause: UnknownAnswer['cause'],
  code: string,
  message: string,
): UnknownAnswer {
  return { kind: 'unknown', cause, code, message, status, receivedAt }
}

/** The envelope, or what is wrong with the answer. */
function parseEnvelope(
  answer: WireAnswer,
  { answerBytesMax, scrub }: Pick<AnswerRules<unknown>, 'answerBytesMax' | 'scrub'>,
): Envelope | string {
  const bytes = unpackAnswer(answer, answerBytesMax)
  if (typeof bytes === 'string') return bytes
  if (bytes.length === 0) return 'the answer is empty'
  if (!isUtf8(bytes)) return 'the answer is not UTF-8'
  let json: unknown
  try {
    const text = withoutMark(bytes.toString('utf8'))
    json = cleanAnswer(parseBoundedJson(text), text, scrub)
  } catch {
    return 'the answer is not JSON'
  }
  // Error answers sometimes lack `data`.
  const parsed = envelope.safeParse(typeof json === 'object' ? { data: undefined, ...json } : json)
  return parsed.success ? parsed.data : 'the answer is not an envelope with a code'
}

/** The answer's bytes, unpacked: we do not ask for compression, but a server may compress all the same. */
export function unpackAnswer(answer: WireAnswer, bytesMax: number): Buffer | string {
  if (answer.contentEncoding === '' || answer.contentEncoding === 'identity') return answer.body
  if (answer.contentEncoding !== 'gzip')
    return 'the answer is packed in a way that was not asked for'
  try {
    return gunzipSync(answer.body, { maxOutputLength: bytesMax, chunkSize: GUNZIP_CHUNK_BYTES })
  } catch {
    return 'the answer says gzip and cannot be unpacked within the size limit'
  }
}

function timesOf(answer: WireAnswer, read: Envelope): { receivedAt: number; requestTime?: number } {
  const requestTime = requestTimeOf(read)
  return { receivedAt: answer.receivedAt, ...(requestTime === undefined ? {} : { requestTime }) }
}

/** The exchange's message; one spot answer has it under `message`. */
function messageOf(read: Envelope): string {
  return (read.msg ?? read.message ?? '').slice(0, MESSAGE_CHARS_MAX)
}

/** Names that the exchange gives: what is odd in one is not put right, since another order could be called so. */
const IDS: ReadonlySet<string> = new Set(['orderId', 'clientOid', 'tradeId', 'endId'])

const NUMBER = /^[\d.+-]*$/

/**
 * An answer whose texts are for people and files: on one line each, without signs that a terminal obeys, and then without
 * our secrets, whatever came between their letters. Ids only lose secrets; their pattern refuses what is odd in them.
 * Nothing but copying is done where the whole text shows that there is nothing to remove.
 * @param text from which `json` was parsed
 */
function cleanAnswer(json: unknown, text: string, scrub: (text: string) => string): unknown {
  if (/^[\x20-\x5B\x5D-\x7E\t\n\r]*$/.test(text) && scrub(text) === text) return json
  return cleanPart('', json, scrub)
}

function cleanPart(name: string, value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') {
    // A short secret may stand in any number.
    if (NUMBER.test(value)) return value
    return scrub(IDS.has(name) ? value : cleanLine(value))
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((part) => cleanPart(name, part, scrub))
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      scrub(cleanLine(key)),
      cleanPart(key, part, scrub),
    ]),
  )
}

/** What the runtime has, and the types of es2024 have not: a number's own text. */
interface ExactJson {
  parse(
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

const exact = JSON as unknown as ExactJson

/**
 * The `data` of an envelope as JSON in one line: every field, known or not, and every number digit for digit
 * as it came. An answer without data is `null`.
 */
function dataText(envelopeJson: string): string {
  const read = exact.parse(envelopeJson, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exact.rawJSON(source) : value,
  ) as Envelope
  return JSON.stringify(read.data ?? null)
}

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
