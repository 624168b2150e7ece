import type { NumberedRecord } from '../../journal/journal-reader.ts'
import { explainOrder, type ExplainContext } from './explain-order.ts'
import {
  type Moment,
  type Explanation,
  wordsOfDecision,
  wordsOfDenial,
  wordsOfFill,
} from './explain-words.ts'

export function explainKey(context: ExplainContext, key: string): readonly Explanation[] {
  const quoted = JSON.stringify(key)
  const records = [...context.reader.records({ containing: `"key":${quoted}` })]
  const clientOids = records.flatMap(({ record }) =>
    record.kind === 'send'
      ? record.orders.filter((order) => order.key === key).map(({ clientOid }) => clientOid)
      : [],
  )
  const wish = explainWish(context, records, { key, hasOrder: clientOids.length > 0 })
  const orders = [...new Set(clientOids)].flatMap(
    (clientOid) => explainOrder(context, clientOid) ?? [],
  )
  const stories = wish === undefined ? orders : [wish, ...orders]
  return stories.length > 0 ? stories : explainFills(context, key)
}

function explainFills(context: ExplainContext, id: string): readonly Explanation[] {
  const quoted = JSON.stringify(id)
  const numbered = new Map(
    [`"tradeId":${quoted}`, `"orderId":${quoted}`]
      .flatMap((containing) => [...context.reader.records({ containing })])
      .map((one) => [one.sequence, one]),
  )
  const moments = [...numbered.values()].flatMap(({ sequence, record }): readonly Moment[] => {
    if (record.kind !== 'fills') return []
    return record.fills
      .filter(({ tradeId, orderId }) => tradeId === id || orderId === id)
      .map((fill) => ({
        sequence,
        at: record.at,
        what: 'filled',
        text: wordsOfFill(context.instruments, fill),
      }))
  })
  if (moments.length === 0) return []
  const verdict =
    'by no order whose clientOid the journal has: `explain SYMBOL` says what happened around it'
  return [{ title: `fill ${id}`, moments, verdict }]
}

function explainWish(
  context: ExplainContext,
  records: readonly NumberedRecord[],
  { key, hasOrder }: { readonly key: string; readonly hasOrder: boolean },
): Explanation | undefined {
  const moments = records.flatMap((numbered) => describeWish(context, numbered, key))
  if (moments.length === 0 || (hasOrder && moments.every(({ what }) => what === 'decided')))
    return undefined
  const last = moments.findLast(({ what }) => what !== 'decided')
  const verdict = last === undefined ? 'wanted, and not sent yet' : `${last.what}: ${last.text}`
  return {
    title: `key ${key}`,
    moments,
    verdict: hasOrder ? 'there was an order, below' : `no order: ${verdict}`,
  }
}

function describeWish(
  context: ExplainContext,
  { sequence, record }: NumberedRecord,
  key: string,
): readonly Moment[] {
  const frameOf = (what: string, text: string): Moment => ({ sequence, at: record.at, what, text })
  if (record.kind === 'decision') {
    const place = record.places?.find((candidate) => candidate.key === key)
    return place
      ? [frameOf('decided', wordsOfDecision(context.instruments, record, place.symbol))]
      : []
  }
  if (record.kind === 'denial' && record.key === key)
    return [frameOf('denied', wordsOfDenial(record))]
  const isDropped = record.kind === 'expire' && record.places.some((place) => place.key === key)
  return isDropped ? [frameOf('dropped', record.reason)] : []
}
