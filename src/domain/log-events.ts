/**
 * Every event that the log can hold, and one sentence: what happened, and for a warning or an error what the
 * operator does. `npm run docs` makes docs/log-events.md of it, with the levels and the fields.
 */
export const LOG_EVENTS = {
  'account.held':
    'The one that was passed over on this machine has ended, and its lock on the account was taken: a second daemon is kept off again.',
  'account.notHeld':
    'The lock that keeps a second daemon off this account could not be made in any place for state of its user, or one that was passed over still has it; start no second daemon for the account. The first is put right by giving the service a home or XDG_STATE_HOME; the second by ending the process that the reason names, after which the lock is taken.',
  'account.off':
    'An account among several could not be opened and does not trade, the others do; put right what the reason names, and reload.',
  'account.refused':
    'The exchange refuses the keys, or they are those of another account than the state; put right what the reason names. At the start the account is off, and the run ends with exit code 78, at once where no other account trades; later reads are asked again once a minute.',
  'alert.broken':
    'The part that sends alerts is broken, which harms nothing else; report the defect, and watch the log meanwhile.',
  'alert.dropped':
    'Alerts were not delivered to a target: there were too many, it refused them, or it failed for too long; read the log instead, and look at the target.',
  'alert.failing':
    'A target does not take alerts, and is tried again; look at what it answers, `intentd alert --test` tries it at once.',
  'alert.recovered': 'A target takes alerts again.',
  'batch.answered':
    'A batch was answered, or its answer is lost; nothing to do, the order events say what became of each order.',
  'batch.sent':
    'A batch of orders of one instrument was handed to the connection; `batch.answered` counts those that did not leave after all.',
  'call.accepted': 'The exchange did what a call on the account asked for.',
  'call.expired':
    'A call on the account was not done within its minute and is given up; look whether the strategy asks for it again.',
  'call.rejected':
    'The exchange refused a call on the account for good; read the reason and mend what the strategy asks for.',
  'call.repeated':
    'A call on the account was not answered, or is to be made later, and is made again; nothing to do.',
  'call.sent': 'A call on the account that places no order left.',
  'cancel.planned': 'The instruments that wait for a cancel-all, in the order in which they get it.',
  'cancelAll.answered':
    'A cancel-all was answered with what it cancelled; where orders failed it is repeated, nothing to do.',
  'cancelAll.failed':
    'A cancel-all was refused or its answer is lost; it is repeated, so look at the exchange only when this goes on.',
  'cancelAll.sent': 'A cancel-all of an instrument, or of the whole product type, left.',
  'clock.jumped':
    "The exchange's clock moved by more than two seconds against ours; find out which of the two was set.",
  'clock.moved':
    "This machine's clock was set, or the machine slept; no order leaves until it is measured again, so look at the time daemon when this repeats.",
  'clock.slept':
    'The machine had slept, and our clock was put forward by as much; keep a trading machine from sleeping.',
  'clock.stepped':
    "The machine's clock had been set and ours did not follow; look who sets it when this repeats.",
  'clock.synchronised': "The exchange's clock is known again, and orders may leave.",
  'clock.unsynchronised':
    "The exchange's clock is not known for certain and no order leaves; nothing to do unless it does not end.",
  'control.commanded':
    'Somebody commanded the daemon by its control interface; nothing to do, it says what came of it.',
  'control.dashboard':
    'Open this address within a minute: it shows the dashboard. `intentd dashboard` prints another one.',
  'control.failed':
    'The control interface failed to answer; trading goes on, so report the defect with the reason.',
  'control.listening':
    'Where a running daemon is looked at and commanded: the socket, and the port if one is named.',
  'control.notListening':
    'The socket or the port of the control interface cannot be listened at, and the daemon goes on without; free the port or name another in control.port.',
  'control.refused':
    'Somebody without the token, or a web page, asked the control port; find out who when it was not you.',
  'daemon.broken':
    'The journal could not be written, or the program is broken, and the run ends with exit code 70; read the reason, mend the disk or report the defect, and let it start again.',
  'daemon.heartbeat':
    'It goes on: whether it trades, has nothing to trade, or does not trade and why; how old its data are, and what it did since the day rolled. Logged at every level, as often as `log.heartbeatMs` says.',
  'daemon.killed':
    'It runs under the kill switch: it cancels, proves that nothing rests, and creates nothing until a release.',
  'daemon.opened': 'State, journal and strategies are open, and the exchange is asked next.',
  'daemon.running':
    'Strategies are asked from now on; where instruments are still being read and proved, it says how many are (`proved` of `instruments`), and `recovery.ended` follows.',
  'daemon.stopRequested': 'A signal, the end of `--for` or the end of a recording asked for a stop.',
  'daemon.stopped':
    'The run came to rest; where it is not clean, look at the exchange for orders, or start again: the next run finds out.',
  'daemon.stopping': 'A stop began: no strategy is asked any more.',
  'data.fresh': 'The prices of an instrument are fresh again.',
  'data.stale':
    'The prices of an instrument have been too old to trade on for ten seconds or more; look at the connection, and at what the exchange says of the instrument.',
  'day.rolled': "The exchange's day ended: what the account has made in this run so far.",
  'disk.enough': 'The disk of the journal has room again, and orders that open may leave; nothing to do.',
  'disk.low': 'The disk of the journal is nearly full and only orders that reduce may leave; make room.',
  'disk.notMeasured':
    'The room on the disk could not be measured, or the ballast file could not be made; look at the state directory.',
  'dryRun.withheld':
    'A dry run would have sent this now, and did not: the events of the batch are as live, and the exchange never saw it.',
  'fill.foreign':
    'The account was traded by somebody else, or by the exchange itself; find out who, then release the instrument where it is halted.',
  'fill.unexplained':
    'A fill of an order that is not known here, made through the API: by hand or by another program, or of an order whose answer is late. Not confirmed yet; where no order of ours claims it within the acceptance window the instrument is halted.',
  'fill.unowned':
    'After a release, fills that fit no order of ours were given to nobody; compare the position once more.',
  'fleet.shown':
    "What this account shows to all who look at the journal's server is taken there again; nothing to do.",
  'fleet.unable':
    "The journal's server does not take what this account shows to all who look there, and is asked again; trading does not need it. Look at the schema intentd_fleet, and at the rights of this user.",
  'flatten.done':
    'The strategies hold nothing any more in a scope that is flattened; close by hand what the account still holds, and release the scope when it may trade again.',
  'flatten.dropped':
    'A scope was released before its flatten was done; flatten it again where it is to be closed after all. With `isOfRunBefore` the start had not read yet what was filled since: look at `status` first.',
  'flatten.slow':
    'A flatten is not done after 15 s, and then each time it took twice as long: `status` says what holds it up; where it does not end, close by hand what `stillHeld` names.',
  'funding.paid': 'The funding counter of a position moved.',
  'handover.asked':
    'Somebody wants this daemon to hand its accounts over: it stops, leaves what rests, and gives the leases back; nothing to do.',
  'heartbeat.failing':
    'The monitor cannot be reached, and will raise its alarm; look at the connection and at its address.',
  'heartbeat.resumed': 'The monitor is called again.',
  'heartbeat.withheld': 'The monitor is not called, so that it raises its alarm; mend what the reason names.',
  'instrument.resolved': 'What was in question on an instrument is proved, and it may trade again.',
  'instrument.resolving':
    'An instrument is closed until it is proved what became of its orders; nothing to do, it halts by itself when that takes too long.',
  'intent.denied': 'A wish did not become an order; the code says which check denied it.',
  'journal.away':
    "The journal's server cannot be reached, so no order leaves, while cancel-alls do; it is tried again for as long as the lease lasts, and then the run ends. Look at the server and the way there.",
  'journal.back': "The journal's server is reached again; nothing to do.",
  'journal.inTime':
    'Batches are durable in time again, or none was dropped for half a minute; `batches` were dropped in `forMs`. Nothing to do.',
  'journal.late':
    'The record of a batch was durable after `waitedMs`, `mostMs` was the most, so its orders were dropped; until `journal.inTime` no order leaves, those that close neither, while cancel-alls do. Look at the journal: its server, the way there, its standby server, or the disk.',
  'journal.nearlyLate':
    'At the start a commit took `commitMs`, more than half of the `mostMs` after which a batch is dropped; bring the server nearer, or raise execution.acceptanceWindowMs or risk.dataAgeMaxMs, whichever the limit comes of.',
  'journal.notClosed':
    'The journal could not be closed in good order; look at the disk, the next start verifies it.',
  'journal.notPacked':
    'Old records are not as they were written, so they and the ones behind them stay unpacked; trading does not depend on them. `explain` is refused from there on until they are dropped with age; look at the disk.',
  'journal.notReplicated':
    'A commit on PostgreSQL waits for one server alone, and what it has is lost with its disk; name a standby server in synchronous_standby_names there.',
  'journal.notSynchronised':
    'A commit on PostgreSQL does not wait for the disk of its server, so a power cut there can lose or damage the journal; set fsync to on there.',
  'journal.opened':
    'The journal on PostgreSQL is open, and its lease taken, which took a commit of `commitMs`. `abandoned`: another machine had it and did not give it back, so nothing is believed of what rests.',
  'kill.clean': 'It is proved that nothing of ours rests; release the kill switch when it may trade again.',
  'kill.notThrown': 'A release named no scope, and no kill stands; name the scope that is to be released.',
  'kill.notWrittenDown':
    'The kill works, but how far it is could not be written for `intentd kill`; look at the disk and follow the log.',
  'kill.phase': 'A kill entered its next phase.',
  'kill.releasePending':
    'The release of the kill switch waits until it is proved that nothing rests; nothing to do.',
  'kill.releaseDropped':
    'A kill was ordered while a release of the one before it waited; the release is over, nothing to do.',
  'kill.released': 'The kill switch was released, and strategies are asked again; nothing to do.',
  'kill.unproved':
    'A kill takes longer than it should; look at the exchange and cancel by hand what rests there.',
  'limits.coolingDown':
    'Two endpoints answered 429, and reads rest for a while; find out what else calls from this address when this repeats.',
  'lease.lost':
    'The right to write the journal on PostgreSQL is lost, so nothing is signed or written any more and the run ends; look at the server and the network between, and whether a standby has taken over.',
  'limits.alone':
    'Shares of the limits of this address cannot be had from Redis, so an even share is used at most, after some seconds, and no call is made of the limits in `without`, which are too small for one; look at the reason, the server and exchange.shared.',
  'limits.refused':
    'No call leaves, not even a cancel, until Redis grants a share: more daemons share the address than exchange.shared.members, or they do not agree on it; stop one, or raise it in all of them.',
  'limits.shared': 'The limits of this address are shared with other daemons; nothing to do.',
  'limits.coolDown':
    'A release came before the cool-down of a drawdown was over and changed nothing; release it again when it is.',
  'limits.ended': 'What was beyond its limit just now is within it again; nothing to do.',
  'limits.off': 'Limits that the configuration does not set, and that hold nothing back.',
  'limits.reached':
    'A limit was reached and holds the scope from now on; look at what was traded before the scope is released, where it does not end by itself.',
  'limits.warned': 'A scope has fallen from its peak by the first step of its drawdown limit; look at it.',
  'operator.unreadable':
    'A file in the command inbox is no command and was set aside; give the command again.',
  'order.accepted': 'The exchange accepted an order.',
  'order.displacedLate':
    'A wanted order that a cancel-all took away does not rest again in time; read the denials beside it.',
  'order.dropped': 'A waiting order was not wanted any more and did not leave.',
  'order.ended': 'An order ended: filled, cancelled, or proved never to have been there.',
  'order.exists':
    'The exchange knows an order of that name already, so an earlier copy arrived; nothing to do.',
  'order.fill': 'An order of ours was filled, in whole or in part.',
  'order.fillAttributed': 'Fills that had waited for their order found it.',
  'order.found': 'The orderId of an order became known by its fills.',
  'order.missing':
    'The market went through a resting order and no fill of it came, so the instrument is resolved; nothing to do.',
  'order.notSent':
    'Not a byte of an order left; it waits and is sent again while it is wanted, nothing to do.',
  'order.queuedAgain': 'An order is proved absent and still wanted, and leaves again under its own name.',
  'order.rejected':
    'The exchange rejected an order; read code and message, the wish waits longer after each rejection in a row.',
  'order.sent':
    'An order was handed to the connection in a batch; `order.notSent` follows where it did not leave after all.',
  'order.unknown':
    'It is not known whether the exchange accepted an order; nothing to do, its instrument is resolved.',
  'orders.restored': 'Every order that a cancel-all had taken along rests again, or is not wanted any more.',
  'orders.unconfirmed':
    'The exchange closed something by itself and may have cancelled without a word, so what rests is resolved; look at the margin of the account.',
  'poll.failed': 'A poll of the market or of a feed threw; report the defect.',
  'loop.hung':
    'The event loop stood still, and the process ends by SIGABRT (134 in a shell), with the strategy whose code ran; or one of the other loops did not come back, which it names, and the run ends with 79. The supervisor starts it again and it recovers.',
  'position.adopted':
    "The exchange's position is not what the fills explain, and was taken over; find out who traded, then release the instrument.",
  'position.unattended':
    'Something is held that nobody here trades: its strategy was removed, disabled or does not list the instrument any more, or the instrument is not configured any more; put it back and flatten it, or close it by hand.',
  'position.unexplained':
    "The exchange's position is not what the fills explain. Not confirmed yet: it is read again at once, and taken over when it says the same.",
  'quote.changed': 'A strategy wants another ladder.',
  'read.failed':
    'A read of tickers, fills, a position or a feed failed; look at the exchange when it does not end.',
  'read.resumed': 'A read that had failed succeeds again.',
  'recount.differs':
    'The book and a second count of its fills differ; seen twice in a row, the account is held reducing. Compare the account with the journal.',
  'recording.ended': 'The recording of the run ended early; look at the disk, trading goes on.',
  'recording.lost':
    'The disk does not keep up and steps are missing from the recording; look at the disk, trading goes on.',
  'recording.resumed': 'The recording goes on after a gap; nothing to do.',
  'recording.started': 'A file of the recording of this run began.',
  'recording.startsAgain':
    'Recorded prices were played to their end before, so they start again with a fresh account.',
  'recovery.ended': 'The last instrument was read and proved: all are traded.',
  'recovery.progress':
    'How far a start is that takes long: how many instruments are traded, and how many are still read, resolved or checked.',
  'recovery.started': 'A run began, with what the journal says that stands.',
  'retreat.cancelled':
    'The journal or the program broke, and what rested on an instrument was cancelled; `daemon.broken` says what to mend.',
  'retreat.ended':
    'The run ends without its journal or its core; `daemon.broken` says what to mend, and where it is unproved look at the exchange for what rests.',
  'retreat.failed':
    'The journal or the program broke, and a cancel-all failed as well; look at the exchange and cancel by hand what rests there.',
  'retreat.found':
    'The run before may have cancelled orders without a record: it broke, or was killed while commits took their time, or another machine has left the account behind. So what rests is cancelled once, also where `onRestart` says adopt; nothing to do.',
  'retreat.notNoted':
    'No note could be left for the next run, so nothing is cancelled unless `onRestart` says cancel; look at the exchange.',
  'reload.begun': 'A changed configuration is taken: the daemon comes to rest, and goes on with it.',
  'reload.failed':
    'The daemon could not be opened with the changed configuration and goes on with the one before; read the reason and mend it.',
  'reload.refused':
    'A changed configuration was not taken and nothing has changed; mend what the problems name, or restart where only a new process takes it.',
  'run.summary': 'How the run went: what `--summary` prints, in short.',
  'simulator.faultInjected': 'The simulator misbehaved on purpose.',
  'simulator.handlerFailed': 'The simulator broke on a request; report the defect.',
  'prices.back': 'The exchange whose prices are followed shows them again.',
  'prices.missing':
    'The exchange whose prices are followed does not answer: prices stand still and grow old, and nothing is placed on old ones; check the address and the connection.',
  'simulator.opened':
    'The exchange inside the daemon is open; at another speed than 1 it is a demonstration, without funding, whose profit means nothing.',
  'simulator.otherAccount':
    'Instruments, balance or another setting of the simulator are not what they were, so another simulated account begins, without orders and positions; that of before stands in `before`, and goes on when they are as they were.',
  'simulator.listening': 'The simulator listens.',
  'simulator.marketFailed': 'The prices could not be played and stand still; look at the recording.',
  'simulator.requestRefused': 'The simulator refused a request.',
  'simulator.serverFailed': "The simulator's server broke; report the defect.",
  'simulator.stopped': 'The simulator stopped, with what it was asked and refused.',
  'stop.phase': 'A stop entered its next phase.',
  'strategy.strayed':
    'Code of a strategy that does not run here failed where nobody waited for it: of a file that a reload has looked at. Nothing else is concerned; mend it before it runs.',
  'strategy.threadLost':
    'The thread of a strategy was ended or has ended by itself; the strategy is not asked for a while and begins anew from what it remembered: mend it when this repeats.',
  'strategy.hung':
    'Code of a strategy held the last run up until it was ended, or ran on after its thread was; the strategy is halted: mend it, restart, and release it.',
  'standby.following':
    'A standby follows the journal of the writer that it names, and is ready to take over.',
  'standby.tookOver':
    'A standby has taken the lease and starts as any start does: it finds out, then trades. With `abandoned: true` the writer that it names in `from` had vanished: look at what became of it. Else that one gave the lease back or was started here before, or nobody had traded yet: nothing to do.',
  'standby.unable':
    'A standby cannot follow the journal just now, and tries again; look at the PostgreSQL server and the network between.',
  'strategy.failed':
    'A strategy threw or answered nonsense; mend it, ten times in a row halt it until it is released.',
  'strategy.said': 'A strategy wrote a line for people, by `log.info`.',
  'strategy.slow':
    'A decision of a strategy took more than 50 ms and held up everything else; make it faster.',
  'supervisor.notNotified':
    'systemd or the health check of a container could not be notified, and ends the daemon when that lasts; install systemd-notify, or see what the reason names.',
  'target.changed': 'A strategy wants another position.',
  'ticker.unreadable':
    'The ticker of an instrument is not as the document describes, so it has no prices; look at what the exchange says of it, others go on.',
  'trading.halted':
    'Nothing leaves for the scope but cancel-alls and the orders of a flatten; do what `ends` says, then release the scope.',
  'trading.killed': 'Nothing leaves but cancel-alls; wait for `kill.clean`, then release the kill switch.',
  'trading.notLoosened':
    'A restriction would have loosened the one that holds its scope, which stays; release the scope first.',
  'trading.notRestricted': 'A release named a scope that nothing holds; name one of those in `restricted`.',
  'trading.reducing':
    'Only orders that reduce leave for the scope; do what `ends` says, then release the scope.',
  'trading.released': 'An operator released a scope; nothing to do.',
  'trading.scopeUnknown':
    'A restriction or a flatten named a scope that is not configured, and holds nothing; name one of those in `scopes`. What `stillHeld` lists is of strategies that are not configured any more: put them back and flatten them, or close it by hand.',
} as const satisfies Record<string, string>

export type LogEvent = keyof typeof LOG_EVENTS
