import type { ContractRules } from '../../src/domain/contract-rules.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { UniverseWriter } from '../../src/recording/universe/universe-writer.ts'
import type { DrawnTickers } from './drawn-tickers.ts'
import { toBytes } from './ticker-bytes.ts'

const MINUTE_MS = 60_000

export interface KeptMinutes {
  readonly directory: string
  readonly drawn: DrawnTickers
  /** Unix ms, a whole minute. */
  readonly fromAt: number
  readonly minutes: number
  readonly gap?: readonly [number, number]
  readonly edit?: (table: TickerTable, minute: number) => void
  readonly contracts?: (minute: number) => ReadonlyMap<string, ContractRules> | undefined
}

/** A recorder reads a little after each whole minute. */
export function answerAt(fromAt: number, minute: number): number {
  return fromAt + minute * MINUTE_MS + 137 + ((minute * 71) % 400)
}

/** @returns each table, as bytes, by its time */
export async function keepMinutes({
  directory,
  drawn,
  fromAt,
  minutes,
  gap = [0, 0],
  edit,
  contracts,
}: KeptMinutes): Promise<ReadonlyMap<number, string>> {
  const writer = new UniverseWriter({
    directory,
    source: 'api.example.com',
    productType: 'USDT-FUTURES',
    holder: { pid: 1, since: 0, host: 'here', name: 'test', command: 'record' },
    onTorn: () => undefined,
  })
  const table = new TickerTable()
  const kept = new Map<number, string>()
  for (let minute = 0; minute < minutes; minute++) {
    const at = answerAt(fromAt, minute)
    drawn.next(table, at)
    edit?.(table, minute)
    const listed = contracts?.(minute)
    if (listed !== undefined) writer.list({ readAt: at, contracts: listed })
    if (minute >= gap[0] && minute < gap[1]) continue
    kept.set(at, toBytes(table))
    await writer.append(table)
  }
  await writer.close()
  return kept
}
