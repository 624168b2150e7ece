import type { Command } from 'commander'
import { keepListed, withContracts } from '../assembly/instruments/fetch-contracts.ts'
import { listHolders } from '../assembly/state/state-directory.ts'
import { type ConfigOptions, type LoadedConfig, toConfigRequest } from '../config/load-config.ts'
import { listContractRemarks } from '../config/contract-remarks.ts'
import {
  findKnownContracts,
  type KnownContract,
  type KnownContracts,
  type RulesOrigin,
} from '../config/known-contracts.ts'
import { loadAccounts } from '../config/load-accounts.ts'
import { RULE_NAMES } from '../config/schema/exchange-schema.ts'
import { formatProblem } from '../config/yaml/problem.ts'
import type { ContractRules } from '../domain/contract-rules.ts'
import { systemClock } from '../lib/clock.ts'
import { systemTimers } from '../lib/timers.ts'
import { writeAside, writeOut } from '../lib/write-out.ts'
import { addConfigOptions } from './process/options.ts'
import { type Column, formatTable } from './process/table.ts'
import type { VerbFrame } from './process/verb-frame.ts'

interface InstrumentsOptions extends ConfigOptions {
  readonly all?: boolean
  readonly json?: boolean
}

export function addInstrumentsCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('instruments'))
    .description(
      'show the rules of the instruments, and whether the configuration or the exchange says them; keeps what the exchange says while no daemon runs',
    )
    .option(
      '--all',
      'all contracts of the product type that are known, not only the configured ones',
    )
    .option('--json', 'as JSON')
    .action(async (options: InstrumentsOptions) => setExit(await showInstruments(options)))
}

async function showInstruments(options: InstrumentsOptions): Promise<number> {
  const request = await withContracts(toConfigRequest(options), {
    clock: systemClock,
    timers: systemTimers,
  })
  const { main, others } = loadAccounts(request)
  const accounts = [main, ...others].map((account) => {
    const { config } = account
    const answer = request.contracts?.get(config.file)
    const { directory } = config.state
    if (listHolders(directory).length === 0) keepListed(account, request.contracts)
    const known = findKnownContracts(config, { answer, directory })
    return {
      account: config.name,
      productType: config.account.productType,
      instruments: listRows(account, known, options.all === true),
      remarks: listContractRemarks(account, answer).map(({ problem }) => formatProblem(problem)),
    }
  })
  if (options.json === true) writeOut(`${JSON.stringify(accounts, undefined, 2)}\n`)
  else {
    for (const { account, instruments, remarks } of accounts) {
      if (accounts.length > 1) writeOut(`== ${account}\n`)
      writeOut(formatTable(COLUMNS_SHOWN, instruments))
      for (const remark of remarks) writeAside(`! ${remark}\n`)
    }
  }
  return 0
}

type Origin = RulesOrigin | 'configuration'

interface InstrumentRow extends Partial<ContractRules> {
  readonly symbol: string
  readonly isConfigured: boolean
  readonly origins: Readonly<Record<string, Origin>>
  readonly readAt?: number
}

function listRows(
  account: LoadedConfig,
  known: KnownContracts,
  isAll: boolean,
): readonly InstrumentRow[] {
  const configured = Object.keys(account.config.instruments)
  const others = isAll ? known.symbols.filter((symbol) => !configured.includes(symbol)) : []
  return [
    ...configured.map((symbol) => toRow(account, symbol, known.find(symbol))),
    ...others.toSorted().map((symbol) => toRow(undefined, symbol, known.find(symbol))),
  ]
}

/** @param account undefined if the account does not name the instrument */
function toRow(
  account: LoadedConfig | undefined,
  symbol: string,
  contract: KnownContract | undefined,
): InstrumentRow {
  const settings = account?.config.instruments[symbol]
  const isWritten = (name: string): boolean =>
    account?.documents.main.has(['instruments', symbol, name]) ?? false
  const names = [...RULE_NAMES, 'fundingHours'] as const
  const written = Object.fromEntries(
    names.filter(isWritten).map((name) => [name, settings?.[name]]),
  ) as Partial<ContractRules>
  const { rules, origin, readAt } = contract ?? {}
  const values = { ...rules, ...written }
  const origins = Object.keys(values).map((name): [string, Origin] => [
    name,
    isWritten(name) || origin === undefined ? 'configuration' : origin,
  ])
  return {
    symbol,
    isConfigured: account !== undefined,
    ...values,
    origins: Object.fromEntries(origins),
    ...(readAt !== undefined && { readAt }),
  }
}

const COLUMNS_SHOWN: readonly Column<InstrumentRow>[] = [
  { title: 'instrument', of: ({ symbol }) => symbol, isWhole: true },
  { title: 'tick', of: ({ tickSize = '-' }) => tickSize },
  { title: 'lot', of: ({ lotSize = '-' }) => lotSize },
  { title: 'min size', of: ({ minSize = '-' }) => minSize },
  { title: 'min value', of: ({ minNotional = '-' }) => minNotional },
  { title: 'funding', of: ({ fundingHours }) => (fundingHours ? `${fundingHours} h` : '-') },
  { title: 'leverage', of: ({ leverageMax }) => (leverageMax ? `<= ${leverageMax}` : '-') },
  { title: 'status', of: ({ status = '-' }) => status },
  { title: 'rules of', of: describeOrigin, isBelow: true },
]

function describeOrigin({ origins, readAt, launchedAt, offAt }: InstrumentRow): string {
  const said = new Set(RULE_NAMES.flatMap((name) => origins[name] ?? []))
  const words = [...said].map((origin) =>
    origin === 'kept' && readAt !== undefined ? `kept since ${showDay(readAt)}` : origin,
  )
  return [
    words.join(' and '),
    ...(launchedAt === undefined ? [] : [`listed ${showDay(launchedAt)}`]),
    ...(offAt === undefined ? [] : [`removed ${showDay(offAt)}`]),
  ].join(', ')
}

function showDay(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`
}
