import { gzipSync } from 'node:zlib'
import { type Answer } from '../../../src/domain/answer.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { isUnreadable } from '../../../src/protocol/answer-values.ts'
import { type EndpointName } from '../../../src/protocol/endpoints.ts'

/** A whole answer, or none. */
export type Bytes =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly body: Buffer
      readonly contentEncoding: '' | 'gzip'
    }
  | { readonly kind: 'lost'; readonly cause: 'timeout' | 'connectionLost' }
  | { readonly kind: 'notSent' }

/** A whole number below `ways`, drawn at each call. */
export type Draw = (ways: number) => number

type Row = Readonly<Record<string, unknown>>

const PAGE = '<html><body><h1>Attention required</h1></body></html>'
const UNHEARD = { unheard: { of: [1, '2', null] } }

/**
 * Renders an outcome for the wire in any form that the exchange may use: unknown fields, times as
 * text, repeated or reordered rows, null for empty lists, packed. The client must reproduce the
 * outcome.
 */
export function renderAnswer(site: EndpointName, answer: Answer<unknown>, draw: Draw): Bytes {
  const times =
    answer.requestTime === undefined ? {} : { requestTime: asTime(answer.requestTime, draw) }
  switch (answer.kind) {
    case 'accepted':
      return render(
        200,
        { code: '00000', msg: 'success', ...times, data: dress(site, answer.data, draw) },
        draw,
      )
    case 'refused': {
      const { class: refusal, status = 400, code, message: msg } = answer
      if (refusal === 'notSent') return { kind: 'notSent' }
      return render(status, { code, msg, ...times, ...(draw(2) === 0 && { data: null }) }, draw)
    }
    case 'unknown': {
      const { cause, status = 200, code, message: msg } = answer
      if (cause === 'timeout' || cause === 'connectionLost') return { kind: 'lost', cause }
      if (cause === 'ambiguousCode')
        return render(status, { code, msg, ...times, data: null }, draw)
      return { kind: 'answered', status, body: Buffer.from(PAGE), contentEncoding: '' }
    }
    default:
      return unreachable(answer)
  }
}

function asTime(requestTime: number, draw: Draw): number | string {
  return draw(4) === 0 ? String(requestTime) : requestTime
}

function render(status: number, envelope: Row, draw: Draw): Bytes {
  const text = JSON.stringify(draw(3) === 0 ? { ...UNHEARD, ...envelope } : envelope)
  const isPacked = draw(16) === 0
  const body = isPacked ? gzipSync(text) : Buffer.from(text)
  return { kind: 'answered', status, body, contentEncoding: isPacked ? 'gzip' : '' }
}

type Dressing = (data: unknown, draw: Draw) => unknown

const DRESSINGS: Readonly<Partial<Record<EndpointName, Dressing>>> = {
  orderFills: (data, draw) => {
    const { fillList, ...rest } = data as { readonly fillList: readonly Row[] }
    // A page is full by its number of rows and continues after its last ones: only their order is
    // free.
    return { ...rest, fillList: emptyOr(reordered(fillList.map(asWritten), draw), draw) }
  },
  singlePosition: (data, draw) =>
    data === null ? null : reordered((data as readonly Row[]).map(asWritten), draw),
  batchPlaceOrder: dressLists,
  cancelAllOrders: dressLists,
}

function dress(site: EndpointName, data: unknown, draw: Draw): unknown {
  return DRESSINGS[site]?.(data, draw) ?? data
}

function dressLists(data: unknown, draw: Draw): unknown {
  const { successList, failureList } = data as Readonly<Record<string, readonly Row[]>>
  return {
    ...(draw(3) === 0 && UNHEARD),
    successList: emptyOr(doubled(reordered((successList ?? []).map(asWritten), draw), draw), draw),
    failureList: emptyOr(doubled(reordered((failureList ?? []).map(asWritten), draw), draw), draw),
  }
}

/** An odd row that the world has read already, as it may have been written. */
function asWritten(row: Row): unknown {
  if (!isUnreadable(row)) return row
  return Object.keys(row.texts).length === 0 ? null : { ...row.texts }
}

function reordered<Value>(rows: readonly Value[], draw: Draw): readonly Value[] {
  return rows.length > 1 && draw(3) === 0 ? rows.toReversed() : rows
}

function doubled<Value>(rows: readonly Value[], draw: Draw): readonly Value[] {
  const [first] = rows
  return first !== undefined && draw(4) === 0 ? [...rows, first] : rows
}

function emptyOr<Value>(rows: readonly Value[], draw: Draw): readonly Value[] | null {
  return rows.length === 0 && draw(3) === 0 ? null : rows
}
