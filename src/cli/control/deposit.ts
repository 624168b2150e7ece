import { type Command, InvalidArgumentError } from 'commander'
import type { ConfigOptions } from '../../config/load-config.ts'
import type { ControlRequest } from '../../control/commands.ts'
import type { Deposit } from '../../domain/deposit.ts'
import { newRequestId } from '../operator/request-id.ts'
import { startOfDate } from '../../lib/start-of-day.ts'
import { writeOut } from '../../lib/write-out.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { sendCommand } from '../operator/send-command.ts'
import { print } from '../process/operator.ts'
import { parseDayOrInstant } from '../process/options.ts'
import { formatTable } from '../process/table.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { withRows } from './journal-rows.ts'

const EXIT_USAGE = 64
const DECIMAL = /^\d{1,20}(\.\d{1,20})?$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const NOTE_MAX = 500

interface DepositOptions extends ConfigOptions {
  readonly coin?: string
  readonly at?: string
  readonly note: string
  readonly key?: string
  readonly dryRun?: boolean
}

interface ListingOptions extends DepositOptions {
  readonly list?: boolean
  readonly json?: boolean
  readonly correct?: string
}

type EntryOrder = Extract<
  ControlRequest['order'],
  { readonly kind: 'deposit' | 'withdrawal' | 'correctDeposit' }
>

export function addDepositCommand(program: Command, { setExit }: VerbFrame): void {
  addEntryOptions(program.command('deposit'))
    .description('enter money that came into the account from outside, list or correct entries')
    .argument('[amount]', 'such as 1000 or 12.5', parseAmount)
    .option('--list', 'show the entries instead, from the journal')
    .option('--json', 'the list as JSON')
    .option('--correct <entry>', 'take an entry back, by one of the opposite amount', parseEntry)
    .action(async (amount: string | undefined, options: ListingOptions) =>
      setExit(await enterOrList(amount, options)),
    )
}

export function addWithdrawalCommand(program: Command, { setExit }: VerbFrame): void {
  addEntryOptions(program.command('withdrawal'))
    .description('enter money that left the account for outside')
    .argument('<amount>', 'such as 1000 or 12.5', parseAmount)
    .action(async (amount: string, options: DepositOptions) =>
      setExit(
        await send((at) => ({ kind: 'withdrawal', amount, ...movedOf(options, at) }), options),
      ),
    )
}

function addEntryOptions(command: Command): Command {
  return addOperatedOptions(command)
    .option('--coin <coin>', 'default: the margin coin, the only one that equity counts', parseCoin)
    .option(
      '--at <when>',
      'when it was moved: a day, an instant or 2h ago (default: now)',
      (text) => String(parseDayOrInstant(text)),
    )
    .option('--note <text>', 'kept in the journal', parseNote, 'at the command line')
    .option(
      '--key <key>',
      'names the command: given again with the same one, nothing is entered twice (default: a new one)',
      parseKey,
    )
    .option('--dry-run', 'say what would be entered, and do nothing')
}

function parseAmount(text: string): string {
  if (DECIMAL.test(text)) return text
  throw new InvalidArgumentError('write a decimal without a sign, such as 1000 or 12.5.')
}

function parseEntry(text: string): string {
  if (/^\d{1,9}$/.test(text)) return text
  throw new InvalidArgumentError('write the number of an entry; --list shows them.')
}

function parseCoin(text: string): string {
  if (/^[A-Z0-9]{2,20}$/.test(text)) return text
  throw new InvalidArgumentError('write a coin in capitals, such as USDT.')
}

function parseNote(text: string): string {
  if (text !== '' && text.length <= NOTE_MAX) return text
  throw new InvalidArgumentError(`write 1 to ${NOTE_MAX} characters.`)
}

function parseKey(text: string): string {
  if (/^[\w:.-]{8,100}$/.test(text)) return text
  throw new InvalidArgumentError('write 8 to 100 letters, digits, _, :, . or -.')
}

async function enterOrList(amount: string | undefined, options: ListingOptions): Promise<number> {
  const { list, correct } = options
  if ([amount, list, correct].filter((given) => given !== undefined).length !== 1) {
    print('give an amount, or --correct with the number of an entry, or --list')
    return EXIT_USAGE
  }
  if (list === true) return showEntries(options)
  if (correct !== undefined) {
    if (options.at !== undefined || options.coin !== undefined) {
      print('a correction has the time and the coin of its entry: leave out --at and --coin')
      return EXIT_USAGE
    }
    return send(() => ({ kind: 'correctDeposit', id: correct }), options)
  }
  return send(
    (at) => ({ kind: 'deposit', amount: String(amount), ...movedOf(options, at) }),
    options,
  )
}

function movedOf(
  { coin }: DepositOptions,
  movedAt: number | undefined,
): { readonly coin?: string; readonly movedAt?: number } {
  return { ...(coin !== undefined && { coin }), ...(movedAt !== undefined && { movedAt }) }
}

async function send(
  toOrder: (movedAt: number | undefined) => EntryOrder,
  options: DepositOptions,
): Promise<number> {
  const config = loadOperated(options)
  const { key = newRequestId(), note, dryRun, at } = options
  const order = toOrder(at === undefined ? undefined : toInstant(at, config.calendar.timezone))
  return sendCommand(config, {
    key,
    reason: note,
    order: { ...order, account: config.name, ...(dryRun === true && { dryRun }) },
    words: {
      withoutDaemon:
        'not entered: no daemon runs with this configuration; start it, and enter it then',
      unanswered: 'it may be entered all the same',
    },
  })
}

function toInstant(at: string, timeZone: string): number {
  return DAY.test(at) ? startOfDate(at, timeZone) : Math.round(Number(at))
}

function showEntries(options: ListingOptions): number {
  withRows(options, ({ book }) => {
    const entries = [...book().deposits.values()]
    writeOut(options.json === true ? `${JSON.stringify(entries, undefined, 2)}\n` : format(entries))
  })
  return 0
}

function format(entries: readonly Deposit[]): string {
  if (entries.length === 0) return 'no deposit and no withdrawal was entered\n'
  const time = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return formatTable(
    [
      { title: 'entry', of: ({ id }: Deposit) => id, isNumber: true },
      { title: 'moved, UTC', of: ({ movedAt }) => time(movedAt), isWhole: true },
      { title: 'amount', of: ({ amount }) => amount, isNumber: true },
      { title: '', of: ({ coin }) => coin },
      { title: 'entered, UTC', of: ({ enteredAt }) => time(enteredAt), isWhole: true },
      { title: 'by', of: ({ by }) => by, isElastic: true },
      {
        title: '',
        of: ({ note, corrects }) =>
          corrects === undefined ? note : `takes back entry ${corrects}: ${note}`,
        isBelow: true,
      },
    ],
    entries,
  )
}
