import { type Answer } from '../../../src/domain/answer.ts'
import { readAnswer } from '../../../src/exchange/client/answer-reader.ts'
import { endpointNamed, type CallableName } from '../../../src/protocol/endpoints.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'

export interface GarbledAnswer<Data> {
  readonly reply: Reply<Data>
  readonly endpoint: CallableName
  /** Unix ms, clock of the machine that answers; undefined: it names none. */
  readonly requestTime: number | undefined
  /** Unix ms, our clock. */
  readonly receivedAt: number
  /** Any whole number. */
  readonly way: number
}

const PAGE = '<html><body><h1>Attention required</h1></body></html>'
const ANSWER_BYTES_MAX = 1_000_000

/** None of these can turn one true value into another. */
const WAYS: readonly ((body: string) => string)[] = [
  () => '',
  () => PAGE,
  (body) => body.slice(0, Math.floor(body.length / 2)),
  (body) => body.slice(0, -1),
  (body) => body.replace(/"data":.*/, '"data":null}'),
  (body) => body.replace(/"data":.*/, '"data":"null"}'),
  (body) => body.replace(/"data":.*/, '"data":[[[]]]}'),
  (body) => body.replace('"code":"00000"', '"code":0'),
  (body) => body.replace('"code":"00000"', '"code":""'),
  (body) => body.replace('"code":"00000",', ''),
  (body) => body.replace('"successList":[', '"successList":[7,'),
  (body) => body.replace('"successList"', '"success_list"'),
  (body) => `\uFEFF${body}`,
  (body) => `${body}${body}`,
  () => 'null',
]

/** Passes a spoilt answer through our own reader. */
export function readGarbled<Data>(garbled: GarbledAnswer<Data>): Answer<Data> {
  const { reply, endpoint, requestTime, receivedAt, way } = garbled
  const body = reply.ok
    ? { code: '00000', msg: 'success', requestTime, data: reply.data }
    : { code: reply.code, msg: reply.message, requestTime, data: null }
  const spoil = WAYS[way % WAYS.length] ?? (() => '')
  return readWire<Data>(spoil(JSON.stringify(body)), {
    endpoint,
    status: reply.ok ? 200 : 400,
    receivedAt,
  })
}

/** A page of something before the exchange: a redirect, or a refusal in HTML. */
export function readPage(
  endpoint: CallableName,
  status: number,
  receivedAt: number,
): Answer<never> {
  return readWire<never>(PAGE, { endpoint, status, receivedAt })
}

interface WireFacts {
  readonly endpoint: CallableName
  readonly status: number
  readonly receivedAt: number
}

function readWire<Data>(body: string, { endpoint, status, receivedAt }: WireFacts): Answer<Data> {
  return readAnswer<Data>(
    { status, contentEncoding: '', body: Buffer.from(body), sentAt: receivedAt, receivedAt },
    {
      parse: (data) => {
        const parsed = endpointNamed(endpoint).response.safeParse(data)
        return parsed.success
          ? { success: true, data: parsed.data as Data }
          : { success: false, problem: 'not the shape of the document' }
      },
      answerBytesMax: ANSWER_BYTES_MAX,
      scrub: (text) => text,
    },
  )
}
