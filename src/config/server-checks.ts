import { didYouMean } from '../lib/did-you-mean.ts'
import type { ReadableFile } from './cross-checks.ts'
import { isLoopback } from './loopback.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { StrategyFile } from './schema/strategy-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/checked-file.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

/**
 * Passwords, leases and kills go to these servers, so other machines need TLS unless this is set.
 */
const OVERRIDE = 'withoutTls: true'

export function checkServers(daemon: ReadableFile<DaemonFile>): Problem[] {
  const { alerts, control, exchange, journal, signals } = daemon.settings
  return [
    ...(alerts ? checkAlerts(daemon.source, alerts) : []),
    ...(journal ? [...checkJournal(daemon.source, journal), ...checkSchema(daemon)] : []),
    ...(exchange?.shared ? checkSharedLimits(daemon.source, exchange) : []),
    ...(control?.agents?.http === true ? checkAgents(daemon.source, control) : []),
    ...(signals ? checkSignals(daemon, signals) : []),
  ]
}

type DaemonSection<Name extends keyof DaemonFile> = NonNullable<
  ReadableFile<DaemonFile>['settings'][Name]
>

/** In other modes the driver does the same as in one of these, or checks no certificate. */
const SSL_MODES: ReadonlySet<string> = new Set(['verify-full', 'disable'])

/** Never contains the address (SEC1). */
export function objectToDatabase(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    return 'write a server and a database, such as postgresql://intentd@db.example/intentd'
  if (!isDecodable(url.username + url.password + url.pathname))
    return 'a % in the address does not stand before two hexadecimal digits: write %25 for a % itself'
  const { searchParams } = url
  if (searchParams.size !== new Set(searchParams.keys()).size)
    return 'a parameter of the address stands there twice'
  // These change the driver's meaning of sslmode.
  if (searchParams.has('ssl') || searchParams.has('uselibpqcompat'))
    return 'write sslmode=verify-full in place of ssl and uselibpqcompat'
  if (hostOf(url) === '')
    return 'name the server: without one the driver takes what a variable says. 127.0.0.1 is this machine'
  const sslmode = searchParams.get('sslmode')
  if (sslmode === null || SSL_MODES.has(sslmode)) return undefined
  return `sslmode=${sslmode} does not say what is checked: write sslmode=verify-full, which checks the certificate, or sslmode=disable`
}

/**
 * The driver takes the parameter before the name in the address; either may be the path of a
 * socket.
 */
function hostOf({ hostname, searchParams }: URL): string {
  return searchParams.get('host') || decodeURIComponent(hostname)
}

export function isDatabaseInClear(address: string): boolean {
  const url = new URL(address)
  const host = hostOf(url)
  return (
    !host.startsWith('/') && !isLoopback(host) && url.searchParams.get('sslmode') !== 'verify-full'
  )
}

export function isRedisInClear(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol !== 'rediss:' && !isLoopback(hostname)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** PostgreSQL and other parts of intentd use these schemas. */
const TAKEN_SCHEMA = /^(public|information_schema|pg_.*|intentd_fleet|intentd_sweeps)$/

function checkSchema({ source, settings: { name, journal } }: ReadableFile<DaemonFile>): Problem[] {
  const schema = journal?.schema ?? `intentd_${name?.replaceAll('-', '_')}`
  if (journal === undefined || !TAKEN_SCHEMA.test(schema)) return []
  const message = `the schema ${schema} is not for a journal: set another journal.schema`
  return [source.problem(['journal', ...(journal.schema === undefined ? [] : ['schema'])], message)]
}

/** A password must not be in a file, which is copied and shown (SEC1). */
function checkJournal(
  source: YamlSource,
  { url, withoutTls }: DaemonSection<'journal'>,
): Problem[] {
  if (url === undefined) return []
  const at = ['journal', 'url']
  const objection = objectToDatabase(url)
  if (objection !== undefined) return [source.problem(at, objection)]
  const { password, searchParams } = new URL(url)
  if (password !== '' || searchParams.has('password')) {
    const message =
      'a password does not belong here: put it into the variable INTENTD_JOURNAL_PASSWORD'
    return [source.problem(at, message)]
  }
  if (!isDatabaseInClear(url) || withoutTls === true) return []
  const message = `this is another machine, and nothing is encrypted: add sslmode=verify-full to the address, which checks the certificate, or say ${OVERRIDE} beside it`
  return [source.problem(at, message)]
}

/** A password must not be in a file (SEC1). */
function checkSharedLimits(
  source: YamlSource,
  { shared, baseUrl }: DaemonSection<'exchange'>,
): Problem[] {
  if (shared === undefined) return []
  const problems: Problem[] = []
  if (baseUrl === undefined) {
    const message =
      'limits are shared on the address of an exchange: set exchange.baseUrl, or remove this'
    problems.push(source.problem(['exchange', 'shared'], message))
  }
  const parsed = URL.parse(shared.redis ?? '')
  const message = objectToRedis(parsed, shared.withoutTls === true)
  return message === undefined
    ? problems
    : [...problems, source.problem(['exchange', 'shared', 'redis'], message)]
}

function objectToRedis(url: URL | null, mayBeInClear: boolean): string | undefined {
  if (url === null) return 'expected a server, as in rediss://cache.example:6379'
  if (url.password !== '')
    return 'a password does not belong here: put it into the variable INTENTD_LIMITS_PASSWORD'
  // The client would read further settings from the query.
  if (url.search !== '') return 'nothing belongs behind the server and the number of its database'
  if (mayBeInClear || !isRedisInClear(url.href)) return undefined
  return `this is another machine, and nothing is encrypted: write rediss:, which checks the certificate, or say ${OVERRIDE} beside it`
}

function checkAgents(source: YamlSource, { port }: DaemonSection<'control'>): Problem[] {
  if (port !== undefined) return []
  const path = ['control', 'agents', 'http']
  return [source.problem(path, 'assistants are served at control.port: give it one, such as 8790')]
}

/** So many ids fit: the signals of a minute, times the minutes for which ids are kept. */
const IDS_MAX = 10_000

const OWN_FIELDS = ['secretField', 'idField', 'timeField'] as const

function checkSignals(
  { source, settings: { control } }: ReadableFile<DaemonFile>,
  signals: DaemonSection<'signals'>,
): Problem[] {
  const variables = new Map<string, string>()
  const problems: Problem[] = []
  const { port } = signals
  if (port !== undefined && port !== 0 && port === control?.port)
    problems.push(
      source.problem(['signals', 'port'], `${port} is the port of control: take another one`),
    )
  for (const [name, signal] of Object.entries(signals.accept ?? {})) {
    if (signal === undefined) continue
    const path = ['signals', 'accept', name]
    const { secretVariable: variable, perMinute = 0, windowMs = 0, fields = {} } = signal
    const other = variable === undefined ? undefined : variables.get(variable)
    if (other !== undefined)
      problems.push(
        source.problem(
          [...path, 'secretVariable'],
          `${other} has the same: each signal has a secret of its own`,
        ),
      )
    if (variable !== undefined) variables.set(variable, name)
    const ids = Math.ceil((perMinute * windowMs) / 60_000)
    if (ids > IDS_MAX)
      problems.push(
        source.problem(
          [...path, 'windowMs'],
          `${ids} signals could come within it, and ${IDS_MAX} are remembered: shorten it, or lower perMinute`,
        ),
      )
    const taken = new Set(Object.keys(fields))
    for (const own of OWN_FIELDS) {
      const field = signal[own]
      if (field === undefined) continue
      if (taken.has(field))
        problems.push(
          source.problem(
            [...path, own],
            `${field} has another meaning already: name another field`,
          ),
        )
      taken.add(field)
    }
    for (const [field, spec] of Object.entries(fields)) {
      if (spec?.type !== 'number' || spec.min === undefined || spec.max === undefined) continue
      if (spec.min > spec.max)
        problems.push(
          source.problem([...path, 'fields', field, 'max'], `${spec.max} is below min ${spec.min}`),
        )
    }
  }
  return problems
}

export function checkReadSignals(
  { source, settings }: ReadableFile<StrategyFile>,
  { signals }: PartialSettings<DaemonFile>,
): Problem[] {
  const listed = Object.keys(signals?.accept ?? {})
  const feeds = Object.keys(settings.feeds ?? {})
  const seen = new Set<string>()
  return (settings.signals ?? []).flatMap((name, index) => {
    if (name === undefined) return []
    const problem = (message: string) => [source.problem(['signals', index], message)]
    const isSecond = seen.has(name)
    seen.add(name)
    if (isSecond) return problem(`${name} is named twice`)
    if (feeds.includes(name)) return problem(`${name} is the name of a feed too: rename the feed`)
    if (listed.includes(name)) return []
    const guess = didYouMean(name, listed)
    const hint =
      listed.length === 0
        ? 'it takes none'
        : guess === undefined
          ? `those taken are ${listed.join(', ')}`
          : `did you mean ${guess}?`
    return problem(`${name} is not listed under signals.accept of the main file; ${hint}`)
  })
}

type TargetSection = NonNullable<NonNullable<DaemonSection<'alerts'>['targets']>[number]>

const OWN_SETTINGS: Readonly<
  Record<NonNullable<TargetSection['kind']>, readonly (keyof TargetSection)[]>
> = {
  json: ['tokenVariable'],
  ntfy: ['tokenVariable'],
  slack: [],
  discord: [],
  telegram: ['chat', 'apiUrl'],
}

function checkAlerts(source: YamlSource, alerts: DaemonSection<'alerts'>): Problem[] {
  const targets = alerts.targets ?? []
  const isEmpty = targets.length === 0 && !source.has(['alerts', 'heartbeat'])
  const problems = targets.flatMap((target, index) =>
    target ? checkTarget(source, target, index) : [],
  )
  const names = targets.map((target) => target?.name)
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue
    problems.push(
      source.problem(['alerts', 'targets', index, 'name'], `another target is called ${name}`),
    )
  }
  if (isEmpty) {
    const message =
      'nothing would be sent anywhere: list targets or a heartbeat, or remove this section'
    problems.push(source.problemOfKey(['alerts'], message))
  }
  if (alerts.quiet?.from !== undefined && alerts.quiet.from === alerts.quiet.to) {
    problems.push(
      source.problem(['alerts', 'quiet', 'to'], 'quiet hours end when they begin: remove them'),
    )
  }
  return problems
}

function checkTarget(source: YamlSource, target: TargetSection, index: number): Problem[] {
  const { kind, chat, apiUrl } = target
  if (kind === undefined) return []
  const path = ['alerts', 'targets', index]
  const problems = (['tokenVariable', 'chat', 'apiUrl'] as const)
    .filter((key) => target[key] !== undefined && !OWN_SETTINGS[kind].includes(key))
    .map((key) => source.problemOfKey([...path, key], `${kind} has no use for it: remove it`))
  if (kind === 'telegram' && chat === undefined && !source.has([...path, 'chat'])) {
    problems.push(source.problem([...path, 'kind'], 'telegram needs the id of a chat: set chat'))
  }
  const url = apiUrl === undefined ? null : URL.parse(apiUrl)
  if (url && url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    problems.push(
      source.problem([...path, 'apiUrl'], 'expected an https address (http only on this machine)'),
    )
  }
  return problems
}
