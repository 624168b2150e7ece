import type { Command } from 'commander'
import type { Answer, RefusedAnswer, UnknownAnswer } from '../../domain/answer.ts'
import { Failure } from '../../lib/failure.ts'
import {
  describeEndpoint,
  type EndpointDescription,
  type FieldDescription,
} from '../../protocol/describe-endpoint.ts'
import { type CallableName, callableNames, endpointNamed } from '../../protocol/endpoints.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import {
  type CallFrame,
  type EndpointCall,
  processFrame,
  sendCall,
  type ShownAnswer,
} from './answer-call.ts'
import { readCallArguments } from './call-arguments.ts'
import { topParameters } from './call-parameters.ts'
import { formatData } from './call-print.ts'
import { CallRefused } from './call-refused.ts'
import { exampleOf } from './call-samples.ts'
import {
  AUTH_WORDS,
  familyOf,
  hasItems,
  RETRY_WORDS,
  titleOf,
  toLimitWords,
  toOption,
  toRuleWords,
  toShortName,
  toTypeWords,
} from './endpoint-words.ts'

/** From sysexits.h: 64 usage, 69 unavailable, 75 temporary failure. */
const EXITS = { done: 0, refused: 1, notAllowed: 64, notSent: 69, unknown: 75 } as const

export function addCallCommand(program: Command, { setExit }: VerbFrame): void {
  program
    .command('call')
    .description('call one endpoint of the exchange; `intentd call --help` lists them')
    .argument('[words...]', 'an endpoint, and its parameters as --name value')
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

/** A call that answers `00000` may still list orders that failed. */
function failuresOf(data: unknown): number {
  if (typeof data !== 'object' || data === null || !('failureList' in data)) return 0
  return Array.isArray(data.failureList) ? data.failureList.length : 0
}

const OPTIONS = `Options of every call
  -c, --config <file>      the configuration (default: config/paper.yaml: a simulator, no keys needed)
  --set <path=value>       override a setting of that file; may be given again
  --json                   print only the data of the answer, as JSON, just as it came
  --dry-run                print the request that would be sent, secrets masked, and send nothing
  --trust-files            send it although other users may replace files that are read
  --state <file>           the simulator keeps orders, positions and balances in this file between calls
  --pending <kind>         modifyPlanOrder: the pending order is limit, market or trailing; checks its rules
  --yes=<what>             needed by calls that move money out or create accounts; the refusal says what to write
  -h, --help               this text; after an endpoint's name, its parameters

Exit codes: 0 done, 1 refused by the exchange, 64 refused before sending, 69 not reachable, nothing sent,
75 unknown: it may have been done.`

export function formatEndpointList(): string {
  const rows = callableNames.map((name) => describeEndpoint(endpointNamed(name)))
  const families = [...new Set(rows.map(familyOf))]
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lists = families.map((family) => {
    const own = rows.filter((row) => familyOf(row) === family)
    return [family, ...own.map((row) => `  ${row.name.padEnd(width)}  ${toSummary(row)}`)].join(
      '\n',
    )
  })
  return [
    'Usage: intentd call <endpoint> [--parameter value …]',
    'Calls one endpoint of the exchange and prints its answer.',
    ...lists,
    'intentd call <endpoint> --help lists its parameters.',
    OPTIONS,
    '',
  ].join('\n\n')
}

function toSummary(row: EndpointDescription): string {
  return `${titleOf(row)}${row.auth === 'public' ? ' (public)' : ''}`
}

export function formatEndpointHelp(name: CallableName): string {
  const row = describeEndpoint(endpointNamed(name))
  const { method, path, auth, limit, retry, pathParameters } = row
  const facts = [
    ['request', `${method} ${path}`],
    ...pathParameters.map((parameter) => [
      'path',
      `{${parameter}} is exchange.platformCoin of the configuration`,
    ]),
    ['auth', AUTH_WORDS[auth]],
    ['limit', toLimitWords(limit)],
    ['retry', RETRY_WORDS[retry]],
  ].map(([label = '', text = '']) => `  ${label.padEnd(8)} ${text}`)
  return [
    `${name}: ${titleOf(row)}`,
    facts.join('\n'),
    formatParameters(row),
    `Example\n  ${exampleOf(name)}`,
    OPTIONS,
    '',
  ].join('\n\n')
}

function formatParameters(row: EndpointDescription): string {
  const fields = topParameters(row)
  if (fields.length === 0) return 'Parameters\n  none'
  return ['Parameters', ...fields.flatMap((field) => formatParameter(field, row))].join('\n')
}

function formatParameter(field: FieldDescription, { parameters }: EndpointDescription): string[] {
  const short = toShortName(field.name)
  const head = [toOption(field.name), ...(short === undefined ? [] : [toOption(short)])].join(', ')
  const isList = hasItems(field, parameters)
  const items = parameters.filter(
    ({ name, aliasOf }) => name.startsWith(`${field.name}[].`) && !aliasOf,
  )
  return [
    `  ${head} <${toTypeWords(field, parameters)}>${field.isRequired ? ', required' : ''}`,
    ...formatMeaning(field, '      '),
    ...(isList ? ["      as JSON '[{…}]', or once an item: name=value,name=value"] : []),
    ...items.flatMap((item) => [
      `      ${item.name.slice(field.name.length + '[].'.length)}${item.isRequired ? ', required' : ''}`,
      ...formatMeaning(item, '          '),
    ]),
  ]
}

function formatMeaning(field: FieldDescription, indent: string): string[] {
  const rules = toRuleWords(field).join('; ')
  return [field.description, rules === '' ? undefined : rules].flatMap((text) =>
    text === undefined ? [] : [`${indent}${text}`],
  )
}
