import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import { loadProxies } from '../../config/proxy.ts'
import { listOverriddenKeys } from '../../config/secrets.ts'
import { type DaemonConfig, loadConfig } from '../../config/load-config.ts'
import {
  type Answer,
  isClockRefused,
  type RefusedAnswer,
  type UnknownAnswer,
} from '../../domain/answer.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { PreparedRequest } from '../../exchange/client/prepared-request.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { Failure } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import { type EndpointName, endpointNamed } from '../../protocol/endpoints.ts'
import { type CallArguments, readCallArguments } from './call-arguments.ts'
import { formatDryRun, writeDryRun } from './call-dry-run.ts'
import { type CallExchange, openCallExchange } from './call-exchange.ts'
import {
  assertConsent,
  assertKeysOfFile,
  assertSettingsOfFile,
  type Guard,
  guardCall,
} from './call-guard.ts'
import { formatEndpointHelp, formatEndpointList } from './call-help.ts'
import { prepareCall, toPlanOrder } from './call-prepare.ts'
import { formatData } from './call-print.ts'
import { CallRefused } from './call-refused.ts'
import { assertTrusted } from '../process/trusted-files.ts'
import { toConfigRequest } from '../process/options.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

/** How a call ends. 64, 69 and 75 are those of sysexits.h: usage, unavailable, temporary failure. */
const EXITS = { done: 0, refused: 1, notAllowed: 64, notSent: 69, unknown: 75 } as const

export interface CallFrame {
  readonly cwd: string
  readonly clock: Clock
  /** Standard output: the answer. */
  readonly print: (text: string) => void
  /** Standard error: everything else. */
  readonly printError: (text: string) => void
}

/** `intentd call`: one endpoint of the exchange, from the command line. */
export function addCallCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('call')
    .description('call one endpoint of the exchange; `intentd call --help` lists them')
    .argument('[words...]', 'an endpoint, and its parameters as --name value')
    // The endpoint decides which options there are: see readCallArguments.
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => setExit(await call(words, processFrame())))
}

export function processFrame(): CallFrame {
  return {
    cwd: process.cwd(),
    clock: systemClock,
    print: (text) => writeOut(text),
    printError: (text) => writeAside(text),
  }
}

/**
 * Reads, checks, asks for consent, sends and prints. Resolves with the exit code.
 * @throws ConfigError for a configuration or keys that cannot be used; Failure for a simulator that cannot start.
 */
export async function call(words: readonly string[], frame: CallFrame): Promise<number> {
  try {
    const given = readCallArguments(words)
    const { endpoint } = given
    if (endpoint === undefined || given.help) {
      frame.print(endpoint === undefined ? formatEndpointList() : formatEndpointHelp(endpoint))
      return endpoint !== undefined || given.help ? EXITS.done : EXITS.notAllowed
    }
    return await callEndpoint({ ...given, endpoint }, frame)
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error
    frame.printError(`${error.message}\n`)
    return EXITS.notAllowed
  }
}

/** As {@link call}, for a caller who must know what became of it. Undefined where nothing was sent. */
export async function callForAnswer(
  words: readonly string[],
  frame: CallFrame,
): Promise<Answer<Shown> | undefined> {
  const given = readCallArguments(words)
  const { endpoint } = given
  return endpoint === undefined ? undefined : sendCall({ ...given, endpoint }, frame)
}

type EndpointCall = CallArguments & { readonly endpoint: EndpointName }

async function callEndpoint(given: EndpointCall, frame: CallFrame): Promise<number> {
  const answer = await sendCall(given, frame)
  return answer === undefined ? EXITS.done : report(answer, given, frame)
}

/** Undefined for a dry run. */
async function sendCall(given: EndpointCall, frame: CallFrame): Promise<Answer<Shown> | undefined> {
  const { endpoint, set, dryRun, yes } = given
  const { cwd, clock } = frame
  if (given.pending !== undefined && endpoint !== 'modifyPlanOrder') {
    throw new CallRefused({
      code: 'CALL_OPTION_UNUSED',
      sentence: '--pending is for modifyPlanOrder',
    })
  }
  assertSettingsOfFile(endpoint, set)
  const { config } = loadConfig({ ...toConfigRequest(given), cwd })
  assertKeysOfFile(endpoint, listOverriddenKeys(config, { cwd }))
  const { positionMode } = config.account
  const context = { positionMode, now: clock.now(), ...toPlanOrder(given.pending) }
  const { request, prepared } = prepareCall(given, context)
  const guard = guardCall({ endpoint, request, config })
  if (guard?.notice !== undefined) frame.printError(`${guard.notice}\n`)
  if (dryRun) {
    const written = writeDryRun({ prepared, config, clock })
    frame.print(given.json ? `${JSON.stringify(written)}\n` : formatDryRun(written))
    const toSend = guard === undefined ? '' : `; to send it, add --yes=${guard.consent}`
    frame.printError(`nothing was sent${toSend}\n`)
    return undefined
  }
  if (guard !== undefined) assertConsent(guard, yes)
  // The simulator of one call has no keys, and nothing of anybody.
  if (config.exchange.baseUrl !== undefined && !given.trustFiles) assertTrusted([config], { cwd })
  const exchange = await openCallExchange({ config, endpoint, state: given.state, cwd, clock })
  try {
    return await send({ exchange, config, prepared, guard, clock })
  } finally {
    await exchange.close()
  }
}

interface Sending {
  readonly exchange: CallExchange
  readonly config: DaemonConfig
  readonly prepared: PreparedRequest
  readonly guard: Guard | undefined
  readonly clock: Clock
}

/** What is shown: to people by the names of the document, to programs as it came. */
export interface Shown {
  readonly data: unknown
  readonly text: string
}

async function send({ exchange, config, prepared, guard, clock }: Sending): Promise<Answer<Shown>> {
  const { requestTimeoutMs, answerBytesMax, locale } = config.exchange
  const client = new ExchangeClient({
    ...exchange,
    requestTimeoutMs,
    answerBytesMax,
    locale,
    positionMode: config.account.positionMode,
    unlocked: guard?.endpoint,
    proxyFor: loadProxies(config),
    clock,
    timers: systemTimers,
    offset: new ExchangeClock(),
  })
  try {
    const answer = await client.sendExactly(prepared)
    const isTimeless = isClockRefused(answer) && answer.requestTime === undefined
    const { retry, auth } = endpointNamed(prepared.endpoint)
    if (!isTimeless || retry === 'protocol' || auth === 'public') return answer
    // It refused this machine's time and names none. A public answer tells one, and what is repeated here does no harm.
    await client.readTickers(new TickerTable(), config.account.productType)
    return await client.sendExactly(prepared)
  } finally {
    await client.close()
  }
}

function report(answer: Answer<Shown>, { endpoint, json }: EndpointCall, frame: CallFrame): number {
  if (answer.kind !== 'accepted') {
    const failure =
      answer.kind === 'refused' ? toRefusal(endpoint, answer) : toUnknown(endpoint, answer)
    frame.printError(`${failure.message}\n`)
    return exitOf(answer)
  }
  const { data, text } = answer.data
  frame.print(json ? `${text}\n` : `${formatData(data)}\n`)
  const failures = failuresOf(data)
  if (failures === 0) return EXITS.done
  frame.printError(
    `${endpoint}: ${failures} of its items ${failures === 1 ? 'was' : 'were'} refused, see failureList\n`,
  )
  return EXITS.refused
}

function exitOf(answer: RefusedAnswer | UnknownAnswer): number {
  if (answer.kind === 'unknown') return EXITS.unknown
  if (answer.class === 'notSent') return EXITS.notSent
  return answer.class === 'invalid' ? EXITS.notAllowed : EXITS.refused
}

function toRefusal(
  endpoint: EndpointName,
  { code, message, class: kind, status }: RefusedAnswer,
): Failure {
  const isOurs = kind === 'invalid' || kind === 'notSent'
  return new Failure({
    code,
    sentence: message === '' ? 'refused without a reason' : message,
    facts: {
      endpoint,
      'refused by': isOurs ? 'intentd; nothing was sent' : 'the exchange',
      ...toStatus(status),
    },
    ...(kind === 'retry' ? { hint: 'not done; try again in a moment' } : {}),
  })
}

function toUnknown(
  endpoint: EndpointName,
  { code, message, cause, status }: UnknownAnswer,
): Failure {
  const isSafe = endpointNamed(endpoint).retry !== 'protocol'
  return new Failure({
    code,
    sentence: message === '' ? 'the answer does not say what was done' : message,
    facts: { endpoint, outcome: `unknown (${cause}): it may have been done`, ...toStatus(status) },
    hint: isSafe
      ? 'it does no harm to ask again'
      : 'do not repeat it before you know whether it was done',
  })
}

function toStatus(status: number | undefined): { status?: number } {
  return status === undefined ? {} : { status }
}

/** `00000` with a failureList is not success. */
function failuresOf(data: unknown): number {
  if (typeof data !== 'object' || data === null || !('failureList' in data)) return 0
  return Array.isArray(data.failureList) ? data.failureList.length : 0
}
