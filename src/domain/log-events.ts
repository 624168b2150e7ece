/**
 * One sentence: what happened and, for a warning or an error, what to do. `npm run docs` writes
 * docs/log-events.md from it.
 */
export const LOG_EVENTS = {
  'account.held':
    "The process that held this account's lock on this machine has ended, and the lock was taken: a second daemon is kept off again.",
  'account.notHeld':
    "This daemon has no lock that keeps a second daemon off this account; start no second daemon for it. If the lock could not be made in any place for this user's state, give the service a home or XDG_STATE_HOME. If a process that was taken over from still has the lock, end the process that the reason names; the lock is taken then.",
  'account.off':
    'One of several accounts could not be opened and does not trade; the others do. Fix what the reason names, and reload.',
  'account.fresh':
    'Fills and positions are read again, and orders that add risk may leave; nothing to do.',
  'account.refused':
    'The exchange refuses the keys, they belong to another account than the state, or something in front of the exchange refuses the calls (HTTP 401 or 403); fix what the reason names. If this happens at the start, the account is off, and the run ends with exit code 78: at once if no other account trades, otherwise at its stop. If it happens later, or at the start in front of the exchange, the reads are repeated after 1, 2, 4 s and so on, every 16 s at last, and at once after any private call that is accepted.',
  'account.stale':
    'Fills, or positions, could not be read for longer than three rounds of readings: nothing that adds risk leaves, and what reduces does. `reason` says what the exchange answered; it goes on by itself as soon as a reading is accepted.',
  'alert.broken':
    'The part that sends alerts is broken, which affects nothing else; report the defect, and watch the log meanwhile.',
  'alert.dropped':
    'Alerts were not delivered to a target, because there were too many, it refused them, or it failed for too long; read the log instead, and check the target.',
  'alert.failing':
    'A target does not take alerts, and they are tried again; check what it answers. `intentd alert --test` tries it at once.',
  'alert.recovered': 'A target takes alerts again.',
  'batch.answered':
    'A batch was answered, or its answer is lost; nothing to do, because the order events say what became of each order.',
  'batch.sent':
    'A batch of orders of one instrument was handed to the connection; `batch.answered` counts those that did not leave after all.',
  'batch.wouldSend':
    'A dry run would hand a batch of orders to the connection now (fields of `batch.sent`); the exchange never sees it.',
  'call.accepted': 'The exchange did what a call on the account asked for.',
  'call.expired':
    'A call on the account was not done within its minute and was given up; check whether the strategy asks for it again.',
  'call.rejected':
    'The exchange refused a call on the account for good; read the reason and fix what the strategy asks for.',
  'call.repeated':
    'A call on the account got no answer, or must be made later, and is made again; nothing to do.',
  'call.sent': 'A call on the account that places no order was sent.',
  'call.wouldSend':
    'A dry run would make a call on the account now (fields of `call.sent`); the exchange never sees it.',
  'cancel.planned':
    'The instruments that wait for a cancel-all, in the order in which they get it.',
  'cancelAll.answered':
    'The answer to a cancel-all says what it cancelled; if it failed for some orders (`failed`), it is repeated every second, and logged as `cancelAll.failed` is. Look at the exchange if that goes on.',
  'cancelAll.failed':
    'A cancel-all was refused, or its answer is lost; it is repeated, while it is refused after up to a minute, so look at the exchange only if this goes on. After three lines there is one at growing intervals, up to ten minutes; `sinceLastLogged` says how many failures had no line.',
  'cancelAll.sent': 'A cancel-all of an instrument, or of the whole product type, was sent.',
  'cancelAll.wouldSend':
    'A dry run would send a cancel-all now (fields of `cancelAll.sent`); the exchange never sees it.',
  'capital.changed':
    '`account.capital` differs from the last run, so equity, drawdown and leverage count from other figures: `reason` says which. If money was moved, restore `was`, and enter it with `intentd deposit` or `intentd withdrawal`. A start is refused where this alone would close everything.',
  'capital.kept':
    'A standby took over with an `account.capital` (`is`) with which everything would be closed at once (`reason`). Nobody else watches the account, so it counts from that of the last run (`was`) instead. Write `was` into its configuration, and enter what was moved with `intentd deposit` or `intentd withdrawal`.',
  'chat.failed':
    'An answer of `intentd chat` did not arrive, or something in it failed; ask again. The daemon trades on beside it.',
  'chat.listening': '`intentd chat` answers the people of the list now.',
  'chat.obeyed':
    'A person in the chat has confirmed a command, and it was run: with its exit code. The journal names the person too.',
  'chat.stranger':
    'Somebody who is not on the list `chat.people` wrote to the bot, or a group did: nothing was answered. Said once for each.',
  'clock.jumped':
    "The exchange's clock moved by more than two seconds against ours; find out which of the two was set.",
  'clock.machineAgrees': "The clock of this machine agrees with the exchange's again.",
  'clock.machineApart':
    "The clock of this machine is wrong by more than five seconds, by the exchange's; requests are signed with the exchange's time, so trading goes on. Let a time daemon set the clock.",
  'clock.moved':
    "This machine's clock was set, or the machine slept; no order leaves until the clock is measured again. If this repeats, check the time daemon.",
  'clock.publicAgrees': 'Public answers tell the same time as signed ones again.',
  'clock.publicApart':
    "Public answers tell another time than signed ones; `publicMs` and `signedMs` say how far each is ahead of ours. Signed answers count, so trading goes on; find out whether a proxy or a cache on the way answers in the exchange's place.",
  'clock.slept':
    'The machine had slept, and our clock was put forward by as much; keep a trading machine from sleeping.',
  'clock.stepped':
    "The machine's clock was set, and ours did not follow; if this repeats, find out who sets it.",
  'clock.synchronised': "The exchange's clock is known again, and orders may leave.",
  'clock.unsynchronised':
    "The exchange's clock is not known for certain, so no order leaves; nothing to do unless it does not end.",
  'close.begun':
    'A person lets a share of what strategies hold be closed; until a release the scope only reduces.',
  'close.done':
    'The share is closed, and the position was read since; release the scope when its strategies may add again. What was traded by hand is released by itself.',
  'contract.changed':
    'The exchange lists an instrument with another tick, lot, minimum, status, funding interval or leverage limit than at the start before; rules that the configuration does not write are taken as they are now.',
  'contract.differs':
    'An instrument cannot be traded as the configuration says, by what the exchange lists: other rules, another status, a leverage above its limit; write what the exchange says, or take the instrument out.',
  'contracts.notRead':
    'The exchange did not say the rules of its contracts at the start; rules that the configuration leaves out are those that an earlier start has kept.',
  'contracts.read':
    'The contracts that the exchange lists were read and are kept in the state directory.',
  'control.codesLocked':
    'Five wrong one-time codes came within ten minutes, so no code counts for a while. If it was not you, someone guesses, and holds the token or writes in the chat: change both. At the machine every command works without a code.',
  'control.commanded':
    'Somebody gave the daemon a command through its control interface, and this is the result; nothing to do.',
  'control.dashboard':
    'Open this address within a minute: it shows the dashboard. `intentd dashboard` prints another one.',
  'control.failed':
    'The control interface failed to answer; trading continues. Report the defect with the reason.',
  'control.listening':
    'Where you can look at a running daemon and command it: the socket, and the port if one is configured.',
  'control.notListening':
    'The control interface cannot listen at its socket or port, or the thread of the port has ended, and the daemon runs without it. If another program has the port, free it, or set another one in control.port and reload. It is tried again every two seconds, and `control.listening` says that it listens; until then `status` shows it.',
  'control.notConfirmed':
    'A confirmation of a proposal was refused: a wrong or used code, a plan that has changed, or a proposal that is over; nothing was done.',
  'control.proposed':
    'A command that can add risk came from the port, a chat or an assistant. Nothing is done before it is confirmed with a one-time code (`intentd confirm`); without that it expires after ten minutes. If you do not know where it comes from, the token or the chat is in other hands.',
  'control.refused':
    'Somebody without the token, or a web page, made a request to the control port, or more connections were opened than there are places; if it was not you, find out who. `intentd_control_refused_total` counts all.',
  'control.tokenRenewed':
    'The file of the read-only token or of the token for assistants was damaged, so a new token was made. Copies of the old one are turned away (401): give the new one to Prometheus and whoever else has one.',
  'curve.unread':
    'The curve of the equity in the journal was not read at the start, so changes since a day and a week ago are not shown; nothing else depends on it. `intentd journal verify` says what is wrong.',
  'daemon.broken':
    'The journal could not be written, or the program is broken, and the run ends with exit code 70; read the reason, fix the disk or report the defect, and start it again.',
  'daemon.heartbeat':
    'A sign of life: whether it trades, has nothing to trade, or does not trade and why; how old its data are, and what it did since the day began. Logged at every level, as often as `log.heartbeatMs` says.',
  'daemon.killed':
    'It runs under the kill switch: it cancels, proves that nothing rests, and places nothing until a release.',
  'daemon.opened': 'State, journal and strategies are open; the exchange is read next.',
  'daemon.running':
    'Strategies are asked from now on. If instruments are still being read and proved, it says how many are done (`proved` of `instruments`), and `recovery.ended` follows.',
  'daemon.stopRequested':
    'A signal, the end of `--for` or the end of a recording asked for a stop. `waitsFor`: the run has not begun, and something has to be cancelled or closed, so it begins first.',
  'daemon.stopped':
    'The run has ended. If it is not clean, look at the exchange for orders, or start again: the next run finds out. If a stop that flattens names `stillHeld`, close that by hand.',
  'daemon.stopping': 'A stop began: strategies are not asked any more.',
  'data.fresh': 'The prices of an instrument are fresh again.',
  'data.stale':
    'The prices of an instrument have been too old to trade on for ten seconds or more; check the connection, and what the exchange says about the instrument.',
  'day.rolled':
    "The exchange's day ended: what the account has made in all runs so far (`allRuns`).",
  'deposit.entered':
    'A person has entered money that was moved to the account, or with a negative amount from it; equity and the limits that are a share of it count it from now on.',
  'deposit.refused':
    'An entry of a deposit or a withdrawal was refused, or was entered before; `why` says so.',
  'disk.enough':
    "The journal's disk has room again, and orders that open may leave; nothing to do.",
  'disk.low':
    "The journal's disk is nearly full, and only orders that reduce may leave; free disk space.",
  'disk.notMeasured':
    'The free space of the disk could not be measured, or the ballast file could not be made; check the state directory.',
  'dryRun.withheld':
    'The exact request that a dry run did not send; lines that end with `wouldSend` say the same in the log at `info`.',
  'entries.paused':
    'An exit, or a protection of `exits`, lets a strategy add nothing on an instrument for a while; it ends by itself.',
  'equity.agreed': 'Two figures of one amount agree again; nothing to do.',
  'equity.disputed':
    'Two figures of one amount differ, or one is not known: of the profit of a position (ours and the exchange’s), or of all fills (the book and a second count of them). While they differ the worse one reduces; nothing is closed for it. Compare the position with the exchange.',
  'exchange.answers':
    'Calls of the account have answers again, and what happened meanwhile is known: how many calls had none (`unanswered`), how many orders were unknown and what became of them (`found`), how many orders cancel-alls took away, how many fills were read late, and on which instruments that was proved. Strategies place again what they want; nothing to do.',
  'exchange.silent':
    'Calls of the account have had no answer of the exchange for ten seconds or more, at least two in a row: nothing came, or only errors of a server, pages in front of the exchange, or 429. Nothing is halted for it: what is unknown is found out when answers come (`exchange.answers`). Look at the connection and at what the exchange says of its state.',
  'exit.done': 'Nothing is left that an exit of a strategy would close.',
  'exit.due':
    'An exit of a strategy (`exits`) closes what it holds of an instrument, down to `kept`. While something restricts that, it waits: `intentd status` says so.',
  'exit.moved':
    'The stop-loss that the exchange keeps for a position was moved with the exits of its strategy (`exchange.beyondDocumentPrivate`).',
  'exit.notKept':
    'A take-profit or stop-loss that an order asked for does not stand at the exchange, so what was bought or sold with it is not protected: `reason` says why. (Exits belong to the position of the account, and only an order that opens sets them.) The API document has no call that sets one later: end it with an order of the other side, or order again with the level once the account holds nothing against it.',
  'exit.notKeptEnded':
    'A take-profit or stop-loss that did not stand is kept now, or what it was to protect is closed (`stands: false`).',
  'exit.notListed':
    'An order has set a stop-loss at the exchange, and for ten seconds the exchange has not listed it: below the exits of the strategy nothing may stand. Look at the position on the page of the exchange, and set a stop there if there is none. Logged once until it is listed.',
  'exit.notMoved':
    'The exchange did not move the stop-loss of a position. It stands where `intentd positions` shows it, and is tried again every 30 s; the exits of the strategy act as always. If the reason names a right of the key or a parameter, take `exchange.beyondDocumentPrivate` away. Logged once until one is moved.',
  'exit.notRead':
    'The exits that the exchange keeps could not be listed (`exchange.beyondDocumentPrivate`): they stay where they were set, and the exits of the strategy act as always. Logged once until it works again.',
  'fees.uncounted':
    'A fee was taken in a coin of which neither the tickers nor the configuration have a price: it is not counted in profit, equity and the limits on losses, and shown as not counted everywhere. Set `account.feeCoins` for this coin and restart: the fees from then on are counted. Logged for the first such fee of a coin.',
  'fill.deleveraged':
    'The exchange closed a part of a position against the liquidation of somebody else (auto-deleveraging); look at what is held, then release the instrument if it is halted.',
  'fill.delivered': 'A contract was delivered: its position is closed, as agreed.',
  'fill.exit':
    'The exchange executed a take-profit or stop-loss that it keeps for us: `kind` says which, `set` the price that was set, `clientOid` the order that set it. If strategies use such exits, set `risk.foreignFills: adopt`, or the instrument is halted. One of an order by hand halts only where it also closed what a strategy held.',
  'fill.foreign':
    'Somebody else traded the account, or the exchange itself in a way that it does not name (source SYS; `word` is what it wrote); find out who, then release the instrument if it is halted.',
  'fill.incomplete':
    'The exchange did not say the fee of a fill, or what its closing has realised, and nothing else tells: `missing` is not counted in profit, equity and the limits on losses, and shown as such. Compare with the exchange.',
  'fill.incredible':
    'The exchange states a price, a profit or a fee of a fill that cannot be (`stated`). The limit of its order is booked instead of a worse price, our own count instead of the profit; a fee is not known then. Compare with the exchange.',
  'fill.liquidated':
    'The exchange liquidated a position, or a part of it (`kind`): what was closed, at which average price, and what that came to, with the fee. Look at the account before anything is released.',
  'fill.unexplained':
    'A fill of an order that is not known here, while the outcome of an order of ours that may have made it is not known. Nothing that opens is placed on the instrument until that is found out, which happens by itself; then the fill has its order, or is foreign (`fill.foreign`). `explain SYMBOL` shows it.',
  'fill.unowned':
    'After a release, fills that match no order of ours were given to no strategy; compare the position once more.',
  'fleet.shown':
    "The journal's server again takes what this account shows in `fleet status`; nothing to do.",
  'fleet.unable':
    "The journal's server does not take what this account shows in `fleet status`; it is tried again, and trading does not need it. If another user made the schema intentd_fleet, grant this one the rights that docs/servers.md names; intentd doctor looks at them.",
  'flatten.done':
    'Nothing is held any more in a scope that is flattened, and the position was read since; release the scope when it may trade again.',
  'flatten.dropped':
    'A scope was released before its flatten was done; flatten it again if it is still to be closed. With `isOfRunBefore`, the start had not yet read the fills since the previous run: look at `status` first.',
  'flatten.left':
    'A flatten has closed what it can, and the account still holds what `stillHeld` names: lots that no strategy here holds, or that are too small for an order. Close them by hand; `flatten.done` follows then.',
  'flatten.slow':
    'A flatten is not done after 15 s; logged again each time it has taken twice as long. `status` says what holds it up; `unread` names instruments whose position was not read since the last fill, or does not agree with the fills. If it does not end, close by hand what `stillHeld` names.',
  'funding.estimated':
    'A position ended right after a payment of funding, before a reading showed it; the estimate lowers the equity by which exposure is limited, and stands in no sum. Nothing to do.',
  'funding.paid': 'The funding counter of a position changed.',
  'handover.asked':
    'Somebody asked this daemon to hand its accounts over: it stops, leaves resting orders in place, and gives the leases back; nothing to do.',
  'heartbeat.failing':
    "The monitor cannot be reached, and will raise its alarm; check the connection and the monitor's address.",
  'heartbeat.resumed': 'The monitor is called again.',
  'heartbeat.withheld':
    'The monitor is not called, so that it raises its alarm; fix what the reason names.',
  'instrument.resolved': 'What was unknown on an instrument is proved, and it may trade again.',
  'instrument.resolving':
    'An instrument does not trade until it is proved what became of its orders; nothing to do, because it is halted by itself if that takes too long.',
  'intent.denied': 'A wish did not become an order; the code says which check denied it.',
  'journal.away':
    "The journal's server cannot be reached, so no order leaves, but cancel-alls do. It is tried again as long as the lease lasts; then the run ends. Check the server and the network.",
  'journal.back': "The journal's server can be reached again; nothing to do.",
  'journal.inTime':
    'Batches are durable in time again, or none was dropped for half a minute; `batches` were dropped in `forMs`. Nothing to do.',
  'journal.late':
    'The record of a batch was durable only after `waitedMs`, and `mostMs` is the limit, so its orders were dropped. Until `journal.inTime` no order leaves, not even one that closes, but cancel-alls do. Check the journal: its server, the network to it, its standby server, or the disk.',
  'journal.migrated':
    'The journal had the layout of an earlier version, `from`, and now has `to`; it was proved before and after, and `copy` is the journal as it was. Nothing to do; delete the copy once you will not go back to the earlier version.',
  'journal.nearlyLate':
    'At the start a commit took `commitMs`, more than half of the `mostMs` after which a batch is dropped; bring the server nearer, or raise execution.acceptanceWindowMs or risk.dataAgeMaxMs, whichever sets the limit.',
  'journal.notClosed':
    'The journal could not be closed in good order; check the disk. The next start verifies the journal.',
  'journal.notPacked':
    'Old records are not as they were written, so they and all later ones stay unpacked; trading does not depend on them. `explain` is refused from there on until age removes them; check the disk.',
  'journal.notReplicated':
    'A commit on PostgreSQL waits for only one server, so the journal is lost if its disk is lost; name a standby server in synchronous_standby_names there.',
  'journal.notSynchronised':
    "A commit on PostgreSQL does not wait for its server's disk, so a power cut there can lose or damage the journal; set fsync to on there.",
  'journal.opened':
    'The journal on PostgreSQL is open and its lease is taken; the commit for that took `commitMs`. `abandoned`: another machine had the lease and did not give it back, so what the book says about resting orders is not trusted.',
  'history.differs':
    'Candles that the exchange keeps differ from those that were seen here: ours stay. If more than a tenth of those that can be compared differ, none of the missing ones is taken either, and none at a first start where the newest lies a quarter away from the price; find out whether the prices are those of another exchange, or of a recording.',
  'history.ends':
    '`history:` of a strategy ends before the present, and its candles since then are missing or flat; bring the files up to date, or let them be fetched (`exchange.beyondDocument: true`).',
  'history.fetched':
    'Closed candles that a strategy needs, and that were not seen here, were read from the exchange; nothing to do.',
  'history.notFetched':
    'Closed candles that strategies need could not be read from the exchange: the strategies wait until they have seen as many, as they would without `exchange.beyondDocument`, and everything else goes on. Nothing to do, unless the reason names something that can be fixed; a restart asks again.',
  'kill.clean':
    'It is proved that nothing of ours rests; release the kill switch when it may trade again.',
  'kill.notThrown':
    'A release named no scope, and there is no kill to release; name the scope that you want to release.',
  'kill.notWrittenDown':
    'The kill works, but its progress could not be written for `intentd kill`; check the disk and follow the log.',
  'kill.phase': 'A kill entered its next phase.',
  'kill.releasePending':
    'The release of the kill switch waits until it is proved that nothing rests; nothing to do.',
  'kill.releaseTooOld':
    'A release of the kill switch had waited, and the kill that stands was thrown after it: it ended nothing. If this kill is to end too, release it again.',
  'kill.releaseDropped':
    'A new kill was ordered while the release of the previous one waited; that release is void. Nothing to do.',
  'kill.released': 'The kill switch was released, and strategies are asked again; nothing to do.',
  'kill.unproved':
    'A kill takes longer than it should, or only instruments of which nothing can be proved are left (`unproved`); look at the exchange and do what `hint` says. The same is logged again after growing times, up to 16 minutes; `times` counts it.',
  'limits.coolingDown':
    'Two endpoints answered 429, so reads pause for a while; if this repeats, find out what else calls from this address.',
  'lease.lost':
    'The right to write the journal on PostgreSQL is lost, so nothing is signed or written any more and the run ends; check the server, the network between, and whether a standby has taken over.',
  'limits.alone':
    "Redis gives no shares of this address's limits. After some seconds the daemon uses at most its even share, and makes no call of the limits in `without`, which are too small for an even share; check the reason, the server and exchange.shared.",
  'limits.refused':
    'No call leaves, not even a cancel, until Redis grants a share, because more daemons share the address than exchange.shared.members, or their settings differ; stop one, or give all of them the same, larger number.',
  'limits.shared': 'The limits of this address are shared with other daemons; nothing to do.',
  'limits.coolDown':
    'A release came before the cool-down of a drawdown was over, and changed nothing; repeat it when the cool-down is over.',
  'limits.ended': 'What was beyond its limit just now is within it again; nothing to do.',
  'limits.notReleased':
    'A release of a drawdown was refused, because its last step would close everything again at once, or because its figures are not known (`why`). At once: the scope is at `to`, `below` under its peak of `from`. Release it above `closesBelow`, or with `--new-peak`, which counts every step from the level of now.',
  'limits.off':
    'Limits that the configuration does not set, and that therefore restrict nothing, and what the steps before a liquidation lack to do more than warn: those that the account lacks, and how many its instruments and strategies lack. `intentd check` lists all.',
  'limits.reached':
    'A limit was reached and restricts the scope from now on. Unless the restriction ends by itself, look at what was traded before you release the scope.',
  'liquidation.near':
    'A position is nearer to its liquidation than the first step of risk.liquidation: make it smaller, or put more margin behind it.',
  'liquidation.judgedAlone':
    'For ten minutes the exchange has stated another price of a liquidation than our own count: from now on ours alone takes the steps of risk.liquidation. Compare both (`intentd positions`): if money was moved to or from the account, enter it (`intentd deposit`, `intentd withdrawal`); else correct instruments.SYMBOL.maintenance, or ask the exchange.',
  'worstCase.near':
    'A move of risk.survives would take 80 % of the equity or more, with all that rests filled: hold less, cancel what rests, or put more capital behind it.',
  'position.reducing':
    'The daemon closes a part of a position, because a limit of the account says so; look at `reason`, and whether positions are too large for the capital.',
  'limits.warned':
    'The equity or profit of a scope has fallen from its peak by the first step of its drawdown limit; look at it.',
  'margin.liquidated':
    'The exchange liquidated something of the margin account: an order that it placed, or coins that it converted. Contracts and their limits are not touched; look at the margin account.',
  'margin.notRead':
    'Margin orders and liquidations could not be read; they are read again at the next turn, and nothing else waits for it. Look at the reason if it stays: keys without the right to read the margin account, or a pair in `polling.margin.symbols` that has no margin trading.',
  'margin.order':
    'An order rests in the margin account (`polling.margin`), with its `source`; one that the exchange itself placed (`isBySystem`) usually belongs to a liquidation: look at the account.',
  'margin.read': 'Margin orders and liquidations are read again.',
  'operator.unreadable':
    'A file in the command inbox is not a command and was put aside; give the command again.',
  'order.accepted': 'The exchange accepted an order.',
  'order.clockRefused':
    'The exchange refused the time that the order was signed with; the order is sent again with another time. If this goes on, the clocks of exchange and answers disagree: read `clock.publicApart` and the status.',
  'order.displacedLate':
    'A wanted order that a cancel-all took away does not rest again in time; `denials` names what is denied on the instrument now.',
  'order.dropped': 'A waiting order was no longer wanted and was not sent.',
  'order.nameUnknown':
    'A cancel-all listed orders with names like those of intentd that this state has not given: another intentd with a state of its own trades the account, or this state is a very old copy. Compare the account with the exchange; two daemons on one account are not safe.',
  'order.ended':
    'An order ended: it was filled or cancelled, or it is proved that it was never at the exchange.',
  'order.exists':
    'The exchange already knows an order of that name, because an earlier copy arrived; nothing to do.',
  'order.fill': 'An order of ours was filled, in whole or in part.',
  'order.fillAttributed': 'The order of fills that had waited for one is known now.',
  'order.found': 'The orderId of an order became known through its fills.',
  'order.missing':
    'The price went through a resting order, but no fill of it came, so the instrument is resolved; nothing to do.',
  'order.notSent':
    'Not a byte of an order was sent; it waits, and is sent again as long as it is wanted. Nothing to do.',
  'order.queuedAgain':
    'An order is proved absent and still wanted, so it is sent again under its own name.',
  'order.rejected':
    'The exchange rejected an order; read code and message. The wish waits longer after each rejection in a row.',
  'order.sent':
    'An order was handed to the connection in a batch; `order.notSent` follows if it did not leave after all.',
  'order.wouldSend':
    'A dry run would send an order with its batch now (fields of `order.sent`); the exchange never sees it.',
  'order.unknown':
    'It is not known whether the exchange accepted an order; nothing to do, because its instrument is resolved.',
  'orders.refused':
    'The exchange refuses orders of a strategy for a cause that only a person or the exchange ends, or goes on refusing them. The reason names the setting that it contradicts, or what to look at; change it, and reload. Until then one such order tries again at most once a minute; what reduces, every five seconds.',
  'orders.refusedNoMore':
    'The exchange accepts such orders of a strategy again, or nothing has asked for one for long; nothing to do.',
  'orders.restored': 'Every order that a cancel-all took away rests again, or is no longer wanted.',
  'orders.unconfirmed':
    "The exchange closed something by itself and may have cancelled orders without notice, so what rests is resolved; check the account's margin.",
  'plots.ended':
    'An instrument has left its strategy, whose plots on it end here. What is kept of them makes room for others once 64 are kept.',
  'plots.full':
    'A strategy plots more than is kept: 64 plots in all, so this one and others are left out of the dashboard. Plot fewer names, or on fewer instruments. Logged once until plots have ended.',
  'poll.failed': 'A poll of the market or of a feed threw; report the defect.',
  'log.linesMissing':
    'Nobody read the log for a while (a terminal held with Ctrl-S, a program behind a pipe that stands still), and so many lines were left out. Trading went on.',
  'limits.peakMoved':
    'A drawdown was released: its steps count from `to` and no longer from `from`, which is `below` higher; `limits` says at which level each is reached now. The last step, which flattens, goes on from its peak, unless `--new-peak` was given.',
  'manual.cancelled': 'A person withdrew orders that were placed by name.',
  'manual.ordered':
    'A person has ordered a trade, and every check let it pass; batch.sent follows when it leaves.',
  'manual.refused':
    'A command by hand was not carried out; `why` says which limit or state stood against it.',
  'loop.stoodStill':
    'The process did nothing for several seconds: somebody had stopped it, it got no processor, or its own code kept it busy. Prices and readings were old then, so nothing was sent on them. If it repeats, look at what else runs on the machine, and at the limits of its container.',
  'loop.hung':
    'Either the event loop stood still, and the process ends by SIGABRT (134 in a shell), with the strategy whose code ran; or another loop, which is named, did not come back, and the run ends with 79. The supervisor starts it again, and it recovers.',
  'position.adopted':
    "The exchange's position is not what the fills explain, and was adopted; find out who traded, give what no strategy holds to one or flatten it, then release the instrument.",
  'position.assigned':
    'A strategy takes over what no strategy held of an instrument: an operator said so (`adopt`), or a flatten closes it this way. `beyondLimit` says so where the strategy holds more than its `risk.positionMax` with it: then it can only reduce.',
  'position.leverageChanged':
    'Two readings of a position say another leverage than before, and the configuration says none; if nobody meant it, set it back at the exchange, and set instruments.SYMBOL.leverage, so that nothing is added under another.',
  'position.notAssigned':
    'A position was to be handed to a strategy, and was not; `why` says what is in the way.',
  'position.unattended':
    'A position is held that no strategy trades: its strategy was removed, disabled or no longer lists the instrument, the instrument is no longer configured, or others opened it. `why` says what to do: put the strategy back and flatten it, hand it to a strategy with `adopt`, flatten the instrument, or close it by hand.',
  'position.unexplained':
    "The exchange's position is not what the fills explain. It is not confirmed yet: it is read again at once, and adopted if it says the same for ten seconds.",
  'quote.changed': 'A strategy wants another ladder.',
  'readings.late':
    'Fills or positions have been several times older than polling asks for ten seconds: the exchange answers slowly, or calls wait for long. Orders leave as long as readings are not older than three rounds. Look at the connection, and at `intentd_request_seconds` and `intentd_limit_waited_seconds` in /metrics.',
  'readings.prompt': 'Readings come as often as polling asks again; nothing to do.',
  'read.failed':
    'A read of tickers, fills, a position or a feed failed; if it does not end, look at the exchange.',
  'read.resumed': 'A read that had failed succeeds again.',
  'recording.ended': 'The recording of the run ended early; check the disk. Trading continues.',
  'recording.lost':
    'The disk is too slow, and steps are missing from the recording; check the disk. Trading continues.',
  'recording.resumed': 'The recording continues after a gap; nothing to do.',
  'recording.started': 'A file of the recording of this run began.',
  'recording.startsAgain':
    'The recorded prices had been played to their end, so they start again with a new account.',
  'recovery.ended': 'The last instrument was read and proved: all instruments trade.',
  'recovery.progress':
    'How far a long start is: how many instruments trade, and how many are still being read, resolved or checked.',
  'recovery.started': 'A run began, with the orders and positions that the journal knows.',
  'retreat.cancelled':
    'The journal or the program broke, and the resting orders of an instrument were cancelled; `daemon.broken` says what to fix.',
  'retreat.ended':
    'The run ends without its journal or its core; `daemon.broken` says what to fix. If it is not proved that nothing rests, look at the exchange.',
  'retreat.failed':
    'The journal or the program broke, and a cancel-all failed as well; look at the exchange and cancel by hand what rests there.',
  'retreat.found':
    'The previous run may have cancelled orders without a record, because it broke, was killed while commits took their time, or was left behind by another machine. So resting orders are cancelled once, even if `onRestart` says adopt; nothing to do.',
  'retreat.notNoted':
    'No note could be left for the next run, so it cancels nothing unless `onRestart` says cancel; look at the exchange.',
  'reload.begun':
    'A changed configuration is being taken: the daemon comes to rest, and continues with it.',
  'reload.failed':
    'The daemon could not be opened with the changed configuration and continues with the previous one; read the reason and fix it.',
  'reload.refused':
    'A changed configuration was not taken, and nothing has changed; fix what the problems name, or restart if only a new process can take it.',
  'rows.readable':
    'A row of fills or of a position that could not be read came no more, or could be read, in two whole readings in a row; what came meanwhile was read too, and its instrument is traded again.',
  'rows.unreadable':
    'A row of fills or of a position is not as the document describes; its instrument is halted until two readings in a row are whole. If that lasts, compare the answers with the document.',
  'run.summary':
    'How the run went: a short form of what `--summary` prints. `thisRun` is what this run has made, `allRuns` what all runs in the journal have: `net` is realised profit less fees, with funding, `netWithUnrealised` the same with what is held at the end.',
  'server.inClear':
    'A server on another machine is asked without TLS, because withoutTls says so: whoever is on the way reads its password, and may change leases and orders to kill. Give the server a certificate, and name it with sslmode=verify-full or rediss:.',
  'signal.limited':
    'More signals come than are taken: of one signal more than its perMinute, without a secret more than sixty a minute, or too many connections. They are refused before anything of them is read, and delay nothing; find out who sends them. One line a minute; `sinceLastLogged` counts.',
  'signal.outdated':
    'A signal came after one of its name that was sent later, by their `timeField`: a retry, or one that was delayed on its way. It was not shown, and its sender was told so.',
  'signal.refused':
    'A signal was not taken, and its sender was told why: no secret or another one, fields that are not as configured, or an account that does not take any now. `signal` is none where no secret was shown. Correct the sender; if nobody of yours sends, close the tunnel. One line a minute; `sinceLastLogged` counts.',
  'signal.repeated':
    'A signal came that was taken already: it has an id, or contents, of one of a moment ago. It was not shown again, and its sender was told so.',
  'signal.taken':
    'A signal was taken, and is shown to the strategies that read it until it expires.',
  'signals.failed': 'Taking signals failed for a defect; trading goes on. Report it.',
  'signals.listening':
    'Signals are taken at this address, and by `reach` it is seen from this machine alone or from others too.',
  'signals.notListening':
    'Signals cannot be taken, because the port is not to be had or its thread has ended; the daemon trades without them. If another program has the port, free it, or set another one in signals.port and reload. It is tried again every two seconds.',
  'simulator.faultInjected': 'The simulator caused a fault on purpose.',
  'simulator.handlerFailed': 'The simulator failed on a request; report the defect.',
  'prices.back': 'The exchange whose prices are followed shows them again.',
  'prices.missing':
    'The exchange whose prices are followed does not answer, so prices stand still and get old, and nothing is placed on old ones; check the address and the connection.',
  'prices.slow':
    'The prices of a recording come further apart (`everyMs`) than they may be old (`dataAgeMaxMs`): in between nobody decides, and orders are denied as DATA_STALE; do what `advice` says.',
  'simulator.opened':
    'The exchange inside the daemon is open. At a speed other than 1 it is a demonstration, without funding, and its profit means nothing. Instruments in `madeUp` have no file: their prices follow the seed.',
  'simulator.otherAccount':
    'Instruments, balance or another setting of the simulator have changed, so another simulated account begins, without orders and positions. `changed` names the settings. The previous one is in `before`, and continues if you restore them.',
  'simulator.listening':
    'The simulator listens. Instruments in `madeUp` have no file: their prices follow the seed.',
  'simulator.marketFailed':
    'The recorded prices could not be played and stand still; check the recording.',
  'simulator.requestRefused': 'The simulator refused a request.',
  'simulator.serverFailed': "The simulator's server failed; report the defect.",
  'simulator.stopped':
    'The simulator stopped; the counts say what it was asked and what it refused.',
  'simulator.settingsKept':
    'The state keeps what these settings said at its first start, and does not obey what they say now; set them as they were, or start with another state file.',
  'simulator.volumesCut':
    'Rows of a recording have a volume or a size of more than `lotsMax` lots of their instrument, and are played with so many; check the unit of the file and the lotSize.',
  'stop.phase': 'A stop entered its next phase.',
  'strategy.strayed':
    'Code of a strategy that does not run here failed outside of any call: it belongs to a file that a reload has checked. Nothing else is affected; fix it before it runs.',
  'strategy.threadLost':
    'The thread of a strategy was ended, or ended by itself. The strategy is not asked for a while, and then starts again from its last state; if this repeats, fix it.',
  'strategy.hung':
    'Code of a strategy held the previous run up until the process was ended, or ran on after its thread was ended; the strategy is halted. Fix it, restart, and release it.',
  'state.older':
    'The exchange knows orders of ours that this state has never sent, so it is an older copy, put back after the account had traded on. What rests was cancelled, and no run begins on it. Put the newest state back; where it is lost, run `intentd repair --from-exchange`.',
  'standby.agrees':
    'A standby has the settings and the strategy code of its writer again; nothing to do.',
  'standby.differs':
    'A standby would trade with other settings or other strategy code than its writer: `differs` names the parts. Install the same on both machines and restart the standby (or reload the writer). With `takesOver: false` it takes nothing over until then (journal.onDifference: refuse).',
  'standby.following':
    'A standby follows the journal of the writer that it names, and is ready to take over.',
  'standby.tookOver':
    'A standby has taken the lease and starts as any start does: it first finds out what is at the exchange, then trades. With `abandoned: true`, the writer named in `from` had vanished: find out what became of it. Otherwise the writer gave the lease back, or was started here before, or nobody had traded yet: nothing to do.',
  'standby.unable':
    'A standby cannot follow the journal just now, and tries again; check the PostgreSQL server and the network between.',
  'strategy.failed':
    'A strategy threw an error or returned something invalid; fix it. After ten failures in a row it is halted until it is released.',
  'strategy.said': 'A strategy wrote a line for people, with `log.info`.',
  'strategy.slow':
    'A decision of a strategy took more than 50 ms and held up everything else. `cause` says what to do: `strategy`: it computed for so long (`cpuMs`), make it faster; `machine`: it computed for less and had to wait, because the machine is busy or the decision waits for something; `unknown`: only the elapsed time is known, since this Node does not measure CPU time of threads (Node 24 does).',
  'supervisor.notNotified':
    'systemd, or the health check of a container, could not be notified, and ends the daemon if that lasts; install systemd-notify, or fix what the reason names.',
  'target.changed': 'A strategy wants another position.',
  'ticker.unreadable':
    'The ticker of an instrument is not as the document describes, so the instrument has no prices; others continue. Check what the exchange says about it.',
  'trade.closed':
    'A trade of a strategy is over: its entry, exit and result. Logged where a target of alerts asks for trades.',
  'trade.unread':
    'The journal was not read for closed trades, so no message tells them; `intentd trades` shows them.',
  'trading.halted':
    'For the scope, nothing leaves but cancel-alls and the orders of a flatten, and open orders that may add risk are cancelled; do what `ends` says, then release the scope.',
  'trading.killed':
    'Nothing leaves but cancel-alls; wait for `kill.clean`, then release the kill switch.',
  'trading.notLoosened':
    'A new restriction would have been looser than the one on its scope, so the old one stays; release the scope first.',
  'trading.notReleased':
    'A release was refused, because a strategy would order again what the account holds already and no strategy holds: `orderedAgain` says what, by instrument. Hand it over (`intentd adopt SYMBOL --to ID`) or close it (`intentd flatten SYMBOL`), then release; or release with `--unclaimed`.',
  'trading.notRestricted':
    'A release named a scope that is not restricted; name one of those in `restricted`.',
  'trading.reducing':
    'For the scope, only orders that reduce leave, and open orders that may add risk are cancelled; do what `ends` says, then release the scope.',
  'trading.released':
    'An operator released a scope, or a restriction of it ended by itself (`code`); nothing to do.',
  'trading.releaseTooOld':
    'A release of a scope was given before this daemon was started, and had waited: it ended nothing. Look at what restricts the scope now; if that is to end, release it again.',
  'trading.scopeUnknown':
    'A restriction or a flatten named a scope that is not configured, and has no effect; name one of those in `scopes`. What `stillHeld` lists belongs to strategies that are no longer configured: put them back and flatten them, or close it by hand.',
  'universe.changed':
    'The rule of a strategy was evaluated, and instruments join or leave; each is named with the reason. `intentd universe` shows all.',
  'universe.handedBack':
    'An instrument has left the universe of a strategy that still holds something of it, and nobody reads it any more: close it at the exchange, or list the instrument.',
  'universe.left':
    'An instrument has left the universe of a strategy, and nothing of it is open or held any more.',
  'universe.keptAgain': 'The tickers of all instruments are kept again (`recordUniverse`).',
  'universe.notKept':
    'The tickers of all instruments could not be kept (`recordUniverse`): those minutes are missing in later backtests. The daemon trades all the same. Look at the reason: the room on the disk, or another process that keeps tickers in the same directory. Logged once until it works again.',
  'universe.notRead':
    'The contracts of the exchange could not be read, so rules of universes use those of before, or wait; they are read again.',
  'universe.refused':
    'Most of the instruments that the last evaluation of a rule saw (`missing` of `known`) are missing from what the exchange answers, so it is not evaluated: members stay. It is tried again every minute, and evaluated all the same if this lasts for an hour. Logged once until it is evaluated.',
  'universe.torn':
    'A run that was killed had left half an answer in the kept tickers; it is left out.',
} as const satisfies Record<string, string>

export type LogEvent = keyof typeof LOG_EVENTS
