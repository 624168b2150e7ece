import { type Separator, separatorOf, splitCells } from '../csv-columns.ts'
import { INSTRUMENT_COLUMNS, plainTitle } from '../instrument-name.ts'
import type { Field } from '../recording.ts'

export type ShapeKind = 'candles' | 'quotes' | 'trades' | 'funding'
export type ShapeField =
  | Field
  | ('price' | 'size' | 'clock' | 'zone' | 'instrument' | 'exchange')
  | ('quoteVolume' | 'coinVolume' | 'tickVolume')
  | ('id' | 'confirm' | 'periodHours' | 'nextFunding')

export interface CsvShape {
  readonly kind: ShapeKind
  readonly separator: Separator
  readonly hasHeader: boolean
  readonly columns: readonly string[]
  readonly fields: readonly ShapeField[]
  readonly titles: ReadonlyMap<ShapeField, string>
  readonly twins: ReadonlyMap<string, ShapeField>
  readonly isByClose: boolean
  readonly hasSide: boolean
}

export interface ShapeGap {
  readonly kind: ShapeKind
  readonly missing: readonly string[]
}

/** A row may also have a time of its own. */
const PAYMENT_TIMES = ['fundingtime', 'fundingratetimestamp', 'calctime', 'settletime']
const CLOSE_TIMES = ['closetime', 'timeclose', 'endtime', 'timeend']

/**
 * Titles in lower case without spaces, underscores and brackets. The first that a file has is used.
 */
const NAMES: Readonly<Record<ShapeField, readonly string[]>> = {
  at: [
    'tsms',
    'opentime',
    'timeopen',
    'start',
    'starttime',
    'timestamp',
    'time',
    'ts',
    't',
    'unix',
    'mts',
    'unixtimestamp',
    'transacttime',
    'tsevent',
    'calctime',
    'fundingtime',
    'fundingratetimestamp',
    'createdtime',
    'createtime',
    'tradetime',
    'settletime',
    'datetime',
    'gmttime',
    'date',
    ...CLOSE_TIMES,
  ],
  clock: [],
  zone: [
    'timezone',
    'tz',
    'zone',
    'utcoffset',
    'gmtoffset',
    'tzoffset',
    'timezoneoffset',
    'timezonename',
    'tzname',
  ],
  open: ['open', 'openprice', 'o'],
  high: ['high', 'highprice', 'h'],
  low: ['low', 'lowprice', 'l'],
  close: ['close', 'closeprice', 'c'],
  volume: ['basevolume', 'volumebase', 'baseassetvolume', 'realvolume', 'volume', 'vol', 'v'],
  quoteVolume: [
    'quotevolume',
    'volumequote',
    'quoteassetvolume',
    'volccyquote',
    'volquote',
    'turnover',
    'quoteqty',
    'foreignnotional',
  ],
  coinVolume: ['volccy', 'homenotional'],
  tickVolume: ['tickvolume', 'tickvol'],
  bid: ['bid', 'bidprice', 'bestbidprice', 'bidpx'],
  ask: ['ask', 'askprice', 'bestaskprice', 'askpx'],
  bidSize: ['bidsz', 'bidsize', 'bidamount', 'bidqty', 'bestbidqty', 'bestbidamount'],
  askSize: ['asksz', 'asksize', 'askamount', 'askqty', 'bestaskqty', 'bestaskamount'],
  last: ['last', 'lastprice', 'lastpr'],
  mark: ['mark', 'markprice'],
  fundingRate: [
    'realfundingrate',
    'realizedrate',
    'realizedfundingrate',
    'lastfundingrate',
    'fundingrate',
  ],
  price: ['price', 'px'],
  size: ['baseqty', 'size', 'sz', 'qty', 'quantity', 'amount', 'volume'],
  instrument: INSTRUMENT_COLUMNS,
  exchange: ['exchange'],
  id: ['tradeid', 'aggtradeid', 'trdmatchid', 'execid', 'tid', 'id', 'a'],
  confirm: ['confirm', 'confirmed', 'isclosed', 'isfinal'],
  periodHours: ['fundingintervalhours'],
  nextFunding: ['nextfundingtime', 'nextfundingratetimestamp', 'nextupdate'],
}

const SIDES = [
  'side',
  'takerside',
  'trdside',
  'tradeside',
  'direction',
  'type',
  'tradetype',
  'issell',
  'isbuy',
  'bs',
  'isbuyermaker',
  'isbuyerthemaker',
  'buyermaker',
  'aggressorside',
  'makerside',
]

const PRICES_OF_ONE_MEANING: readonly ShapeField[] = ['open', 'high', 'low', 'close', 'price']
const WITHOUT_TWINS: readonly ShapeField[] = [
  'instrument',
  'exchange',
  'id',
  'clock',
  'zone',
  'nextFunding',
]

const WITH_ZONE = /\d(?:Z| ?(?:UTC|GMT)?[+-]\d\d:?\d\d)$/

const VOLUME_IN_COIN = /^volume([a-z0-9]{2,10})$/

interface KindFields {
  readonly kind: ShapeKind
  readonly required: readonly ShapeField[]
  readonly optional: readonly ShapeField[]
}

const KINDS: readonly KindFields[] = [
  {
    kind: 'candles',
    required: ['at', 'open', 'high', 'low', 'close', 'volume'],
    optional: ['mark', 'fundingRate', 'quoteVolume', 'coinVolume', 'tickVolume', 'confirm'],
  },
  {
    kind: 'quotes',
    required: ['at', 'bid', 'ask', 'bidSize', 'askSize', 'last'],
    optional: ['volume', 'mark', 'fundingRate'],
  },
  {
    kind: 'trades',
    required: ['at', 'price', 'size'],
    optional: ['quoteVolume', 'coinVolume', 'id'],
  },
  { kind: 'funding', required: ['at', 'fundingRate'], optional: ['periodHours', 'nextFunding'] },
]

const PRICES: readonly ShapeField[] = ['open', 'close', 'bid', 'ask', 'price', 'last']
const CANDLE_COLUMNS = ['at', 'open', 'high', 'low', 'close', 'volume'] as const

/**
 * @param nextLine the first row below a header @returns the missing columns if the shape is unknown
 */
export function findShape(firstLine: string, nextLine = ''): CsvShape | ShapeGap {
  const separator = separatorOf(firstLine)
  const cells = splitCells(firstLine, separator)
  const shape = /^\d/.test(cells[0] ?? '')
    ? shapeOfRow(cells)
    : shapeOfHeader(cells, splitCells(nextLine, separator))
  return 'missing' in shape ? shape : { ...shape, separator }
}

type ColumnShape = Omit<CsvShape, 'separator'>

function shapeOfHeader(
  titles: readonly string[],
  nextCells: readonly string[],
): ColumnShape | ShapeGap {
  const header = titles.map(plainTitle)
  const places = findPlaces(header, nextCells)
  const gaps: ShapeGap[] = []
  for (const { kind, required, optional } of KINDS) {
    const missing = required.filter((field) => !places.has(field))
    // A file with rates and prices is a file of prices that lacks something.
    if (kind === 'funding' && PRICES.some((field) => places.has(field))) continue
    if (missing.length > 0) {
      gaps.push({ kind, missing: missing.map((field) => describeMissing(field, places, titles)) })
      continue
    }
    const paidAt = PAYMENT_TIMES.find((name) => header.includes(name))
    if (kind === 'funding' && paidAt !== undefined) places.set('at', header.indexOf(paidAt))
    const fields = [...required, ...optional, 'clock', 'zone', 'instrument', 'exchange'].filter(
      (field) => places.has(field as ShapeField),
    ) as ShapeField[]
    const twinOf = (place: number) =>
      fields.find((field) => isTwin({ field, place, header, places }))
    const twinName = (place: number) => `${titles[place]} in column ${place + 1}`
    const columns = header.map(
      (_, place) =>
        fields.find((field) => places.get(field) === place) ??
        (twinOf(place) === undefined ? `other ${place}` : twinName(place)),
    )
    const twins = header.flatMap((_, place) => {
      const field = twinOf(place)
      return field === undefined ? [] : [[twinName(place), field] as const]
    })
    return {
      kind,
      hasHeader: true,
      columns,
      fields,
      twins: new Map(twins),
      titles: new Map(
        fields.map((field) => [field, titles[places.get(field) as number] as string]),
      ),
      isByClose: CLOSE_TIMES.includes(header[places.get('at') as number] ?? ''),
      hasSide: SIDES.some((name) => header.includes(name)),
    }
  }
  const here = ({ kind, missing }: ShapeGap) =>
    (KINDS.find((one) => one.kind === kind)?.required.length ?? 0) - missing.length
  return gaps.toSorted(
    (one, other) => here(other) - here(one) || one.missing.length - other.missing.length,
  )[0] as ShapeGap
}

function isTwin({
  field,
  place,
  header,
  places,
}: {
  readonly field: ShapeField
  readonly place: number
  readonly header: readonly string[]
  readonly places: ReadonlyMap<ShapeField, number>
}): boolean {
  const [own, name] = [places.get(field) as number, header[place] as string]
  if (place === own || WITHOUT_TWINS.includes(field)) return false
  return (
    name === header[own] || (PRICES_OF_ONE_MEANING.includes(field) && NAMES[field].includes(name))
  )
}

function findPlaces(
  header: readonly string[],
  nextCells: readonly string[],
): Map<ShapeField, number> {
  const places = new Map<ShapeField, number>()
  for (const [field, names] of Object.entries(NAMES) as [ShapeField, readonly string[]][]) {
    const name = names.find((candidate) => header.includes(candidate))
    if (name !== undefined) places.set(field, header.indexOf(name))
  }
  const local = header.indexOf('localtime')
  // A local time needs its offset from UTC in the rows.
  if (!places.has('at') && WITH_ZONE.test(nextCells[local] ?? '')) places.set('at', local)
  placeVolumesInCoins(header, places)
  // Yahoo gives the volume of a crypto pair in the quote coin.
  if (header.includes('adjclose')) places.delete('volume')
  const [day, clock] = [header.indexOf('date'), header.indexOf('time')]
  if (day >= 0 && clock >= 0 && /^\d\d?:\d\d/.test(nextCells[clock] ?? '')) {
    places.set('at', day)
    places.set('clock', clock)
  }
  // A Unix time does not depend on the zone, and a date may state its own.
  if (!isWallTime(nextCells[places.get('at') ?? -1] ?? '')) places.delete('zone')
  return places
}

function isWallTime(cell: string): boolean {
  if (/^\d+(\.\d+)?$/.test(cell)) return /^20\d\d(?:0[1-9]|1[0-2])\d\d(?:\d\d){0,3}$/.test(cell)
  return !WITH_ZONE.test(cell) && !/\d ?(?:UTC|GMT)$/.test(cell)
}

/** Which column is in the base coin is decided later, by the figures. */
function placeVolumesInCoins(header: readonly string[], places: Map<ShapeField, number>): void {
  if (places.has('volume')) return
  const [first, second, ...others] = header.flatMap((name, place) =>
    VOLUME_IN_COIN.test(name) ? [place] : [],
  )
  if (first === undefined || second === undefined || others.length > 0) return
  places.set('volume', first)
  places.set('quoteVolume', second)
}

function describeMissing(
  field: ShapeField,
  places: ReadonlyMap<ShapeField, number>,
  titles: readonly string[],
): string {
  if (field === 'at') return 'a time'
  if (field !== 'volume') return field
  const isYahoos = titles.some((title) => /^adj[ _.]?close$/i.test(title))
  const other = places.get('quoteVolume') ?? places.get('tickVolume')
  const title = isYahoos
    ? 'Volume'
    : other === undefined
      ? titles.find((one) => VOLUME_IN_COIN.test(one.toLowerCase().replaceAll(/[ _()]/g, '')))
      : titles[other]
  return title === undefined ? field : `a volume in the base coin (${title} is none)`
}

/**
 * Binance's spot dumps and old futures dumps have no header: twelve columns are candles, one or two
 * `true` or `false` at the end (aggregated) trades. Six or seven columns of numbers are candles.
 */
function shapeOfRow(cells: readonly string[]): ColumnShape | ShapeGap {
  const flags = cells.filter((cell) => /^(true|false)$/i.test(cell)).length
  const fill = (columns: readonly string[]) =>
    cells.map((_, place) => columns[place] ?? `other ${place}`)
  const common = {
    hasHeader: false,
    isByClose: false,
    hasSide: true,
    titles: new Map<ShapeField, string>(),
    twins: new Map<string, ShapeField>(),
  }
  if (flags > 0) {
    const trades = { ...common, kind: 'trades' } as const
    const numbers = cells.length - flags
    if (numbers === 5)
      return {
        ...trades,
        fields: ['at', 'price', 'size', 'quoteVolume', 'id'],
        columns: fill(['id', 'price', 'size', 'quoteVolume', 'at']),
      }
    if (numbers === 6)
      return {
        ...trades,
        fields: ['at', 'price', 'size', 'id'],
        columns: fill(['id', 'price', 'size', 'from', 'to', 'at']),
      }
    return { kind: 'trades', missing: ['a header'] }
  }
  // MetaTrader 4 writes a date, a time of day, and a volume that counts price changes.
  if (/^\d\d?:\d\d/.test(cells[1] ?? ''))
    return {
      kind: 'candles',
      missing: ['a header', "a volume in the base coin (MetaTrader's is none)"],
    }
  if (cells.length === 3) return { kind: 'trades', missing: ['a header such as time,price,volume'] }
  const candles = { ...common, kind: 'candles' } as const
  if (cells.length === 12)
    return {
      ...candles,
      fields: [...CANDLE_COLUMNS, 'quoteVolume'],
      columns: fill([...CANDLE_COLUMNS, 'closeTime', 'quoteVolume']),
    }
  if (cells.length !== 6 && cells.length !== 7) return { kind: 'candles', missing: ['a header'] }
  return { ...candles, fields: CANDLE_COLUMNS, columns: fill(CANDLE_COLUMNS) }
}
