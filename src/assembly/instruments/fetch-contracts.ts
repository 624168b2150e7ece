import { dirname, resolve } from 'node:path'
import { keepContracts, keptOf, mergeContracts } from '../../config/kept-contracts.ts'
import {
  type ContractAnswers,
  contractsAddressOf,
  type ContractsAnswer,
} from '../../config/known-contracts.ts'
import {
  type ConfigRequest,
  type LoadedConfig,
  readMainFile,
  stateOf,
} from '../../config/load-config.ts'
import { loadProxies } from '../../config/proxy.ts'
import type { DaemonFile } from '../../config/schema/daemon-schema.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { readContracts } from '../../exchange/readers/contracts-reader.ts'
import type { Clock } from '../../lib/clock.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'

/** A start waits no longer, because it can do without contracts. */
const TIMEOUT_MS_MAX = 3000

interface FetchFrame {
  readonly clock: Clock
  readonly timers: Timers
}

interface ContractsPlace {
  readonly file: string
  readonly directory: string
  readonly address: string
  readonly account: DaemonFile['account']
  readonly exchange: DaemonFile['exchange']
  readonly symbols: readonly string[]
}

/**
 * Asks each exchange and product type once. Returns the request unchanged if no account may read,
 * or prices are played. Never throws.
 */
export async function withContracts(
  request: ConfigRequest,
  frame: FetchFrame,
): Promise<ConfigRequest> {
  const places = listPlaces(request)
  if (places.length === 0) return request
  const fetches = new Map<string, ReturnType<typeof fetchContracts>>()
  const contracts = new Map<string, ContractsAnswer>()
  for (const place of places) {
    const key = `${place.address} ${place.account.productType}`
    const fetching = fetches.get(key) ?? fetchContracts(place, frame)
    fetches.set(key, fetching)
    contracts.set(place.file, toAnswer(place, await fetching))
  }
  return { ...request, contracts }
}

function listPlaces(request: ConfigRequest): readonly ContractsPlace[] {
  const { file, overrides = [], played, cwd } = request
  const mainFile = resolve(cwd, file)
  const { value } = readMainFile({ file: mainFile, cwd, overrides })
  const isPlayed = (played?.files.length ?? 0) > 0
  if (value === undefined || (isPlayed && value.exchange.baseUrl === undefined)) return []
  const others = (value.accounts ?? []).flatMap((name) => {
    const other = resolve(dirname(mainFile), name)
    return toPlace(other, readMainFile({ file: other, cwd }).value)
  })
  return [...toPlace(mainFile, value), ...others]
}

/** Returns none for an unreadable file, which is reported elsewhere. */
function toPlace(file: string, value: DaemonFile | undefined): readonly ContractsPlace[] {
  const address = value && contractsAddressOf(value)
  if (value === undefined || address === undefined || !value.exchange.beyondDocument) return []
  const { exchange, account, instruments } = value
  const directory = stateOf(value, dirname(file))
  return [{ file, directory, address, account, exchange, symbols: Object.keys(instruments) }]
}

type ContractsAttempt =
  | Pick<Parameters<typeof mergeContracts>[1], 'contracts' | 'readAt'>
  | { readonly reason: string }

async function fetchContracts(
  { address, account, exchange }: ContractsPlace,
  { clock, timers }: FetchFrame,
): Promise<ContractsAttempt> {
  try {
    const client = new ExchangeClient({
      baseUrl: address,
      requestTimeoutMs: Math.min(exchange.requestTimeoutMs, TIMEOUT_MS_MAX),
      answerBytesMax: exchange.answerBytesMax,
      locale: exchange.locale,
      positionMode: account.positionMode,
      proxyFor: loadProxies({ exchange }),
      offset: new ExchangeClock(),
      clock,
      timers,
    })
    try {
      const answer = await readContracts(client, account.productType)
      if (answer.kind !== 'accepted') return { reason: `${answer.code} ${answer.message}`.trim() }
      return { contracts: answer.data, readAt: answer.receivedAt }
    } finally {
      await client.close()
    }
  } catch (error) {
    return { reason: messageOf(error) }
  }
}

function toAnswer(
  { directory, address, account: { productType }, symbols }: ContractsPlace,
  fetched: ContractsAttempt,
): ContractsAnswer {
  const before = keptOf(directory, address, productType)
  if ('reason' in fetched) return { before, reason: fetched.reason }
  const reading = { ...fetched, source: address, productType }
  return { before, now: mergeContracts(before, reading, symbols) }
}

/** Keeps the contracts for the next start. On a full disk those of an earlier start stay. */
export function keepListed(
  { config: { file, state } }: LoadedConfig,
  contracts: ContractAnswers | undefined,
): void {
  const now = contracts?.get(file)?.now
  if (now === undefined) return
  try {
    makeDirectory(state.directory, 0o700)
    keepContracts(state.directory, now)
  } catch {}
}
