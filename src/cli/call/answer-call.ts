import { loadProxies } from '../../config/proxy.ts'
import { listOverriddenKeys } from '../../config/secrets.ts'
import { type DaemonConfig, loadConfig } from '../../config/load-config.ts'
import { type Answer, isClockRefused } from '../../domain/answer.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import type { PreparedRequest } from '../../exchange/client/request-writer.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/timers.ts'
import { type CallableName, endpointNamed } from '../../protocol/endpoints.ts'
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
import { prepareCall, toPlanOrder } from './call-prepare.ts'
import { CallRefused } from './call-refused.ts'
import { assertTrusted } from '../process/trusted-files.ts'
import { toConfigRequest } from '../../config/config-request.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'

export interface CallFrame {
  readonly cwd: string
  readonly clock: Clock
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

export function processFrame(): CallFrame {
  return {
    cwd: process.cwd(),
    clock: systemClock,
    print: (text) => writeOut(text),
    printError: (text) => writeAside(text),
  }
}

export async function callForAnswer(
  words: readonly string[],
  frame: CallFrame,
): Promise<Answer<ShownAnswer> | undefined> {
  const given = readCallArguments(words)
  const { endpoint } = given
  return endpoint === undefined ? undefined : sendCall({ ...given, endpoint }, frame)
}

export type EndpointCall = CallArguments & { readonly endpoint: CallableName }

export async function sendCall(
  given: EndpointCall,
  frame: CallFrame,
): Promise<Answer<ShownAnswer> | undefined> {
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
  // The simulator of one call has neither keys nor an account.
  if (config.exchange.baseUrl !== undefined && !given.trustFiles) assertTrusted([config], { cwd })
  const exchange = await openCallExchange({ config, endpoint, state: given.state, cwd, clock })
  try {
    return await send({ exchange, config, prepared, guard, clock })
  } finally {
    await exchange.close()
  }
}

interface CallToSend {
  readonly exchange: CallExchange
  readonly config: DaemonConfig
  readonly prepared: PreparedRequest
  readonly guard: Guard | undefined
  readonly clock: Clock
}

/** `data` has the document's names, for people; `text` is as received, for programs. */
export interface ShownAnswer {
  readonly data: unknown
  readonly text: string
}

async function send({
  exchange,
  config,
  prepared,
  guard,
  clock,
}: CallToSend): Promise<Answer<ShownAnswer>> {
  const { requestTimeoutMs, answerBytesMax, locale, demo } = config.exchange
  const client = new ExchangeClient({
    ...exchange,
    requestTimeoutMs,
    answerBytesMax,
    locale,
    isDemo: demo,
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
    // A refusal lacks the exchange's time; a public answer states it, and repeating this call does
    // no harm.
    await client.readTickers(new TickerTable(), config.account.productType)
    return await client.sendExactly(prepared)
  } finally {
    await client.close()
  }
}
