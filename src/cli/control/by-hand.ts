import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { ConfigOptions } from '../../config/load-config.ts'
import type { ControlRequest } from '../../control/commands.ts'
import { newRequestId } from '../operator/request-id.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { sendCommand } from '../operator/send-command.ts'
import { print, printResult } from '../process/operator.ts'
import { readShare } from '../process/read-share.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

const EXIT_USAGE = 64
const LIVE_CONSENT = 'live'
const DECIMAL = /^\d{1,20}(\.\d{1,20})?$/

interface HandOptions extends ConfigOptions {
  readonly reason: string
  readonly key?: string
  readonly dryRun?: boolean
  readonly yes?: string
}

interface OrderOptions extends HandOptions {
  readonly limit?: string
  readonly market?: boolean
  readonly force?: 'gtc' | 'ioc' | 'fok' | 'post_only'
  readonly reduceOnly?: boolean
  readonly takeProfit?: string
  readonly stopLoss?: string
}

type CommandByHand = Extract<
  ControlRequest['order'],
  { readonly kind: 'order' | 'close' | 'cancel' }
>

const OPENS_ONLY = 'refused where the order only makes the position of the account smaller'

export function addOrderCommand(program: Command, { setExit }: VerbFrame): void {
  addHandOptions(program.command('order'))
    .description('trade by hand, as the strategy `manual` and within its limits')
    .argument('<symbol>', 'an instrument of the main file')
    .addArgument(new Argument('<side>', 'what the trade does').choices(['buy', 'sell']))
    .argument('<size>', 'in the base coin', parseDecimal)
    .addOption(decimalOption('--limit <price>', 'rest at this price').conflicts('market'))
    .option('--market', 'take the best price that there is')
    .addOption(
      new Option('--force <force>', 'how long a limit order stands (default: gtc)').choices([
        'gtc',
        'ioc',
        'fok',
        'post_only',
      ]),
    )
    .option('--reduce-only', 'close what `manual` holds on the other side, and open nothing')
    .addOption(
      decimalOption(
        '--take-profit <price>',
        `the exchange closes the whole position of the instrument at this price, also what strategies hold of it; ${OPENS_ONLY}`,
      ),
    )
    .addOption(
      decimalOption(
        '--stop-loss <price>',
        `the exchange closes the whole position of the instrument at this price, also what strategies hold of it; ${OPENS_ONLY}`,
      ),
    )
    .option('--yes <environment>', 'must be live if the configuration is for real money')
    .action(async (symbol: string, side: 'buy' | 'sell', size: string, options: OrderOptions) =>
      setExit(await order({ symbol, side, size }, options)),
    )
}

export function addCloseCommand(program: Command, { setExit }: VerbFrame): void {
  addHandOptions(program.command('close'))
    .description('close a share of what strategies hold; they only reduce until `release`')
    .argument('<scope>', "a strategy, an instrument, or '*' for the account")
    .argument('[share...]', 'such as 50 % (default: everything, as flatten does)')
    .action(async (scope: string, share: readonly string[], options: HandOptions) =>
      setExit(await close(scope, share.join(' '), options)),
    )
}

export function addCancelCommand(program: Command, { setExit }: VerbFrame): void {
  addHandOptions(program.command('cancel'))
    .description('withdraw orders that were placed by name, such as those by hand')
    .argument('<what>', 'an instrument, a strategy, or the clientOid, orderId or key of an order')
    .action(async (what: string, options: HandOptions) =>
      setExit(await sendByHand({ kind: 'cancel', what }, options)),
    )
}

function addHandOptions(command: Command): Command {
  return addOperatedOptions(command)
    .option('--reason <text>', 'why; kept in the journal', 'by hand at the command line')
    .option(
      '--key <key>',
      'names the command: given again with the same one, it is not done twice (default: a new one)',
      parseKey,
    )
    .option('--dry-run', 'say what would be sent, or which limit denies it, and do nothing')
}

function decimalOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseDecimal)
}

function parseDecimal(text: string): string {
  if (DECIMAL.test(text)) return text
  throw new InvalidArgumentError('write a decimal such as 0.01.')
}

function parseKey(text: string): string {
  if (/^[\w:.-]{8,100}$/.test(text)) return text
  throw new InvalidArgumentError('write 8 to 100 letters, digits, _, :, . or -.')
}

async function order(
  wanted: { readonly symbol: string; readonly side: 'buy' | 'sell'; readonly size: string },
  options: OrderOptions,
): Promise<number> {
  const { limit, market, force, reduceOnly, takeProfit, stopLoss } = options
  if (limit === undefined && market !== true) {
    print('say at which price: --limit PRICE, or --market for the best that there is')
    return EXIT_USAGE
  }
  if (market === true && force !== undefined) {
    print('an order at the market has no --force')
    return EXIT_USAGE
  }
  return sendByHand(
    {
      kind: 'order',
      ...wanted,
      ...(limit !== undefined && { price: limit }),
      ...(force !== undefined && { force }),
      ...(reduceOnly === true && { reduceOnly }),
      ...(takeProfit !== undefined && { takeProfit }),
      ...(stopLoss !== undefined && { stopLoss }),
    },
    options,
  )
}

async function close(scope: string, share: string, options: HandOptions): Promise<number> {
  const percent = readShare(share)
  if (typeof percent === 'string') {
    print(percent)
    return EXIT_USAGE
  }
  return sendByHand({ kind: 'close', scope, percent }, options)
}

async function sendByHand(wanted: CommandByHand, options: HandOptions): Promise<number> {
  const config = loadOperated(options)
  const { key = newRequestId(), reason, dryRun, yes } = options
  const isConsented = config.environment !== 'live' || yes === LIVE_CONSENT || dryRun === true
  if (wanted.kind === 'order' && !isConsented) {
    print('this configuration is for real money; look with --dry-run, and then add --yes=live')
    return EXIT_USAGE
  }
  const code = await sendCommand(config, {
    key,
    reason,
    order: { ...wanted, account: config.name, ...(dryRun === true && { dryRun }) },
    words: {
      withoutDaemon:
        'not done: no daemon runs with this configuration, and nothing is left for the next one',
      unanswered: 'it may be done all the same',
    },
  })
  if (code === 0 && dryRun !== true) printResult(followUp(wanted, key))
  return code
}

function followUp(wanted: CommandByHand, key: string): string {
  switch (wanted.kind) {
    case 'order':
      return `key ${key}; \`intentd explain ${toShellWord(key)}\` shows what becomes of it, also if the exchange refuses it; \`intentd cancel ${toShellWord(key)}\` withdraws it`
    case 'close':
      return 'its log says close.done or flatten.done when nothing is left to close'
    case 'cancel':
      return 'a cancelled order is gone once `intentd orders` does not show it any more'
    default:
      return unreachable(wanted)
  }
}
