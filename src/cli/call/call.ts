import type { Command } from 'commander'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { Answer, RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import { Failure } from '../../lib/failure.ts'
import { type CallableName, endpointNamed } from '../../protocol/endpoints.ts'
import {
  type CallFrame,
  type EndpointCall,
  processFrame,
  sendCall,
  type ShownAnswer,
} from './answer-call.ts'
import { readCallArguments } from './call-arguments.ts'
import { formatEndpointHelp, formatEndpointList } from './call-help.ts'
import { formatData } from './call-print.ts'
import { CallRefused } from './call-refused.ts'

/** 64, 69 and 75 are those of sysexits.h: usage, unavailable, temporary failure. */
const EXITS = { done: 0, refused: 1, notAllowed: 64, notSent: 69, unknown: 75 } as const

export function addCallCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('call')
    .description('call one endpoint of the exchange; `intentd call --help` lists them')
    .argument('[words...]', 'an endpoint, and its parameters as --name value')
    // The endpoint decides which options there are.
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => setExit(await call(words, processFrame())))
}

/**
 * @throws ConfigError for an unusable configuration or keys; Failure if a simulator cannot start
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

async function callEndpoint(given: EndpointCall, frame: CallFrame): Promise<number> {
  const answer = await sendCall(given, frame)
  return answer === undefined ? EXITS.done : report(answer, given, frame)
}

function report(
  answer: Answer<ShownAnswer>,
  { endpoint, json }: EndpointCall,
  frame: CallFrame,
): number {
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
  endpoint: CallableName,
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
  endpoint: CallableName,
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
