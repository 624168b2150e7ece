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
import type { WireAnswer } from './transport.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import { ANSWER_BYTES_MAX } from '../../protocol/endpoint.ts'
import { type CallableName, endpointNamed, type ResponseOf } from '../../protocol/endpoints.ts'

const MESSAGE_CHARS_MAX = 300

/** In small chunks, unpacking all tickers takes several times as long. */
const GUNZIP_CHUNK_BYTES = 512 * 1024

/** These codes are definite for an item of a batch, not for a whole request. */
const AMBIGUOUS_FOR_A_REQUEST: ReadonlySet<string> = new Set([
  // The exchange also answers with this check of values during its own releases.
  '40808',
])

/** Document: "400 bad request; 403 forbidden (not whitelisted or invalid signature)". */
const GATEWAY_REFUSALS: ReadonlyMap<number, { readonly topic: string; readonly message: string }> =
  new Map([
    [400, { topic: 'parameter', message: 'Bad Request' }],
    [403, { topic: 'auth', message: 'Forbidden: not whitelisted, or the signature is invalid' }],
  ])

export interface AnswerRules<Data> {
  readonly parse: (data: unknown) => ParsedData<Data>
  readonly answerBytesMax: number
  readonly isGateway?: boolean
  readonly scrub: (text: string) => string
}

export type ParsedData<Data> =
  | { readonly success: true; readonly data: Data }
  | { readonly success: false; readonly problem: string }

/** Never throws: an answer that is not understood is unknown. Document: Common conventions, 2. */
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
  const parsed = envelope.safeParse(typeof json === 'object' ? { data: undefined, ...json } : json)
  return parsed.success ? parsed.data : 'the answer is not an envelope with a code'
}

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

/** One spot answer uses `message`. */
function messageOf(read: Envelope): string {
  return (read.msg ?? read.message ?? '').slice(0, MESSAGE_CHARS_MAX)
}

const IDS: ReadonlySet<string> = new Set(['orderId', 'clientOid', 'tradeId', 'endId'])

const NUMBER = /^[\d.+-]*$/

/**
 * Texts for logs and files lose line breaks and terminal codes before secrets, because codes may
 * stand between the letters of a secret. Ids lose only secrets.
 * @param text that `json` was parsed from; if it is clean, `json` is returned as it is
 */
function cleanAnswer(json: unknown, text: string, scrub: (text: string) => string): unknown {
  if (/^[\x20-\x5B\x5D-\x7E\t\n\r]*$/.test(text) && scrub(text) === text) return json
  return cleanPart('', json, scrub)
}

function cleanPart(name: string, value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') {
    // Any number may contain a short secret.
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

interface ExactJson {
  parse(
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

const exact = JSON as unknown as ExactJson

/** Keeps unknown fields and the exact digits; `null` without data. */
function dataText(envelopeJson: string): string {
  const read = exact.parse(envelopeJson, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exact.rawJSON(source) : value,
  ) as Envelope
  return JSON.stringify(read.data ?? null)
}

export function answerRulesOf<Name extends CallableName>(
  endpoint: Name,
  options: Pick<AnswerRules<unknown>, 'answerBytesMax' | 'scrub'>,
): AnswerRules<ResponseOf<Name>> {
  const answerBytesMax = answerBytesMaxOf(endpoint, options.answerBytesMax)
  const isGateway = endpointNamed(endpoint).auth === 'schemeB'
  const parse = (data: unknown) => parseData(endpoint, data) as ParsedData<ResponseOf<Name>>
  return { ...options, answerBytesMax, isGateway, parse }
}

export function answerBytesMaxOf(endpoint: CallableName, bytesMax: number): number {
  return endpointNamed(endpoint).listsMarket === true
    ? bytesMax
    : Math.min(bytesMax, ANSWER_BYTES_MAX)
}

function parseData(endpoint: CallableName, data: unknown): ParsedData<unknown> {
  const parsed = endpointNamed(endpoint).response.safeParse(data)
  if (parsed.success) return { success: true, data: parsed.data }
  const [issue] = parsed.error.issues
  const at = ['data', ...(issue?.path ?? [])].map(String).join('.')
  return { success: false, problem: `${at}: ${issue?.message}` }
}
