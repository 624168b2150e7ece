import type { LogEvent } from '../../domain/log-events.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import {
  MODE_REASONS,
  type ModeReason,
  strategyScope,
  type TradingMode,
} from '../../domain/trading-mode.ts'
import type { Urgency } from '../alert.ts'
import type { AlertRule } from './alert-rule.ts'
import { type LogFacts, showFact, showScope, toArgument } from './facts.ts'

const SILENT = 'silent'
const [urgent, warning, info] = ['urgent', 'warning', 'info'] as const
const release = ({ scope }: LogFacts) => `release ${toArgument(scope)} --reason "..."`
/** Settings of the account end these; an earlier release would end nothing. */
const releaseUnlessMeasured = ({ scope, code }: LogFacts) =>
  ['positionMode', 'marginMode', 'leverage', 'maintenance'].includes(String(code))
    ? undefined
    : release({ scope })
/** `limits.reached` reports these with the mode: one event is one alert. */
const LIMITS: readonly ModeReason[] = [
  'dailyLoss',
  'drawdown',
  'drawdownFlatten',
  'losingStreak',
  'rejections',
  'liquidationNear',
  'liquidationFlatten',
  'worstCase',
]
const isNoLimit = ({ code }: LogFacts): boolean => !(LIMITS as readonly unknown[]).includes(code)
const describeMode = (code: unknown): string => {
  const reason = MODE_REASONS[code as ModeReason] as { readonly mode: TradingMode } | undefined
  return reason?.mode === 'reducing' ? 'only orders that reduce are sent' : 'trading is halted'
}
/** An operator knows of their own pause; others may want to know. */
const urgencyOfMode = ({ code, by }: LogFacts): Urgency =>
  code === 'operator' || code === 'close' || (code === 'flatten' && by !== 'intentd')
    ? 'info'
    : 'urgent'
/** It begins and ends by itself, and `close.done` says so. */
const isOwnClose = ({ code, scope }: LogFacts): boolean =>
  code === 'close' && scope === strategyScope(MANUAL)
const releaseSymbol = ({ symbol }: LogFacts) => `release ${toArgument(symbol)} --reason "..."`
const describeTrade = ({ size, symbol, price, net, profit }: LogFacts) =>
  `${showFact(size)} of ${showFact(symbol)} at ${showFact(price)}, ${showFact(net ?? profit)}`
const showList = (items: unknown, between: string): string =>
  showFact(items)
    .replaceAll(/[[\]"]/g, '')
    .replaceAll(',', between)
const describeSeconds = (ms: unknown): string => `${Math.round(Number(ms) / 1000)} s`
/** `3 unknown orders (absent 2, filled 1)` */
const describeFound = (unknownOrders: unknown, found: unknown): string => {
  const states = Object.entries(found ?? {}).map(([state, count]) => `${state} ${count}`)
  const orders =
    unknownOrders === 1 ? '1 unknown order' : `${showFact(unknownOrders)} unknown orders`
  return states.length === 0 ? orders : `${orders} (${states.join(', ')})`
}
const releaseKill = () => 'release --reason "..."'
const explainSymbol = ({ symbol }: LogFacts) => `explain ${toArgument(symbol)}`
const check = () => 'check'
/** Unlike `check`, `doctor` tests the keys at the exchange. */
const doctor = () => 'doctor'

/** `silent` events are covered by another alert, are corrected by themselves, or are no trouble. */
export const ALERT_TABLE: Readonly<Record<LogEvent, AlertRule | typeof SILENT>> = {
  'account.fresh': SILENT,
  'account.held': SILENT,
  'account.notHeld': {
    urgency: warning,
    by: [],
    endedBy: 'account.held',
    title: () => 'no lock keeps other daemons off the account',
  },
  'account.off': {
    urgency: urgent,
    by: [],
    title: () => 'an account does not trade',
    command: check,
  },
  'account.refused': {
    urgency: urgent,
    by: [],
    title: () => 'the exchange refuses the calls of an account',
    command: doctor,
  },
  'account.stale': {
    urgency: urgent,
    by: [],
    endedBy: 'account.fresh',
    atOnce: true,
    title: ({ what }) => `nothing that adds risk leaves: ${showFact(what)} cannot be read`,
    command: doctor,
  },
  'alert.broken': SILENT,
  'alert.dropped': SILENT,
  'alert.failing': SILENT,
  'alert.recovered': SILENT,
  'batch.answered': SILENT,
  'batch.sent': SILENT,
  'batch.wouldSend': SILENT,
  'call.accepted': SILENT,
  'call.expired': {
    urgency: warning,
    by: ['strategy', 'key'],
    title: ({ strategy }) => `a call of strategy ${showFact(strategy)} on the account was given up`,
  },
  'call.rejected': {
    urgency: warning,
    by: ['strategy', 'reason'],
    title: ({ strategy }) =>
      `the exchange refused a call of strategy ${showFact(strategy)} on the account`,
  },
  'call.repeated': SILENT,
  'call.sent': SILENT,
  'call.wouldSend': SILENT,
  'cancel.planned': SILENT,
  'cancelAll.answered': SILENT,
  'cancelAll.failed': {
    urgency: urgent,
    by: ['code'],
    counted: true,
    title: ({ symbols }) => `cancel-alls of ${showFact(symbols)} fail again and again`,
  },
  'cancelAll.sent': SILENT,
  'cancelAll.wouldSend': SILENT,
  'capital.changed': {
    urgency: warning,
    by: [],
    title: ({ was, is }) =>
      `the capital of the account is ${showFact(is)}, in the last run it was ${showFact(was)}`,
  },
  'capital.kept': {
    urgency: urgent,
    by: [],
    title: ({ was, is }) =>
      `the capital of ${showFact(is)} would close everything, so the one of the last run counts: ${showFact(was)}`,
  },
  'chat.failed': SILENT,
  'chat.listening': SILENT,
  'chat.obeyed': SILENT,
  'chat.stranger': SILENT,
  'clock.jumped': {
    urgency: urgent,
    by: [],
    title: () => "the exchange's clock jumped against ours",
  },
  'clock.machineAgrees': SILENT,
  'clock.machineApart': {
    urgency: warning,
    by: [],
    endedBy: 'clock.machineAgrees',
    title: ({ aheadMs }) => `the clock of this machine is wrong by ${showFact(aheadMs)} ms`,
  },
  'clock.moved': SILENT,
  'clock.publicAgrees': SILENT,
  'clock.publicApart': {
    urgency: warning,
    by: [],
    endedBy: 'clock.publicAgrees',
    title: () => 'public answers of the exchange tell another time than signed ones',
  },
  'clock.slept': { urgency: warning, by: [], title: () => 'this machine had slept' },
  'clock.stepped': { urgency: warning, by: [], title: () => 'the clock of this machine was set' },
  'clock.synchronised': SILENT,
  'clock.unsynchronised': {
    urgency: urgent,
    by: [],
    endedBy: 'clock.synchronised',
    title: () => "no order is sent: the exchange's clock is not known",
  },
  'close.begun': SILENT,
  'close.done': {
    urgency: info,
    by: ['scope'],
    title: ({ scope }) => `the share of ${showScope(scope)} is closed`,
    command: ({ scope }) => (scope === strategyScope(MANUAL) ? undefined : release({ scope })),
  },
  'contract.changed': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `the exchange has changed the rules of ${showFact(symbol)}`,
  },
  'contract.differs': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `${showFact(symbol)} differs from what the exchange lists`,
    command: check,
  },
  'contracts.notRead': SILENT,
  'contracts.read': SILENT,
  'control.codesLocked': {
    urgency: urgent,
    by: [],
    title: ({ by, until }) =>
      `five wrong one-time codes, the last by ${showFact(by)}: codes are locked until ${showFact(until)}`,
  },
  'control.commanded': SILENT,
  'control.dashboard': SILENT,
  'control.failed': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `the control interface failed to answer: ${showFact(reason)}`,
  },
  'control.listening': SILENT,
  'control.notListening': {
    urgency: warning,
    by: ['address'],
    title: ({ address }) => `the control interface cannot be reached at ${showFact(address)}`,
  },
  'control.notConfirmed': SILENT,
  'control.proposed': {
    urgency: info,
    by: ['proposal'],
    title: ({ proposal, order, by }) =>
      `${showFact(by)} proposes ${showFact(order)}: nothing is done unless you confirm ${showFact(proposal)} with a code`,
  },
  'control.refused': {
    urgency: warning,
    by: ['why'],
    title: ({ why }) => `somebody was turned away at the control port: ${showFact(why)}`,
  },
  'control.tokenRenewed': {
    urgency: warning,
    by: ['file'],
    title: ({ file }) => `${showFact(file)} was damaged and made anew: copies of it open nothing`,
  },
  'curve.unread': SILENT,
  'daemon.broken': { urgency: urgent, by: [], title: () => 'the daemon broke, and ends' },
  'daemon.heartbeat': SILENT,
  'daemon.killed': {
    urgency: urgent,
    by: [],
    title: () => 'the daemon started under the kill switch',
    command: releaseKill,
  },
  'daemon.opened': SILENT,
  'daemon.running': {
    urgency: info,
    by: [],
    title: ({ epoch, unknownOrders }) =>
      `the daemon started (run ${showFact(epoch)}); unknown orders: ${showFact(unknownOrders)}`,
  },
  'daemon.stopRequested': SILENT,
  'daemon.stopped': {
    urgency: ({ clean, stillHeld }) => (clean === true && stillHeld === undefined ? info : urgent),
    by: [],
    title: ({ clean, stillHeld }) => {
      if (clean !== true) return 'the daemon stopped, and not everything is settled'
      if (stillHeld === undefined) return 'the daemon stopped in good order'
      return `the daemon stopped; close by hand what the account still holds: ${showFact(stillHeld)}`
    },
  },
  'daemon.stopping': SILENT,
  'dryRun.withheld': SILENT,
  'data.fresh': {
    urgency: info,
    by: ['symbol'],
    title: ({ symbol }) => `the prices of ${showFact(symbol)} are fresh again`,
  },
  'data.stale': {
    urgency: urgent,
    by: ['symbol'],
    title: ({ symbol }) => `nothing is placed on ${showFact(symbol)}: its prices are stale`,
  },
  'day.rolled': SILENT,
  'deposit.entered': SILENT,
  'deposit.refused': SILENT,
  'disk.enough': { urgency: info, by: [], title: () => 'the disk has room again' },
  'disk.low': {
    urgency: urgent,
    by: [],
    title: () => 'the disk is nearly full: only orders that reduce are sent',
  },
  'disk.notMeasured': { urgency: warning, by: [], title: () => 'the free disk space is not known' },
  'exchange.answers': {
    urgency: info,
    by: [],
    title: ({ afterMs, unknownOrders, found }) =>
      `the exchange answers again after ${describeSeconds(afterMs)}, and what happened is known: ${describeFound(unknownOrders, found)}`,
  },
  'exchange.silent': {
    urgency: urgent,
    by: [],
    title: ({ calls, reason }) =>
      `the exchange does not answer (${showList(calls, ', ')}): ${showFact(reason)}`,
    command: () => 'status',
  },
  'exit.done': SILENT,
  'exit.due': SILENT,
  'exit.moved': SILENT,
  'exit.notKept': {
    urgency: urgent,
    by: ['symbol', 'strategy', 'side'],
    endedBy: 'exit.notKeptEnded',
    atOnce: true,
    title: ({ symbol, strategy, side, stopLoss, takeProfit }) =>
      `${showFact(symbol)}: ${[
        ...(stopLoss === undefined ? [] : [`the stop-loss ${showFact(stopLoss)}`]),
        ...(takeProfit === undefined ? [] : [`the take-profit ${showFact(takeProfit)}`]),
      ].join(' and ')} of ${showFact(strategy)} (${showFact(side)}) does not stand at the exchange`,
    command: () => 'positions',
  },
  'exit.notKeptEnded': SILENT,
  'exit.notListed': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `the exchange lists no stop-loss for ${showFact(symbol)}`,
  },
  'exit.notMoved': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `the stop-loss at the exchange was not moved: ${showFact(symbol)}`,
  },
  'exit.notRead': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `stops at the exchange could not be listed: ${showFact(symbol)}`,
  },
  'entries.paused': SILENT,
  'fees.uncounted': {
    urgency: warning,
    by: ['coin'],
    title: ({ coin, amount }) =>
      `fees are not counted: ${showFact(amount)} ${showFact(coin)}, a coin without a price here`,
    command: doctor,
  },
  'fill.deleveraged': {
    urgency: urgent,
    by: ['symbol'],
    title: (facts) => `auto-deleveraged ${describeTrade(facts)}`,
    command: explainSymbol,
  },
  'fill.delivered': {
    urgency: info,
    by: ['symbol'],
    title: (facts) => `delivered ${describeTrade(facts)}`,
  },
  'fill.exit': SILENT,
  'fill.foreign': {
    urgency: urgent,
    by: ['symbol'],
    title: ({ symbol, source, word }) =>
      word === undefined
        ? `${showFact(symbol)} was traded by somebody else (${showFact(source)})`
        : `the exchange closed something in ${showFact(symbol)} as "${showFact(word)}"`,
    command: explainSymbol,
  },
  'fill.incomplete': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol, missing }) =>
      `the ${showList(missing, ' and ')} of a fill of ${showFact(symbol)} is not known, and not counted`,
    command: explainSymbol,
  },
  'fill.incredible': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol, stated }) =>
      `the exchange states of a fill of ${showFact(symbol)} what cannot be: ${showFact(stated)}`,
    command: explainSymbol,
  },
  'fill.liquidated': {
    urgency: urgent,
    by: ['symbol', 'kind'],
    title: (facts) => {
      const part = facts['kind'] === 'liquidation' ? '' : 'partly '
      return `${part}liquidated ${describeTrade(facts)}`
    },
    command: explainSymbol,
  },
  'fill.unexplained': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) =>
      `a fill of ${showFact(symbol)} belongs to no known order yet: nothing that opens is placed there`,
    command: explainSymbol,
  },
  'fill.unowned': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `fills of ${showFact(symbol)} belong to nobody`,
    command: explainSymbol,
  },
  'fleet.shown': SILENT,
  'fleet.unable': SILENT,
  'flatten.done': {
    urgency: info,
    by: ['scope'],
    title: ({ scope }) => `everything is closed in ${showScope(scope)}`,
    command: release,
  },
  'flatten.dropped': {
    urgency: warning,
    by: ['scope'],
    title: ({ scope }) => `${showScope(scope)} was released before everything was closed`,
    command: ({ scope }) => `flatten ${toArgument(scope)} --reason "..."`,
  },
  'flatten.left': {
    urgency: urgent,
    by: ['scope'],
    title: ({ scope, stillHeld }) =>
      `close by hand what is left in ${showScope(scope)}: ${showFact(stillHeld)}`,
    command: () => 'status',
  },
  'flatten.slow': {
    urgency: urgent,
    by: ['scope'],
    title: ({ scope }) => `not everything is closed yet in ${showScope(scope)}`,
    command: () => 'status',
  },
  'funding.estimated': SILENT,
  'funding.paid': SILENT,
  'handover.asked': SILENT,
  'heartbeat.failing': SILENT,
  'heartbeat.resumed': SILENT,
  'heartbeat.withheld': SILENT,
  'instrument.resolved': SILENT,
  'instrument.resolving': {
    urgency: urgent,
    by: ['symbol'],
    endedBy: 'instrument.resolved',
    title: ({ symbol }) =>
      `the outcome of orders of ${showFact(symbol)} has been unknown for too long`,
    command: explainSymbol,
  },
  'intent.denied': SILENT,
  'journal.away': SILENT,
  'journal.back': SILENT,
  'journal.inTime': SILENT,
  'journal.late': {
    urgency: urgent,
    by: [],
    endedBy: 'journal.inTime',
    title: ({ waitedMs, mostMs }) =>
      `no order leaves: the journal takes ${showFact(waitedMs)} ms, and ${showFact(mostMs)} ms is the most`,
    command: () => 'status',
  },
  'journal.nearlyLate': {
    urgency: warning,
    by: [],
    title: ({ commitMs }) =>
      `orders may be dropped: a commit of the journal took ${showFact(commitMs)} ms`,
  },
  'journal.migrated': SILENT,
  'journal.notClosed': { urgency: urgent, by: [], title: () => 'the journal could not be closed' },
  'journal.notPacked': {
    urgency: warning,
    by: [],
    title: () => 'old records of the journal are damaged',
  },
  'journal.notReplicated': {
    urgency: info,
    by: [],
    title: () => 'the journal is on one server alone',
  },
  'journal.notSynchronised': {
    urgency: warning,
    by: [],
    title: () => 'a power cut at its server can damage the journal',
  },
  'journal.opened': SILENT,
  'history.differs': {
    urgency: warning,
    by: ['symbol', 'interval'],
    title: ({ symbol, interval }) =>
      `candles of ${showFact(interval)} of ${showFact(symbol)} differ from those of the exchange`,
  },
  'history.ends': SILENT,
  'history.fetched': SILENT,
  'history.notFetched': SILENT,
  'kill.clean': {
    urgency: warning,
    by: [],
    title: () => 'the kill is done: it is proved that no order is open',
    command: releaseKill,
  },
  'kill.notThrown': SILENT,
  'kill.notWrittenDown': {
    urgency: warning,
    by: [],
    title: () => 'a kill works, but its progress cannot be written',
  },
  'kill.phase': SILENT,
  'kill.releasePending': SILENT,
  'kill.releaseTooOld': SILENT,
  'kill.releaseDropped': SILENT,
  'kill.released': { urgency: warning, by: [], title: () => 'the kill switch was released' },
  'kill.unproved': {
    urgency: urgent,
    by: [],
    title: () => 'a kill is not proved: look at the exchange',
  },
  'lease.lost': { urgency: urgent, by: [], title: () => 'the lease of the journal is lost' },
  'limits.coolDown': SILENT,
  'limits.notReleased': SILENT,
  'limits.ended': {
    urgency: info,
    by: ['scope', 'code'],
    title: ({ scope, reason }) =>
      `${showScope(scope)} is within its limit again: ${showFact(reason)}`,
  },
  'limits.alone': {
    urgency: warning,
    by: [],
    endedBy: 'limits.shared',
    title: () => 'limits of the address are not shared',
  },
  'limits.refused': {
    urgency: urgent,
    by: [],
    endedBy: 'limits.shared',
    atOnce: true,
    title: () => 'no call is sent: one daemon too many shares the limits',
  },
  'limits.shared': SILENT,
  'limits.off': SILENT,
  'limits.reached': {
    urgency: urgent,
    by: ['scope', 'code'],
    title: ({ scope, code, reason }) =>
      `a limit was reached for ${showScope(scope)}: ${showFact(reason)}; ${describeMode(code)}`,
    command: release,
  },
  'liquidation.near': {
    urgency: urgent,
    by: ['symbol', 'holdSide'],
    title: ({ symbol, holdSide }) =>
      `the ${String(holdSide)} position in ${String(symbol)} is near its liquidation`,
  },
  'liquidation.judgedAlone': {
    urgency: urgent,
    by: ['symbol', 'holdSide'],
    title: ({ symbol, holdSide }) =>
      `the ${String(holdSide)} position in ${String(symbol)}: our own liquidation price counts alone`,
  },
  'worstCase.near': {
    urgency: urgent,
    by: [],
    title: ({ reason }) => `the worst case is near the whole budget: ${showFact(reason)}`,
  },
  'position.reducing': {
    urgency: urgent,
    by: ['symbol', 'holdSide'],
    title: ({ symbol, holdSide, size, reason }) =>
      `${showFact(size)} of the ${String(holdSide)} position in ${String(symbol)} are closed: ${showFact(reason)}`,
  },
  'limits.warned': {
    urgency: warning,
    by: ['scope'],
    title: ({ scope }) => `losses of ${showScope(scope)} have reached the warning level`,
  },
  'limits.coolingDown': {
    urgency: warning,
    by: [],
    title: () => 'the exchange answers 429: reads pause',
  },
  'equity.agreed': SILENT,
  'equity.disputed': {
    urgency: warning,
    by: ['figure', 'scope'],
    title: ({ figure, scope, ours, theirs }) =>
      figure === 'fills'
        ? 'the book and a count of its fills differ'
        : figure === 'liquidation'
          ? `${showFact(scope)} is liquidated at ${showFact(ours)} by our count, by the exchange at ${showFact(theirs)}`
          : `${showFact(scope)}: our profit is ${showFact(ours)}, by the exchange ${showFact(theirs)}`,
  },
  'margin.liquidated': {
    urgency: urgent,
    by: ['marginMode', 'orderId'],
    title: ({ marginMode, symbol, side, size, price, converted, into }) =>
      converted === undefined
        ? `the exchange liquidated in the ${showFact(marginMode)} margin account: ${showFact(side)} ${showFact(size)} ${showFact(symbol)} at ${showFact(price)}`
        : `the exchange converted in the ${showFact(marginMode)} margin account: ${showFact(converted)} into ${showFact(into)}`,
  },
  'margin.notRead': {
    urgency: warning,
    by: [],
    endedBy: 'margin.read',
    title: ({ reason }) => `the margin account cannot be read: ${showFact(reason)}`,
  },
  'margin.order': {
    urgency: ({ isBySystem }) => (isBySystem === true ? urgent : info),
    by: ['marginMode', 'orderId'],
    title: ({ marginMode, symbol, side, size, quoteSize, price, isBySystem }) =>
      `${isBySystem === true ? 'the exchange placed an order' : 'an order rests'} in the ${showFact(marginMode)} margin account: ${showFact(side)} ${size === undefined ? `for ${showFact(quoteSize)}` : showFact(size)} ${showFact(symbol)}${price === undefined ? '' : ` at ${showFact(price)}`}`,
  },
  'margin.read': SILENT,
  'operator.unreadable': { urgency: warning, by: [], title: () => 'a command could not be read' },
  'log.linesMissing': SILENT,
  'limits.peakMoved': {
    urgency: warning,
    by: ['scope'],
    title: ({ scope, from, to, below }) =>
      `the drawdown of ${showScope(scope)} was released at ${showFact(to)}, ${showFact(below)} below the peak of ${showFact(from)}`,
  },
  'manual.cancelled': SILENT,
  'manual.ordered': SILENT,
  'manual.refused': SILENT,
  'loop.stoodStill': {
    urgency: warning,
    by: [],
    title: ({ forMs }) => `the process stood still for ${describeSeconds(forMs)}`,
  },
  'loop.hung': {
    urgency: urgent,
    by: ['strategy', 'loop'],
    title: ({ loop }) =>
      `${loop === undefined ? 'the event loop' : showFact(loop)} stood still, and the process was ended`,
  },
  'order.accepted': SILENT,
  'order.clockRefused': {
    urgency: urgent,
    by: ['code'],
    counted: true,
    title: ({ code }) =>
      `the exchange refuses the time of orders again and again (${showFact(code)})`,
  },
  'order.displacedLate': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `wanted orders of ${showFact(symbol)} are missing after a cancel-all`,
    command: explainSymbol,
  },
  'order.dropped': SILENT,
  'order.nameUnknown': {
    urgency: urgent,
    by: [],
    title: () => 'orders of another intentd rest on this account',
  },
  'order.ended': SILENT,
  'order.exists': SILENT,
  'order.fill': SILENT,
  'order.fillAttributed': SILENT,
  'order.found': SILENT,
  'order.missing': SILENT,
  'order.notSent': SILENT,
  'order.queuedAgain': SILENT,
  'order.rejected': {
    urgency: warning,
    by: ['code'],
    counted: true,
    title: ({ symbol, code }) =>
      `the exchange rejects orders again and again, ${showFact(symbol)} last (${showFact(code)})`,
    command: ({ clientOid }) => `explain ${toArgument(clientOid)}`,
  },
  'order.sent': SILENT,
  'order.wouldSend': SILENT,
  'order.unknown': SILENT,
  'orders.refused': {
    urgency: ({ lasts }) => (lasts === true ? urgent : warning),
    by: ['strategy', 'symbol', 'cause'],
    endedBy: 'orders.refusedNoMore',
    atOnce: true,
    title: ({ symbol, strategy, reason }) =>
      `orders of ${showFact(strategy)} on ${showFact(symbol)} are ${showFact(reason)}`,
    command: () => 'status',
  },
  'orders.refusedNoMore': SILENT,
  'orders.restored': SILENT,
  // The fill's alert says what was closed.
  'orders.unconfirmed': {
    urgency: warning,
    by: [],
    title: ({ symbols }) => `the exchange closed something by itself in ${showFact(symbols)}`,
  },
  'plots.ended': SILENT,
  'plots.full': SILENT,
  'poll.failed': {
    urgency: warning,
    by: ['what'],
    title: ({ what }) => `a poll failed: ${showFact(what)}`,
  },
  'position.adopted': {
    urgency: urgent,
    by: ['symbol'],
    title: ({ symbol }) => `the position in ${showFact(symbol)} was not what our fills explain`,
    command: releaseSymbol,
  },
  'position.assigned': SILENT,
  'position.leverageChanged': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol, was, is }) =>
      `the leverage of ${showFact(symbol)} was changed from ${showFact(was)} to ${showFact(is)}`,
  },
  'position.notAssigned': SILENT,
  'position.unattended': {
    urgency: warning,
    by: ['strategy', 'symbol', 'side'],
    title: ({ strategy, symbol }) =>
      `nobody trades the position in ${showFact(symbol)}${strategy === undefined ? '' : ` of strategy ${showFact(strategy)}`}`,
    command: ({ strategy, symbol }) =>
      strategy === undefined ? `adopt ${toArgument(symbol)} --to ID --reason "..."` : undefined,
  },
  'position.unexplained': SILENT,
  'prices.back': SILENT,
  'prices.missing': {
    urgency: urgent,
    by: [],
    endedBy: 'prices.back',
    title: () => 'the exchange whose prices are followed does not answer',
  },
  'prices.slow': SILENT,
  'quote.changed': SILENT,
  'readings.late': {
    urgency: warning,
    by: ['what'],
    endedBy: 'readings.prompt',
    atOnce: true,
    title: ({ what, ageMs, everyMs }) =>
      `readings of ${showFact(what)} come late: ${showFact(ageMs)} ms old, and asked for every ${showFact(everyMs)} ms`,
    command: () => 'status',
  },
  'readings.prompt': SILENT,
  'read.failed': {
    urgency: urgent,
    by: ['what'],
    endedBy: 'read.resumed',
    title: ({ what }) => `reads of ${showFact(what)} fail: their data get old`,
  },
  'read.resumed': SILENT,
  'recording.ended': {
    urgency: warning,
    by: [],
    title: () => 'the recording of the run ended early',
  },
  'recording.lost': { urgency: warning, by: [], title: () => 'the recording of the run has a gap' },
  'recording.resumed': SILENT,
  'recording.started': SILENT,
  'recording.startsAgain': SILENT,
  'recovery.ended': SILENT,
  'recovery.progress': SILENT,
  'recovery.started': SILENT,
  'retreat.cancelled': SILENT,
  'retreat.ended': {
    urgency: ({ end }) => (end === 'unproved' ? urgent : warning),
    by: [],
    title: ({ end }) => `the daemon broke; its open orders: ${showFact(end)}`,
  },
  'retreat.failed': {
    urgency: urgent,
    by: ['symbol'],
    title: ({ symbol }) => `the daemon broke, and ${showFact(symbol)} could not be cancelled`,
  },
  'retreat.found': SILENT,
  'retreat.notNoted': {
    urgency: urgent,
    by: [],
    title: () => 'the daemon broke, and left no note',
  },
  'reload.begun': SILENT,
  'reload.failed': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `the changed configuration could not be applied: ${showFact(reason)}`,
    command: check,
  },
  'reload.refused': {
    urgency: warning,
    by: [],
    title: () => 'a changed configuration was refused',
    command: check,
  },
  'rows.readable': SILENT,
  'rows.unreadable': {
    urgency: urgent,
    by: ['row'],
    endedBy: 'rows.readable',
    title: ({ scope, row }) => `${showFact(scope)} is halted: ${showFact(row)} cannot be read`,
  },
  'run.summary': {
    urgency: urgent,
    by: [],
    when: ({ exchangeAgrees }) => exchangeAgrees === false,
    title: () => "our books differ from the exchange's",
  },
  'server.inClear': {
    urgency: warning,
    by: ['setting'],
    title: () => 'a server is asked without TLS',
  },
  'signal.limited': {
    urgency: warning,
    by: ['signal', 'why'],
    title: ({ signal, why }) => `signals are refused (${showFact(signal)}): ${showFact(why)}`,
  },
  'signal.refused': {
    urgency: warning,
    by: ['signal', 'why'],
    title: ({ signal, why }) => `a signal was refused (${showFact(signal)}): ${showFact(why)}`,
  },
  'signal.outdated': SILENT,
  'signal.repeated': SILENT,
  'signal.taken': SILENT,
  'signals.failed': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `taking signals failed, and trading goes on: ${showFact(reason)}`,
  },
  'signals.listening': SILENT,
  'signals.notListening': {
    urgency: warning,
    by: ['address'],
    title: ({ address }) => `signals cannot be taken at ${showFact(address)}`,
  },
  'simulator.faultInjected': SILENT,
  'simulator.handlerFailed': { urgency: warning, by: [], title: () => 'the simulator broke' },
  'simulator.listening': SILENT,
  'simulator.marketFailed': {
    urgency: urgent,
    by: [],
    title: () => "the simulator's prices stand still",
  },
  'simulator.opened': SILENT,
  'simulator.otherAccount': SILENT,
  'simulator.requestRefused': SILENT,
  'simulator.serverFailed': {
    urgency: warning,
    by: [],
    title: () => "the simulator's server broke",
  },
  'simulator.settingsKept': SILENT,
  'simulator.stopped': SILENT,
  'simulator.volumesCut': SILENT,
  'stop.phase': SILENT,
  'strategy.said': SILENT,
  'strategy.strayed': SILENT,
  'strategy.threadLost': {
    urgency: warning,
    by: ['strategy'],
    title: ({ strategy, reason }) =>
      `the thread of strategy ${showFact(strategy)} was lost: ${showFact(reason)}`,
  },
  'strategy.hung': {
    urgency: urgent,
    by: ['strategy'],
    title: ({ strategy }) => `strategy ${showFact(strategy)} blocked the last run, and is halted`,
    command: ({ strategy }) => `release strategy:${toArgument(strategy)} --reason "..."`,
  },
  'state.older': {
    urgency: urgent,
    by: [],
    title: () => 'the state is an older copy of before: nothing is traded',
    command: () => 'repair --from-exchange',
  },
  'standby.agrees': SILENT,
  'standby.differs': {
    urgency: warning,
    by: [],
    title: ({ differs, takesOver }) =>
      `a standby differs from its writer: ${showFact(differs)}${takesOver === false ? '; it takes nothing over' : ''}`,
  },
  'standby.following': SILENT,
  'standby.tookOver': {
    urgency: ({ abandoned }) => (abandoned === true ? urgent : info),
    // An urgent alert does not repeat a less urgent one.
    by: ['abandoned'],
    title: ({ abandoned }) =>
      abandoned === true
        ? 'a standby has taken over: its writer had vanished'
        : 'a standby trades now: nobody had vanished',
  },
  'standby.unable': {
    urgency: warning,
    by: [],
    title: () => 'a standby cannot follow the journal',
  },
  'strategy.failed': {
    urgency: warning,
    by: ['strategy'],
    title: ({ strategy }) => `strategy ${showFact(strategy)} fails`,
  },
  'strategy.slow': {
    urgency: warning,
    by: ['strategy', 'cause'],
    counted: true,
    title: ({ strategy, cause }) =>
      cause === 'strategy'
        ? `strategy ${showFact(strategy)} delays everything again and again`
        : `decisions of ${showFact(strategy)} come late again and again: ${cause === 'machine' ? 'the machine is busy' : 'for how long it computes is not known'}`,
  },
  'target.changed': SILENT,
  'ticker.unreadable': {
    urgency: warning,
    by: ['symbol'],
    title: ({ symbol }) => `${showFact(symbol)} has no prices: its ticker cannot be read`,
  },
  'supervisor.notNotified': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `the supervisor cannot be notified: ${showFact(reason)}`,
  },
  // A target's `trades` turns these into messages.
  'trade.closed': SILENT,
  'trade.unread': SILENT,
  'trading.halted': {
    urgency: urgencyOfMode,
    by: ['scope', 'code'],
    when: isNoLimit,
    title: ({ scope, code }) => `trading is halted for ${showScope(scope)} (${showFact(code)})`,
    command: releaseUnlessMeasured,
  },
  'trading.killed': {
    urgency: urgent,
    by: [],
    title: () => 'the kill switch is on: only cancel-alls are sent',
    command: releaseKill,
  },
  'trading.notLoosened': SILENT,
  'trading.notReleased': SILENT,
  'trading.notRestricted': SILENT,
  'trading.reducing': {
    urgency: urgencyOfMode,
    by: ['scope', 'code'],
    when: (facts) => isNoLimit(facts) && !isOwnClose(facts),
    title: ({ scope, code }) =>
      `only orders that reduce are sent for ${showScope(scope)} (${showFact(code)})`,
    command: releaseUnlessMeasured,
  },
  'trading.released': {
    urgency: info,
    by: ['scope'],
    when: (facts) => !isOwnClose(facts),
    title: ({ scope }) => `${showScope(scope)} was released`,
  },
  'trading.releaseTooOld': SILENT,
  'trading.scopeUnknown': SILENT,
  'universe.changed': SILENT,
  'universe.handedBack': {
    urgency: warning,
    by: ['strategy', 'symbol'],
    title: ({ strategy, symbol }) =>
      `nobody trades the position in ${showFact(symbol)} any more: it has left the universe of ${showFact(strategy)}`,
  },
  'universe.left': SILENT,
  'universe.keptAgain': SILENT,
  'universe.notKept': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `tickers of all instruments are not kept: ${showFact(reason)}`,
  },
  'universe.refused': {
    urgency: warning,
    by: ['strategy'],
    title: ({ strategy, missing, known }) =>
      `the universe of ${showFact(strategy)} is not evaluated: ${showFact(missing)} of ${showFact(known)} instruments are missing from the exchange's answers`,
  },
  'universe.torn': SILENT,
  'universe.notRead': {
    urgency: warning,
    by: [],
    title: ({ reason }) => `the contracts of the exchange cannot be read: ${showFact(reason)}`,
  },
}
