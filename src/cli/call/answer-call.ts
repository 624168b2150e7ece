import type { z } from 'zod'
import { type DaemonConfig, loadConfig, toConfigRequest } from '../../config/load-config.ts'
import { loadProxies } from '../../config/proxy.ts'
import { listOverriddenKeys } from '../../config/secrets.ts'
import { type Answer, isClockRefused } from '../../domain/answer.ts'
import { TickerTable } from '../../domain/ticker-table.ts'
import {
  type GuardedEndpoint,
  isGuarded,
  type PreparedRequest,
  prepareRequest,
  RequestWriter,
  Signer,
} from '../../exchange/client/request-writer.ts'
import { ExchangeClock } from '../../exchange/clock/exchange-clock.ts'
import { ExchangeClient } from '../../exchange/exchange-client.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { Secret } from '../../lib/secret.ts'
import { systemTimers } from '../../lib/timers.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import {
  describeEndpoint,
  type EndpointDescription,
  type FieldDescription,
} from '../../protocol/describe-endpoint.ts'
import type { Endpoint, RuleContext } from '../../protocol/endpoint.ts'
import { type CallableName, endpointNamed, type RequestOf } from '../../protocol/endpoints.ts'
import { SCHEME_B_HEADERS } from '../../protocol/signing.ts'
import { toWireRequest } from '../../protocol/write-request.ts'
import { assertTrusted } from '../process/trusted-files.ts'
import type { CallArguments, PendingOrder } from './call-arguments.ts'
import { type CallExchange, openCallExchange, platformCoinOf } from './call-exchange.ts'
import { type CallProblem, readParameters } from './call-parameters.ts'
import { CallRefused } from './call-refused.ts'
import { toOption } from './endpoint-words.ts'

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

/** `data` has the names of the document, `text` is the answer as received. */
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
    // A refusal does not state the time of the exchange; a public answer does.
    await client.readTickers(new TickerTable(), config.account.productType)
    return await client.sendExactly(prepared)
  } finally {
    await client.close()
  }
}

const HIDDEN = '[hidden]'
const HIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'ACCESS-KEY',
  'ACCESS-SIGN',
  'ACCESS-PASSPHRASE',
  SCHEME_B_HEADERS.apiKey,
  SCHEME_B_HEADERS.signature,
])

/** The simulator's port is only known once it listens. */
const EMBEDDED_URL = 'http://127.0.0.1'

interface DryRun {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface DryRunOptions {
  readonly prepared: PreparedRequest
  readonly config: DaemonConfig
  readonly clock: Clock
}

function writeDryRun({ prepared, config, clock }: DryRunOptions): DryRun {
  const nobody = new Secret('dry-run')
  const writer = new RequestWriter({
    signer: new Signer({ apiKey: nobody, secret: nobody, passphrase: nobody }),
    locale: config.exchange.locale,
    isDemo: config.exchange.demo,
    platformCoin: platformCoinOf(config),
  })
  const written = writer.write(prepared, clock.now())
  if (written.kind === 'unwritable') {
    throw new CallRefused({ code: written.code, sentence: written.message })
  }
  const { baseUrl = EMBEDDED_URL, gatewayUrl = baseUrl } = config.exchange
  const base = written.host === 'gateway' ? gatewayUrl : baseUrl
  return {
    method: written.method,
    url: `${base.replace(/\/$/, '')}${written.target}`,
    headers: toMaskedHeaders(written.headers),
    body: written.body,
  }
}

function formatDryRun({ method, url, headers, body }: DryRun): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, ...(body === '' ? [] : ['', body]), ''].join('\n')
}

function toMaskedHeaders(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = flat[at] ?? ''
    headers[name] = HIDDEN_HEADERS.has(name) ? HIDDEN : (flat[at + 1] ?? '')
  }
  return headers
}

interface GuardedCall {
  readonly endpoint: CallableName
  readonly request: Readonly<Record<string, unknown>>
  readonly config: Pick<DaemonConfig, 'environment' | 'withdrawal'>
}

interface Guard {
  readonly endpoint: GuardedEndpoint
  readonly sentence: string
  /** The value that `--yes` must have: `12.5USDT`. */
  readonly consent: string
  readonly notice: string | undefined
}

/**
 * Undefined for endpoints that neither move money out nor create accounts. @throws CallRefused for
 * an address not in `withdrawal.addresses`
 */
function guardCall({ endpoint, request, config }: GuardedCall): Guard | undefined {
  if (!isGuarded(endpoint)) return undefined
  if (endpoint === 'createVirtualSubaccounts') {
    const { subAccountList } = request as RequestOf<'createVirtualSubaccounts'>
    const many =
      subAccountList.length === 1 ? 'a sub-account' : `${subAccountList.length} sub-accounts`
    const sentence = `this would create ${many}, which cannot be undone: ${subAccountList.join(', ')}`
    return { endpoint, sentence, consent: `${subAccountList.length}accounts`, notice: undefined }
  }
  const withdrawal = request as RequestOf<'spotWithdrawal'>
  const { coin, size, chain, tag } = withdrawal
  const onChain = chain === undefined ? '' : ` on chain ${chain}`
  const withTag = tag === undefined ? '' : ` with tag ${tag}`
  return {
    endpoint,
    sentence: `this would send ${size} ${coin} to ${recipientOf(withdrawal)}${withTag}${onChain}, which cannot be undone`,
    consent: `${size}${coin}`,
    notice: checkAddress(withdrawal, config),
  }
}

/** The same digits can be a UID, or a mobile number in each country. */
function recipientOf(withdrawal: RequestOf<'spotWithdrawal'>): string {
  const { transferType, address, innerToType = 'uid', areaCode = '' } = withdrawal
  if (transferType === 'on_chain') return address
  return innerToType === 'mobile' ? `mobile:${areaCode}:${address}` : `${innerToType}:${address}`
}

function assertConsent({ sentence, consent }: Guard, yes: string | undefined): void {
  if (yes !== undefined && yes.replaceAll(/\s/g, '').toLowerCase() === consent.toLowerCase()) return
  if (yes === undefined) {
    throw new CallRefused({
      code: 'CALL_CONSENT_MISSING',
      sentence,
      hint: `if that is what you mean, add --yes=${consent}`,
    })
  }
  throw new CallRefused({
    code: 'CALL_CONSENT_OTHER',
    sentence,
    facts: { 'you said': `--yes=${yes}` },
    hint: `--yes names something else; if you mean the above, write --yes=${consent}`,
  })
}

/**
 * The sender must not be able to change the list of addresses on the command line.
 * @throws CallRefused
 */
function assertSettingsOfFile(endpoint: CallableName, set: readonly string[]): void {
  if (!isGuarded(endpoint) || set.length === 0) return
  throw new CallRefused({
    code: 'CALL_SETTINGS_FROM_FILE',
    sentence: `${endpoint} goes by the configuration file alone, and takes no --set`,
    hint: 'write it into the file, and read it once more there',
  })
}

/**
 * The keys of another account would move its money. @param overriddenKeys variables of keys that
 * differ from `.env`
 */
function assertKeysOfFile(endpoint: CallableName, overriddenKeys: readonly string[]): void {
  if (!isGuarded(endpoint) || overriddenKeys.length === 0) return
  throw new CallRefused({
    code: 'CALL_KEYS_OVERRIDDEN',
    sentence: `${endpoint} is not sent with keys of the environment that differ from those of .env`,
    facts: { variables: overriddenKeys.join(', ') },
    hint: 'unset them, or remove them from .env',
  })
}

function checkAddress(
  request: RequestOf<'spotWithdrawal'>,
  { environment, withdrawal }: GuardedCall['config'],
): string | undefined {
  const { coin, chain, tag } = request
  const recipient = recipientOf(request)
  const isListed = withdrawal.addresses.some(
    (entry) =>
      entry.address === recipient &&
      entry.tag === tag &&
      (entry.coin === undefined || entry.coin === coin) &&
      (entry.chain === undefined || entry.chain === chain),
  )
  if (isListed) return undefined
  if (environment === 'simulator') {
    return 'withdrawal.addresses does not list this address: allowed, because the exchange is a simulated one'
  }
  const listed = withdrawal.addresses.length
  throw new CallRefused({
    code: 'CALL_ADDRESS_NOT_LISTED',
    sentence: 'withdrawal.addresses does not list this address, coin, chain and tag',
    facts: {
      address: recipient,
      coin,
      ...(chain === undefined ? {} : { chain }),
      ...(tag === undefined ? {} : { tag }),
      listed: listed === 0 ? 'none: nothing may be withdrawn' : listed,
    },
    hint: 'add it under withdrawal.addresses in the configuration file',
  })
}

interface GivenCall extends Pick<CallArguments, 'given'> {
  readonly endpoint: CallableName
}

interface PreparedCall {
  readonly request: Readonly<Record<string, unknown>>
  readonly prepared: PreparedRequest
}

/** @throws CallRefused with all problems */
export function prepareCall(call: GivenCall, context: RuleContext): PreparedCall {
  const { endpoint } = call
  const row = endpointNamed(endpoint)
  const description = describeEndpoint(row)
  const { request, problems } = readParameters(description, call.given)
  const broken = problems.length > 0 ? problems : checkCall({ row, description, request, context })
  if (broken.length > 0) throw refuse(endpoint, broken)
  const preparation = prepareRequest(endpoint, request as RequestOf<typeof endpoint>, context)
  if (preparation.kind === 'prepared') return { request, prepared: preparation.request }
  throw refuse(endpoint, [{ at: 'request', message: preparation.problem }])
}

function refuse(endpoint: CallableName, problems: readonly CallProblem[]): CallRefused {
  const facts: Record<string, string> = {}
  for (const { at, message } of problems)
    facts[at] = at in facts ? `${facts[at]}; ${message}` : message
  return new CallRefused({
    code: 'REQUEST_INVALID',
    sentence: `${endpoint} was not sent: it breaks a rule of the document`,
    facts,
    hint: `intentd call ${endpoint} --help`,
  })
}

export function toPlanOrder(pending: PendingOrder | undefined): Pick<RuleContext, 'planOrder'> {
  if (pending === undefined) return {}
  const isTrailing = pending === 'trailing'
  return { planOrder: { type: pending === 'limit' ? 'limit' : 'market', trailing: isTrailing } }
}

interface CallCheck {
  readonly row: Endpoint
  readonly description: EndpointDescription
  readonly request: Readonly<Record<string, unknown>>
  readonly context: RuleContext
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

function checkCall(check: CallCheck): readonly CallProblem[] {
  const { row, request, context } = check
  const checked = row.request.safeParse(request)
  if (!checked.success) return checked.error.issues.flatMap((issue) => toProblems(issue, check))
  const wire = row.request.safeParse(toWireRequest(row, request))
  if (!wire.success) return wire.error.issues.flatMap((issue) => toProblems(issue, check))
  return (row.rules?.(wire.data, context) ?? []).map((message) => ({ at: 'rule', message }))
}

function toProblems(issue: Issue, check: CallCheck): CallProblem[] {
  const at = toPlace(issue.path)
  const field = fieldAt(issue.path, check.description)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ at, message: toUnknownKey(key, issue.path, check) }))
  }
  return [{ at, message: toMessage(issue, field, valueAt(check.request, issue.path)) }]
}

function toMessage(issue: Issue, field: FieldDescription | undefined, value: unknown): string {
  if (issue.code === 'custom') return issue.message
  if (value === undefined)
    return `required${field?.description ? `: ${field.description}` : ''}${toChoice(field)}`
  if (typeof value === 'number') {
    return `takes a text: write "${value}" in quotes; nearly every value of the document is a string`
  }
  if (issue.code === 'invalid_value')
    return toWrongChoice(field?.values ?? issue.values.map(String), value)
  if (issue.code === 'invalid_union') {
    if (field !== undefined && field.values.length > 0) return toWrongChoice(field.values, value)
    return `takes ${firstMessage(issue)}${field?.mayBeEmpty ? ', or nothing' : ''}`
  }
  if (issue.code === 'too_small' && issue.origin === 'array')
    return `takes at least ${issue.minimum} item`
  return issue.message
}

function toChoice(field: FieldDescription | undefined): string {
  return field === undefined || field.values.length === 0 ? '' : ` (${field.values.join(', ')})`
}

function toWrongChoice(values: readonly string[], value: unknown): string {
  const end = typeof value === 'string' ? didYouMeanEnd(value, values) : ''
  return `takes ${values.join(', ')}, not ${JSON.stringify(value)}${end}`
}

function firstMessage(issue: z.core.$ZodIssueInvalidUnion): string {
  return issue.errors[0]?.[0]?.message ?? issue.message
}

function toUnknownKey(key: string, path: Path, { description }: CallCheck): string {
  const prefix = path.length === 0 ? '' : `${toFieldName(path)}.`
  const siblings = description.parameters
    .filter(({ name, aliasOf }) => name.startsWith(prefix) && aliasOf === undefined)
    .map(({ name }) => name.slice(prefix.length))
    .filter((name) => /^\w+$/.test(name))
  return `there is no field "${key}"${didYouMeanEnd(key, siblings)}`
}

function toPlace(path: Path): string {
  const [first, ...rest] = path
  if (first === undefined) return 'request'
  const steps = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `${toOption(String(first))}${steps.join('')}`
}

function toFieldName(path: Path): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? '[]' : `${index > 0 ? '.' : ''}${String(step)}`,
    )
    .join('')
}

function fieldAt(path: Path, { parameters }: EndpointDescription): FieldDescription | undefined {
  const wanted = toFieldName(path)
  return parameters.find(({ name }) => name === wanted)
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) {
    value =
      typeof value === 'object' && value !== null
        ? (value as Record<PropertyKey, unknown>)[step]
        : undefined
  }
  return value
}
