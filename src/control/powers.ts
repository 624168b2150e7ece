import type { ControlRequest } from './commands.ts'

export type ControlOrder = ControlRequest['order']

/**
 * Names what a command does to risk. `look` changes nothing, `research` computes on past prices,
 * `safer` only takes risk away and is done at once; `riskier` may add risk: done at the machine,
 * only proposed from elsewhere.
 */
export type Power = 'look' | 'research' | 'safer' | 'riskier'

/** The log level changes no trading, yet is no look. */
const ORDER_POWERS = {
  restrict: 'safer',
  flatten: 'safer',
  close: 'safer',
  cancel: 'safer',
  kill: 'safer',
  logLevel: 'safer',
  // Less capital tightens limits, more of it loosens them; so may an entry that is taken back.
  withdrawal: 'safer',
  deposit: 'riskier',
  correctDeposit: 'riskier',
  order: 'riskier',
  adopt: 'riskier',
  release: 'riskier',
  releaseKill: 'riskier',
  reload: 'riskier',
} as const satisfies Readonly<Record<ControlOrder['kind'], Power>>

type KindOf<Wanted extends Power> = {
  [Kind in ControlOrder['kind']]: (typeof ORDER_POWERS)[Kind] extends Wanted ? Kind : never
}[ControlOrder['kind']]

export type RiskierOrder = Extract<ControlOrder, { readonly kind: KindOf<'riskier'> }>

export function isRiskier(order: ControlOrder): order is RiskierOrder {
  if (order.kind === 'order' && order.reduceOnly === true) return false
  if ('dryRun' in order && order.dryRun === true) return false
  return ORDER_POWERS[order.kind] === 'riskier'
}

/**
 * For what is posted. `byOrder`: {@link ORDER_POWERS} says. `confirm` needs a one-time code,
 * `token` hands out the right to command, `open` needs no token.
 */
export const POST_POWERS = {
  '/v1/commands': 'byOrder',
  '/v1/proposals': 'look',
  '/v1/confirmations': 'confirm',
  '/v1/addresses': 'token',
  '/v1/session': 'open',
} as const satisfies Readonly<Record<string, Power | 'byOrder' | 'confirm' | 'token' | 'open'>>

/**
 * For chats and assistants, which run commands as processes. Only the operator runs `machine`
 * commands; a person in the chat may `confirm`, an assistant never.
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
  restrict: 'safer',
  pause: 'safer',
  flatten: 'safer',
  close: 'safer',
  cancel: 'safer',
  kill: 'safer',
  'log-level': 'safer',
  mode: 'riskier',
  resume: 'riskier',
  release: 'riskier',
  adopt: 'riskier',
  reload: 'riskier',
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
  'new-strategy': 'machine',
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

/** All that an assistant can be offered. */
export type OfferedVerb = {
  [Name in Verb]: (typeof VERB_POWERS)[Name] extends Power ? Name : never
}[Verb]

export function powerOf(verb: OfferedVerb): Power {
  return VERB_POWERS[verb]
}
