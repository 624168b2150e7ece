import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CONTROL_SOCKET } from '../../../src/assembly/state/state-place.ts'
import type { ControlAnswer, ControlRequest } from '../../../src/control/commands.ts'
import { ControlClient } from '../../../src/control/control-client.ts'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { restrictionOf, type Book } from '../../../src/engine/book/book.ts'
import { rebuildBook } from '../../../src/engine/book/book-rows.ts'
import type { JournalRecord } from '../../../src/domain/record.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { readAllRecords } from '../../crash/compare-books.ts'
import { CONFIG_FILE, STATE, writeCrashConfig } from '../../crash/crash-config.ts'
import { CrashExchange } from '../../crash/crash-exchange.ts'
import { SCENARIOS } from '../../crash/scenario.ts'
import type { IntentdProcess } from '../../daemon/intentd-process.ts'
import { Project } from '../../daemon/project.ts'
import { PLANTED, type PlantedLoss } from './planted-loss.ts'

const MODE = 'one_way_mode'
const PLANT = new URL('./plant-loss.ts', import.meta.url).href
/** In so many of ten the process is killed before the command is answered. */
const UNANSWERED_OF_TEN = 3

export interface KilledOptions {
  readonly seed: string
  /** How many processes are killed. */
  readonly kills: number
  readonly planted?: PlantedLoss
}

export interface KilledResult {
  readonly kills: number
  /** Commands that were answered as obeyed before the kill, by kind. */
  readonly obeyed: Readonly<Record<string, number>>
  readonly unanswered: number
  readonly violations: readonly string[]
}

type Order = ControlRequest['order']

/**
 * A real daemon is killed (SIGKILL) right after it has answered a command, or before. Its journal
 * then has what was answered as obeyed, and the next process answers the same request as one that
 * was carried out, and does nothing again.
 */
class KilledCommands {
  readonly #options: KilledOptions
  readonly #random: Random
  readonly #project = new Project()
  readonly #exchange: CrashExchange
  readonly #obeyed: Record<string, number> = {}
  readonly #violations: string[] = []
  #unanswered = 0
  #number = 0

  constructor(options: KilledOptions, exchange: CrashExchange) {
    this.#options = options
    this.#random = createRandom(options.seed)
    this.#exchange = exchange
    const policies = { onRestart: 'adopt', onStop: 'cancel' } as const
    writeCrashConfig(this.#project, {
      mode: MODE,
      url: exchange.url,
      size: SCENARIOS.normal.size,
      policies,
    })
    this.#project.edit(
      CONFIG_FILE,
      '{',
      '{ "manual": { "orderNotionalMax": "100000", "positionNotionalMax": "1000000" },',
    )
  }

  async run(): Promise<KilledResult> {
    let daemon = await this.#start()
    let kills = 0
    for (; kills < this.#options.kills && this.#violations.length === 0; kills++) {
      const request = this.#draw()
      const isUnanswered = this.#random.integer(10) < UNANSWERED_OF_TEN
      const answer = await this.#killAt(daemon, request, isUnanswered)
      if (answer?.isObeyed) this.#judgeHeld(request, answer)
      daemon = await this.#start()
      await this.#repeat(request, answer)
    }
    await daemon.stop('SIGKILL')
    return {
      kills,
      obeyed: this.#obeyed,
      unanswered: this.#unanswered,
      violations: this.#violations,
    }
  }

  async close(): Promise<void> {
    await this.#exchange.stop()
    this.#project.remove()
  }

  async #start(): Promise<IntentdProcess> {
    const { planted } = this.#options
    const daemon = this.#project.start(
      ['run', '-c', CONFIG_FILE],
      { ...this.#exchange.credentials, ...(planted && { [PLANTED]: planted }) },
      planted && PLANT,
    )
    const isThere = () =>
      daemon.events('daemon.running').length + daemon.events('daemon.killed').length > 0
    await daemon.until('it runs', isThere)
    return daemon
  }

  #draw(): ControlRequest {
    const pick = <Value>(values: readonly [Value, ...Value[]]): Value =>
      values[this.#random.integer(values.length)] ?? values[0]
    const scope = pick(['*', 'BTCUSDT', 'ETHUSDT', 'strategy:grid-btc'])
    const amount = String(1 + this.#random.integer(50))
    const order = pick<Order>([
      { kind: 'restrict', scope, mode: 'halted' },
      { kind: 'restrict', scope, mode: 'reducing' },
      { kind: 'release', scope },
      { kind: 'release', scope },
      { kind: 'deposit', amount },
      { kind: 'withdrawal', amount },
      { kind: 'order', symbol: 'BTCUSDT', side: 'buy', size: '0.001' },
      { kind: 'order', symbol: 'ETHUSDT', side: 'sell', size: '0.01' },
    ])
    return { requestId: `killed-${++this.#number}`, reason: 'a drill', by: 'anna', order }
  }

  async #killAt(
    daemon: IntentdProcess,
    request: ControlRequest,
    isUnanswered: boolean,
  ): Promise<ControlAnswer | undefined> {
    // Only what is held can be released.
    const { order } = request
    if (order.kind === 'release')
      await this.#send({
        ...request,
        requestId: `${request.requestId}-before`,
        order: { kind: 'restrict', scope: order.scope, mode: 'reducing' },
      })
    const sent = this.#send(request)
    if (isUnanswered) {
      setTimeout(() => daemon.kill('SIGKILL'), this.#random.integer(4))
    }
    const answer = await sent
    await daemon.stop('SIGKILL')
    if (answer === undefined) this.#unanswered += 1
    else if (answer.isObeyed) this.#obeyed[order.kind] = (this.#obeyed[order.kind] ?? 0) + 1
    return answer
  }

  /** @returns undefined where the process ended first */
  async #send(request: ControlRequest): Promise<ControlAnswer | undefined> {
    const client = new ControlClient(join(this.#project.directory, STATE, CONTROL_SOCKET))
    const reply = await client.command(request)
    await client.close()
    return reply.kind === 'answered' ? (reply.body as ControlAnswer) : undefined
  }

  #read(): { readonly book: Book; readonly records: readonly JournalRecord[] } {
    const file = join(this.#project.directory, STATE, 'journal.sqlite')
    if (!existsSync(file)) throw new Error(`no journal at ${file}`)
    const records = readAllRecords(file)
    return { book: rebuildBook({ checkpoint: undefined, records }, MODE), records }
  }

  #judgeHeld(request: ControlRequest, answer: ControlAnswer): void {
    const { book, records } = this.#read()
    if (!isHeld(request, book, records))
      this.#violations.push(
        `${JSON.stringify(request)} was answered with "${answer.text}", and the journal does not have it`,
      )
  }

  /** What a repeated request must not undo is ordered first. */
  async #repeat(request: ControlRequest, before: ControlAnswer | undefined): Promise<void> {
    const { order, requestId } = request
    const isRelease = order.kind === 'release'
    if (isRelease && before?.isObeyed) {
      const { scope } = order
      await this.#send({
        ...request,
        requestId: `${requestId}-later`,
        order: { kind: 'restrict', scope, mode: 'halted' },
      })
    }
    const again = await this.#send(request)
    const text = `${JSON.stringify(request)}, killed after ${JSON.stringify(before?.text)}, again: ${JSON.stringify(again?.text)}`
    if (again === undefined) return void this.#violations.push(`${text}: no answer`)
    if (before?.isObeyed && !again.isObeyed && again.text !== before.text)
      this.#violations.push(`${text}: it is called not obeyed`)
    const { book, records } = this.#read()
    if (isRelease && before?.isObeyed) {
      if (restrictionOf(book, order.scope, 'operator')?.mode !== 'halted')
        this.#violations.push(`${text}: a later halt was released`)
      await this.#end(request)
    }
    const times = records.filter((record) => isOf(record, requestId)).length
    if (times > 1) this.#violations.push(`${text}: it was carried out ${times} times`)
    if (again.isObeyed && (order.kind === 'deposit' || order.kind === 'withdrawal') && times === 0)
      this.#violations.push(`${text}: it was not entered`)
    if (order.kind === 'restrict') await this.#end(request)
  }

  /** Nothing is held for the next command. */
  async #end(request: ControlRequest): Promise<void> {
    const scope = 'scope' in request.order ? request.order.scope : '*'
    const order = { kind: 'release', scope, unclaimed: true } as const
    await this.#send({ ...request, requestId: `${request.requestId}-end`, order })
  }
}

function isHeld(
  { order, requestId }: ControlRequest,
  book: Book,
  records: readonly JournalRecord[],
): boolean {
  if (order.kind === 'restrict')
    return restrictionOf(book, order.scope, 'operator')?.mode === order.mode
  if (order.kind === 'release') return restrictionOf(book, order.scope, 'operator') === undefined
  return records.some((record) => isOf(record, requestId))
}

/** Money that was entered, or an order that was taken, for this request. */
function isOf(record: JournalRecord, requestId: string): boolean {
  if (record.kind === 'deposit') return record.deposit.key === requestId
  return (
    record.kind === 'decision' &&
    record.strategyId === MANUAL &&
    (record.places ?? []).some(({ key }) => key === requestId)
  )
}

export async function runKilledCommands(options: KilledOptions): Promise<KilledResult> {
  const exchange = await CrashExchange.start({
    seed: 7,
    mode: MODE,
    reading: 'replay',
    scenario: SCENARIOS.normal,
  })
  const campaign = new KilledCommands(options, exchange)
  try {
    return await campaign.run()
  } finally {
    await campaign.close()
  }
}
