/**
 * Valid intents are copied, so that a strategy holds no reference into the daemon; an invalid one
 * becomes a denial with its index.
 */
import type { Denial, DenialCode } from '../domain/denial.ts'
import {
  type CancelMarginIntent,
  type CopySettingsIntent,
  type Force,
  type Intent,
  type ModifyTriggerIntent,
  type PlaceIntent,
  type QuoteLevel,
  TAG_LENGTH_MAX,
} from '../domain/intent.ts'
import type { OrderAction } from '../domain/order-action.ts'
import { cleanLine } from '../lib/text/clean-text.ts'
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import { isRecord } from '../lib/plain-data.ts'

const INTENTS_MAX = 500

/** The exchange allows fewer orders on one side. */
const LEVELS_MAX = 200

const KEY_LENGTH_MAX = 128

export interface IntentDenial extends Denial {
  readonly index: number
}

export interface IntentsReading {
  readonly intents: readonly Intent[]
  readonly denials: readonly IntentDenial[]
}

type Fields = Readonly<Record<string, unknown>>

/** @param before equal intents, and an equal list, are returned as the same objects */
export function readIntents(
  strategyId: string,
  values: readonly unknown[],
  before: readonly Intent[] = [],
): IntentsReading {
  if (repeatAll(values, before)) return { intents: before, denials: NO_DENIALS }
  const intents: Intent[] = []
  const denials: IntentDenial[] = []
  for (let index = 0; index < values.length && index < INTENTS_MAX; index++) {
    const value = values[index]
    const known = before[index]
    try {
      const intent = known && repeats(value, known) ? known : readIntent(value)
      intents.push(intent)
    } catch (error) {
      denials.push({ index, strategyId, symbol: symbolOf(value), ...toReason(error) })
    }
  }
  if (values.length > INTENTS_MAX) {
    const detail = `${values.length} intents, limit ${INTENTS_MAX}`
    denials.push({ index: INTENTS_MAX, strategyId, symbol: '', code: 'INTENTS_TOO_MANY', detail })
  }
  return { intents, denials }
}

const NO_DENIALS: readonly IntentDenial[] = []

function repeatAll(values: readonly unknown[], before: readonly Intent[]): boolean {
  if (values.length !== before.length) return false
  try {
    for (let index = 0; index < before.length; index++) {
      const known = before[index]
      if (known === undefined || !repeats(values[index], known)) return false
    }
    return true
  } catch {
    return false // A getter threw; the slow path finds its intent.
  }
}

class IntentFault extends Error {
  override readonly name = 'IntentFault'
  readonly code: DenialCode

  constructor(detail: string, code: DenialCode = 'INTENT_MALFORMED') {
    super(detail)
    this.code = code
  }
}

function toReason(error: unknown): { code: DenialCode; detail: string } {
  if (error instanceof IntentFault) return { code: error.code, detail: error.message }
  return { code: 'INTENT_MALFORMED', detail: 'reading it threw' }
}

/** Most decisions repeat a ladder or a target, and the earlier copy is then kept. */
function repeats(value: unknown, known: Intent): boolean {
  if ((known.kind !== 'quote' && known.kind !== 'target') || !isRecord(value)) return false
  if (value['kind'] !== known.kind || value['symbol'] !== known.symbol) return false
  if (known.kind === 'target') return value['lots'] === known.lots && value['tag'] === known.tag
  return repeatsLevels(value['levels'], known.levels)
}

function repeatsLevels(levels: unknown, known: readonly QuoteLevel[]): boolean {
  if (!Array.isArray(levels) || levels.length !== known.length) return false
  for (let place = 0; place < known.length; place++) {
    const level: unknown = levels[place]
    const before = known[place]
    if (!isRecord(level) || before === undefined || level['side'] !== before.side) return false
    if (level['ticks'] !== before.ticks || level['lots'] !== before.lots) return false
    if (level['tag'] !== before.tag) return false
  }
  return true
}

const READERS: { readonly [Kind in Intent['kind']]: (fields: Fields, symbol: string) => Intent } = {
  place: readPlace,
  quote: (fields, symbol) => ({ kind: 'quote', symbol, levels: readLevels(fields['levels']) }),
  target: (fields, symbol) => {
    const lots = readWhole(fields, 'lots', { code: 'SIZE_PRECISION', min: -Infinity })
    return { kind: 'target', symbol, lots, ...optional(fields, 'tag', readTag) }
  },
  cancelAll: (_, symbol) => ({ kind: 'cancelAll', symbol }),
  modifyTrigger: readModifyTrigger,
  cancelMargin: readCancelMargin,
  copySettings: readCopySettings,
}

function readIntent(value: unknown): Intent {
  const fields = readObject(value, 'the intent')
  const symbol = readText(fields, 'symbol')
  const { kind } = fields
  if (typeof kind !== 'string' || !Object.hasOwn(READERS, kind))
    throw new IntentFault(`kind: ${show(kind)}`)
  assertKnown(fields, kind as Intent['kind'])
  return READERS[kind as Intent['kind']](fields, symbol)
}

const FIELDS: { readonly [Kind in Intent['kind']]: readonly string[] } = {
  place: [
    'key',
    'action',
    'lots',
    'ticks',
    'force',
    'takeProfitTicks',
    'stopLossTicks',
    'ttlMs',
    'tag',
  ],
  quote: ['levels'],
  target: ['lots', 'tag'],
  cancelAll: [],
  modifyTrigger: ['orderId', 'key', 'triggerTicks', 'takeProfitTicks', 'stopLossTicks'],
  cancelMargin: ['key', 'orders'],
  copySettings: ['key', 'change', 'takeProfitRatio', 'stopLossRatio'],
}

/**
 * A misspelt optional field would change the meaning: without its price an order is a market order.
 */
function assertKnown(fields: Fields, kind: Intent['kind']): void {
  const known = FIELDS[kind]
  for (const name of Object.keys(fields)) {
    if (name === 'kind' || name === 'symbol' || known.includes(name)) continue
    throw new IntentFault(`${shortenName(name)}: no field of ${kind}${didYouMeanEnd(name, known)}`)
  }
}

const shortenName = (name: string): string => cleanLine(name).slice(0, 40)

function readPlace(fields: Fields, symbol: string): PlaceIntent {
  const key = fields['key']
  if (key === undefined || key === '') throw new IntentFault('key: missing', 'KEY_MISSING')
  return {
    kind: 'place',
    symbol,
    key: readText(fields, 'key'),
    action: readOneOf(fields, 'action', ACTIONS),
    lots: readLots(fields),
    ...optional(fields, 'ticks', readTicks),
    ...optional(fields, 'force', () => readOneOf(fields, 'force', FORCES)),
    ...optional(fields, 'takeProfitTicks', readTicks),
    ...optional(fields, 'stopLossTicks', readTicks),
    ...optional(fields, 'ttlMs', readDuration),
    ...optional(fields, 'tag', readTag),
  }
}

function readLevels(value: unknown): readonly QuoteLevel[] {
  if (!Array.isArray(value)) throw new IntentFault(`levels: ${show(value)}, not a list`)
  if (value.length > LEVELS_MAX)
    throw new IntentFault(`levels: ${value.length}, limit ${LEVELS_MAX}`)
  // Unlike map, Array.from does not skip holes.
  return Array.from(value as readonly unknown[], (entry, index) => {
    const level = readObject(entry, `levels[${index}]`)
    try {
      return {
        side: readOneOf(level, 'side', SIDES),
        ticks: readTicks(level, 'ticks'),
        lots: readLots(level),
        ...optional(level, 'tag', readTag),
      }
    } catch (error) {
      if (!(error instanceof IntentFault)) throw error
      throw new IntentFault(`levels[${index}].${error.message}`, error.code)
    }
  })
}

function readModifyTrigger(fields: Fields, symbol: string): ModifyTriggerIntent {
  const readOrNull = (from: Fields, name: string) =>
    from[name] === null ? null : readTicks(from, name)
  return {
    kind: 'modifyTrigger',
    symbol,
    orderId: readText(fields, 'orderId'),
    key: readText(fields, 'key'),
    ...optional(fields, 'triggerTicks', readTicks),
    ...optional(fields, 'takeProfitTicks', readOrNull),
    ...optional(fields, 'stopLossTicks', readOrNull),
  }
}

function readCancelMargin(fields: Fields, symbol: string): CancelMarginIntent {
  const { orders } = fields
  const key = readText(fields, 'key')
  if (orders === undefined) return { kind: 'cancelMargin', symbol, key }
  if (!Array.isArray(orders)) throw new IntentFault(`orders: ${show(orders)}, not a list`)
  if (orders.length > LEVELS_MAX)
    throw new IntentFault(`orders: ${orders.length}, limit ${LEVELS_MAX}`)
  const named = Array.from(orders as readonly unknown[], (entry, index) => {
    const order = readObject(entry, `orders[${index}]`)
    const readName = (from: Fields, name: string) => readText(from, name)
    return { ...optional(order, 'orderId', readName), ...optional(order, 'clientOid', readName) }
  })
  return { kind: 'cancelMargin', symbol, key, orders: named }
}

function readCopySettings(fields: Fields, symbol: string): CopySettingsIntent {
  const readRatio = (from: Fields, name: string) =>
    from[name] === null ? null : readWhole(from, name, { code: 'INTENT_MALFORMED', min: 1 })
  return {
    kind: 'copySettings',
    symbol,
    key: readText(fields, 'key'),
    change: readOneOf(fields, 'change', SETTING_CHANGES),
    ...optional(fields, 'takeProfitRatio', readRatio),
    ...optional(fields, 'stopLossRatio', readRatio),
  }
}

const SETTING_CHANGES = ['ADD', 'DELETE', 'UPDATE'] as const
const SIDES = ['buy', 'sell'] as const
const ACTIONS = [
  'openLong',
  'closeLong',
  'openShort',
  'closeShort',
] as const satisfies readonly OrderAction[]
const FORCES = ['gtc', 'ioc', 'fok', 'post_only'] as const satisfies readonly Force[]

function readObject(value: unknown, what: string): Fields {
  if (isRecord(value)) return value
  throw new IntentFault(`${what}: ${show(value)}, not an object`)
}

const readTag = (fields: Fields, name: string): string => readText(fields, name, TAG_LENGTH_MAX)

function readText(fields: Fields, name: string, lengthMax = KEY_LENGTH_MAX): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '')
    throw new IntentFault(`${name}: ${show(value)}, not a text`)
  if (value.length > lengthMax)
    throw new IntentFault(`${name}: longer than ${lengthMax} characters`)
  // Two keys with such halves could have the same bytes, and so the same clientOid (ORD2).
  if (!value.isWellFormed()) throw new IntentFault(`${name}: half of a character`)
  // A control character could break log lines and files.
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    throw new IntentFault(`${name}: a control character in it`)
  return value
}

function readOneOf<Word extends string>(
  fields: Fields,
  name: string,
  words: readonly Word[],
): Word {
  const value = fields[name]
  const word = words.find((candidate) => candidate === value)
  if (word === undefined)
    throw new IntentFault(`${name}: ${show(value)}, not one of ${words.join(', ')}`)
  return word
}

function readWhole(
  fields: Fields,
  name: string,
  { code, min }: { code: DenialCode; min: number },
): number {
  const value = fields[name]
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new IntentFault(`${name}: ${show(value)}, not a number`)
  if (!Number.isSafeInteger(value) || value < min) throw new IntentFault(`${name}: ${value}`, code)
  // JSON has no -0, so a decision and its record would differ.
  return value === 0 ? 0 : value
}

const readTicks = (fields: Fields, name: string) =>
  readWhole(fields, name, { code: 'PRICE_PRECISION', min: 1 })

const readLots = (fields: Fields) => readWhole(fields, 'lots', { code: 'SIZE_PRECISION', min: 1 })

const readDuration = (fields: Fields, name: string) =>
  readWhole(fields, name, { code: 'INTENT_MALFORMED', min: 0 })

function optional<Name extends string, Value>(
  fields: Fields,
  name: Name,
  read: (fields: Fields, name: Name) => Value,
): { readonly [key in Name]?: Value } {
  if (fields[name] === undefined) return {}
  return { [name]: read(fields, name) } as { readonly [key in Name]?: Value }
}

function symbolOf(value: unknown): string {
  try {
    const symbol = (value as { readonly symbol?: unknown } | undefined)?.symbol
    return typeof symbol === 'string' ? symbol.slice(0, KEY_LENGTH_MAX) : ''
  } catch {
    return '' // The denial reports the getter that threw.
  }
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'function' || typeof value === 'symbol'
    ? `a ${typeof value}`
    : String(value)
}
