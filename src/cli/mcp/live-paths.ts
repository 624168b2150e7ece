// Where the daemon answers what a tool asks for; undefined if only its command can.

import { MOVE_MAX, MOVE_MIN, MOVE_USUAL } from '../../control/what-if-view.ts'
import { parseInstant } from '../process/options.ts'

interface ExplainInput {
  readonly subject: string
  readonly since?: string | undefined
  readonly limit: number
}

export function explainPath({ subject, since, limit }: ExplainInput): string | undefined {
  return toPath('/v1/explain', { subject, since: readInstant(since), limit })
}

interface SpanInput {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

interface BookedInput extends SpanInput {
  readonly symbol?: string | undefined
  readonly strategy?: string | undefined
  readonly limit: number
}

export function bookedPath(
  path: string,
  { since, until, symbol, strategy, limit }: BookedInput,
): string | undefined {
  const span = { since: readInstant(since), until: readInstant(until) }
  return toPath(path, { ...span, symbol, strategy, limit })
}

interface ProfitInput extends SpanInput {
  readonly by: string
}

export function profitPath({ by, since, until }: ProfitInput): string | undefined {
  return toPath('/v1/journal/profit', { by, since: readInstant(since), until: readInstant(until) })
}

type QueryValue = string | number | undefined

/** @param query Undefined values are left out. NaN: the command says how an instant is written. */
function toPath(path: string, query: Readonly<Record<string, QueryValue>>): string | undefined {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.some(([, value]) => Number.isNaN(value))) return undefined
  const search = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  )
  return `${path}?${search.toString()}`
}

/** @returns NaN if it is none */
function readInstant(text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : parseInstant(text)
  } catch {
    return Number.NaN
  }
}

interface WhatIfInput {
  readonly move?: readonly string[] | undefined
  readonly fillAll: boolean
}

export function whatIfPath({ move: texts, fillAll }: WhatIfInput): string | undefined {
  const { all, moves } = readMoves(texts)
  // The command says how far a price can move.
  if ([all, ...moves.values()].some((share) => !(share >= MOVE_MIN && share <= MOVE_MAX)))
    return undefined
  const named = [...moves].map(([symbol, share]) => `${symbol}:${share}`).join(',')
  return toPath('/v1/whatif', { move: all, moves: named, fill: fillAll ? 'all' : 'reached' })
}

/** The last text of an instrument, or of all others, counts. */
export function readMoves(texts: readonly string[] = []): {
  readonly all: number
  readonly moves: ReadonlyMap<string, number>
} {
  const shares = texts.map((text): readonly [string, number] => {
    const [share = '', symbol = ''] = text.split('=').toReversed()
    return [symbol, Number(share.slice(0, -1)) / 100]
  })
  const moves = new Map(shares)
  const all = moves.get('') ?? (texts.length === 0 ? MOVE_USUAL : 0)
  moves.delete('')
  return { all, moves }
}
