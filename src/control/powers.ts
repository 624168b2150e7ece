import type { ControlRequest } from './commands.ts'

export const SESSION_PATH = '/v1/session'

/** The path of assistants, whose token opens nothing else. */
export const AGENT_PATH = '/mcp'

export type RequestedCommand = ControlRequest['order']

/**
 * A power says what a command does to risk. `look` changes nothing, `research` computes on past
 * prices, `safer` only takes risk away and is done at once. `riskier` may add risk: it is done at
 * the machine, and only proposed from elsewhere.
 */
export type Power = 'look' | 'research' | 'safer' | 'riskier'

const COMMAND_POWERS = {
  restrict: 'safer',
  flatten: 'safer',
  close: 'safer',
  cancel: 'safer',
  kill: 'safer',
  logLevel: 'safer',
  // Less capital tightens limits. More capital loosens them, and so may an entry that is taken
  // back.
  withdrawal: 'safer',
  deposit: 'riskier',
  correctDeposit: 'riskier',
  order: 'riskier',
  adopt: 'riskier',
  release: 'riskier',
  releaseKill: 'riskier',
  reload: 'riskier',
} as const satisfies Readonly<Record<RequestedCommand['kind'], Power>>

const RISKIER: ReadonlySet<unknown> = new Set(
  Object.entries(COMMAND_POWERS).flatMap(([kind, power]) => (power === 'riskier' ? [kind] : [])),
)

type KindOf<Wanted extends Power> = {
  [Kind in RequestedCommand['kind']]: (typeof COMMAND_POWERS)[Kind] extends Wanted ? Kind : never
}[RequestedCommand['kind']]

export type RiskierCommand = Extract<RequestedCommand, { readonly kind: KindOf<'riskier'> }>

/** An order before it is checked. */
export type UncheckedOrder = Readonly<Record<string, unknown>>

export function isRiskier(order: RequestedCommand): order is RiskierCommand
export function isRiskier(order: UncheckedOrder): boolean
export function isRiskier(order: UncheckedOrder): boolean {
  if (order['kind'] === 'order' && order['reduceOnly'] === true) return false
  if (order['dryRun'] === true) return false
  return RISKIER.has(order['kind'])
}

interface AgentSettings {
  readonly readOnly: boolean
  readonly agents: Readonly<Record<'research' | 'safer' | 'propose', boolean>>
}

/** Commands of assistants go to the socket, which does not show that they came by the port. */
export function agentPowers(
  { readOnly, agents }: AgentSettings,
  way: 'port' | 'machine',
): ReadonlySet<Power> {
  const commands = way === 'machine' || !readOnly
  return new Set<Power>([
    'look',
    ...(agents.research ? (['research'] as const) : []),
    ...(agents.safer && commands ? (['safer'] as const) : []),
    ...(agents.propose && commands ? (['riskier'] as const) : []),
  ])
}

/** The daemon names the powers with each request that it passes on: a reload may change them. */
export const AGENT_POWERS_HEADER = 'intentd-agent-powers'

export interface ServedAgents {
  /** The socket of `intentd mcp --http`. */
  readonly socket: string
  readonly powers: readonly Power[]
}

/** @param text of {@link AGENT_POWERS_HEADER} */
export function parsePowers(text: string): ReadonlySet<Power> {
  const named = new Set<string>(text.split(','))
  return new Set(POWERS.filter((power) => named.has(power)))
}

const POWERS: readonly Power[] = ['look', 'research', 'safer', 'riskier']

/** Decides which of several waiting commands is carried out first. */
export function urgencyOf({ kind, mode }: UncheckedOrder): 'kill' | 'halt' | 'command' {
  if (kind === 'kill') return 'kill'
  return kind === 'flatten' || (kind === 'restrict' && mode === 'halted') ? 'halt' : 'command'
}

export const COMMANDS_PATH = '/v1/commands'
export const PROPOSALS_PATH = '/v1/proposals'

/** The token that a path for POST takes at the port. Paths that are not listed take `full`. */
export const POST_TOKENS: Readonly<Record<string, 'full' | 'agent' | 'open'>> = {
  [COMMANDS_PATH]: 'full',
  [PROPOSALS_PATH]: 'full',
  // It needs a one-time code, too.
  '/v1/confirmations': 'full',
  // It hands out the token for commands.
  '/v1/addresses': 'full',
  [SESSION_PATH]: 'open',
  [AGENT_PATH]: 'agent',
}

/**
 * Powers of the commands that chats and assistants run as processes. Only the operator runs
 * `machine` commands; a person in the chat may `confirm`, an assistant never.
 */
export const VERB_POWERS = {
  status: 'look',
  positions: 'look',
  orders: 'look',
  fills: 'look',
  trades: 'look',
  profit: 'look',
  events: 'look',
  explain: 'look',
  whatif: 'look',
  instruments: 'look',
  universe: 'look',
  check: 'look',
  plan: 'look',
  fleet: 'look',
  doctor: 'look',
  compare: 'look',
  backtest: 'research',
  'check-bias': 'research',
  sweep: 'research',
  test: 'research',
  parity: 'research',
  replay: 'research',
  // For an assistant only below the folder that the configuration allows.
  'new-strategy': 'research',
  // Another name of `mode`, without `active`, for chats and assistants.
  restrict: COMMAND_POWERS.restrict,
  pause: COMMAND_POWERS.restrict,
  flatten: COMMAND_POWERS.flatten,
  close: COMMAND_POWERS.close,
  cancel: COMMAND_POWERS.cancel,
  kill: COMMAND_POWERS.kill,
  'log-level': COMMAND_POWERS.logLevel,
  // `active` is a release.
  mode: COMMAND_POWERS.release,
  resume: COMMAND_POWERS.release,
  release: COMMAND_POWERS.release,
  adopt: COMMAND_POWERS.adopt,
  reload: COMMAND_POWERS.reload,
  confirm: 'confirm',
  pair: 'machine',
  order: 'machine',
  deposit: 'machine',
  withdrawal: 'machine',
  // It writes files.
  statement: 'machine',
  signal: 'machine',
  // Its address opens the dashboard with the commanding token.
  dashboard: 'machine',
  init: 'machine',
  run: 'machine',
  standby: 'machine',
  handover: 'machine',
  accept: 'machine',
  repair: 'machine',
  journal: 'machine',
  archive: 'machine',
  alert: 'machine',
  simulate: 'machine',
  import: 'machine',
  download: 'machine',
  data: 'machine',
  record: 'machine',
  call: 'machine',
  chat: 'machine',
  mcp: 'machine',
} as const satisfies Readonly<Record<string, Power | 'confirm' | 'machine'>>

export type Verb = keyof typeof VERB_POWERS

export type OfferedVerb = {
  [Name in Verb]: (typeof VERB_POWERS)[Name] extends Power ? Name : never
}[Verb]

export function powerOf(verb: OfferedVerb): Power {
  return VERB_POWERS[verb]
}
