import { type Api, Bot, type Context, GrammyError, InlineKeyboard, InputFile } from 'grammy'
import type { Urgency } from '../../alerts/alert.ts'
import {
  type AlertLog,
  MessageSender,
  type QueuedMessage,
  type MessageRate,
} from '../../alerts/delivery/message-sender.ts'
import type { WebhookOutcome } from '../../alerts/delivery/webhook-client.ts'
import { cutText } from '../../alerts/rules/facts.ts'
import { type Power, powerOf } from '../../control/powers.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'
import { messageOf } from '../../lib/failure.ts'
import { HiddenTexts, type Secret } from '../../lib/secret.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { refuseOddAnswers } from './odd-answers.ts'
import { cleanLines } from '../../lib/text/clean-text.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { systemTimers, type Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { VerbOptions, VerbRun } from '../process/run-verb.ts'
import { toPng } from './chat-picture.ts'
import {
  type AskedOrder,
  CHAT_ORDERS,
  CHAT_QUESTIONS,
  type ChatOrder,
  type ChatQuestion,
  CONFIRM_HELP,
  readConfirmation,
} from './questions.ts'

const LOOK_MS = 20_000
/** A curve of a month has 18,000 rows. */
const DRAWN_CHARS_MAX = 4_000_000
/** A kill ends with its proof. */
const ORDER_MS = 150_000
/** Bounds questions alone; commands are always taken. */
const ANSWERED_MAX = 3
/** A reload is checked whole before it is proposed. */
const PROPOSE_MS = 120_000
const WORD_SHOWN_MAX = 40

const REASON = '--reason=asked for in the chat'
const POLL_SECONDS = 25
const CALL_SECONDS = 40

export interface ChatBotOptions {
  readonly token: Secret
  readonly apiUrl: string | undefined
  /** Their ids, and what each of them may do. */
  readonly people: ReadonlyMap<number, ReadonlySet<Power>>
  readonly configWords: readonly string[]
  readonly logger: DaemonLogger
  readonly run: (options: VerbOptions) => Promise<VerbRun>
  /** Undefined if the scope may exist, else why it does not. */
  readonly objectTo?: (scope: string) => string | undefined
  /** Called once, if Telegram does not answer the first calls of a start, which are repeated. */
  readonly onSilence?: (reason: string) => void
}

/**
 * Answers listed people by commands of this program, each in its own process, so that nothing here
 * can delay an order.
 */
export class ChatBot {
  readonly #options: ChatBotOptions
  readonly #bot: Bot
  readonly #pending = new PendingOrders(() => systemClock.monotonic())
  readonly #outbox: ChatOutbox
  #answering = 0
  #isListening = false
  readonly #strangers = new Set<number>()

  constructor(options: ChatBotOptions) {
    this.#options = options
    const { token, apiUrl } = options
    const client = { timeoutSeconds: CALL_SECONDS, ...(apiUrl && { apiRoot: apiUrl }) }
    this.#bot = new Bot(token.reveal(), { client })
    this.#bot.api.config.use(refuseOddAnswers)
    this.#outbox = new ChatOutbox({
      api: () => this.#bot.api,
      token,
      logger: options.logger,
      clock: systemClock,
      timers: systemTimers,
    })
    this.#reportSilence()
    this.#bot.use((context, next) => (this.#isKnown(context) ? next() : undefined))
    // A command that was written while the bot was off is not obeyed.
    this.#bot.on('message', (context, next) =>
      isOld(context) ? this.#send(context, 'I was not there then: say it again') : next(),
    )
    for (const question of CHAT_QUESTIONS)
      this.#bot.command(question.name, (context) => this.#detach(this.#answer(context, question)))
    for (const order of CHAT_ORDERS)
      this.#bot.command(order.name, (context, next) =>
        this.#may(context, powerOf(order.verb)) ? this.#detach(this.#ask(context, order)) : next(),
      )
    this.#bot.command('confirm', (context, next) =>
      this.#may(context, 'riskier') ? this.#detach(this.#confirm(context)) : next(),
    )
    this.#bot.on('callback_query:data', (context) => this.#detach(this.#obey(context)))
    this.#bot.on('message', (context) => this.#send(context, this.#helpFor(context)))
    this.#bot.catch(({ error }) =>
      options.logger.log('warn', 'chat.failed', { reason: messageOf(error) }),
    )
  }

  #reportSilence(): void {
    const { onSilence } = this.#options
    let isReported = onSilence === undefined
    const report = (reason: string): void => {
      if (!isReported && !this.#isListening) onSilence?.(reason)
      isReported = true
    }
    this.#bot.api.config.use(async (call, method, payload, signal) => {
      try {
        const answer = await call(method, payload, signal)
        if (!answer.ok && answer.error_code >= 500) report(answer.description)
        return answer
      } catch (error) {
        report(messageOf(error))
        throw error
      }
    })
  }

  #may({ from }: Context, power: Power): boolean {
    return this.#options.people.get(from?.id ?? 0)?.has(power) === true
  }

  /** Resolves when stopped. @throws if the token is refused, or another program polls with it */
  async start(): Promise<void> {
    const { people, logger } = this.#options
    await this.#bot.start({
      timeout: POLL_SECONDS,
      allowed_updates: ['message', 'callback_query'],
      onStart: ({ username }) => {
        this.#isListening = true
        logger.log('info', 'chat.listening', { bot: username, people: people.size })
        void this.#listCommands(this.#bot.api)
      },
    })
  }

  async stop(): Promise<void> {
    // Confirms the messages that were read, so that Telegram does not send them again. The error
    // may show the address, and so the token.
    await this.#bot.stop().catch(() => undefined)
    const lost = await this.#outbox.stop()
    if (lost > 0)
      this.#options.logger.log('warn', 'alert.dropped', { target: 'chat', alerts: lost })
  }

  /** grammY waits for each update, and an answer may take half a minute. */
  #detach(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#options.logger.log('warn', 'chat.failed', { reason: messageOf(error) }),
    )
  }

  #isKnown({ from, chat }: Context): boolean {
    if (from === undefined || chat?.type !== 'private') return false
    if (this.#options.people.has(from.id)) return true
    if (this.#strangers.size < 100 && !this.#strangers.has(from.id)) {
      this.#strangers.add(from.id)
      this.#options.logger.log('warn', 'chat.stranger', { person: from.id })
    }
    return false
  }

  async #answer(context: Context, question: ChatQuestion): Promise<void> {
    const words = question.words(wordsOf(context))
    if (words === undefined) return this.#send(context, `/${question.name}: ${question.help}`)
    if (this.#answering >= ANSWERED_MAX)
      return this.#send(context, 'I am still answering the questions before it: ask again')
    this.#answering += 1
    try {
      const asked = [question.verb, ...words]
      await (question.draw
        ? this.#show(context, question, asked)
        : this.#send(
            context,
            describeRun(await this.#run(context, asked, { withinMs: LOOK_MS }), question),
          ))
    } finally {
      this.#answering -= 1
    }
  }

  async #show(context: Context, question: ChatQuestion, words: readonly string[]): Promise<void> {
    const run = await this.#run(context, words, {
      withinMs: LOOK_MS,
      outputCharsMax: DRAWN_CHARS_MAX,
    })
    if (run.code !== 0) return this.#send(context, explainFailure(run))
    const pictures = question.draw?.(run.output) ?? []
    if (pictures.length === 0) return this.#send(context, question.describe(undefined))
    for (const { svg, caption } of pictures) {
      const picture = { name: question.name, png: await toPng(svg) }
      this.#outbox.add(context.from?.id ?? 0, { text: caption, picture })
    }
  }

  async #ask(context: Context, asked: ChatOrder): Promise<void> {
    const order = asked.read(wordsOf(context))
    const person = context.from?.id
    if (order === undefined || person === undefined)
      return this.#send(context, `/${asked.name}: ${asked.help}`)
    if ('objection' in order) return this.#send(context, order.objection)
    if (powerOf(asked.verb) === 'riskier') return this.#propose(context, asked, order)
    const objection = order.scope && this.#options.objectTo?.(order.scope)
    if (objection) return this.#send(context, objection)
    const id = this.#pending.add({ ...order, words: [asked.verb, ...order.words] }, person)
    const keyboard = new InlineKeyboard().text('Yes', `yes ${id}`).text('No', `no ${id}`)
    this.#send(
      context,
      `Really ${order.what}?${asked.verb === 'cancel' ? '' : ' It stays until you release it.'}`,
      {
        extras: { reply_markup: keyboard },
        urgency: 'urgent',
      },
    )
  }

  async #obey(context: Context): Promise<void> {
    const [answer = '', id = ''] = context.callbackQuery?.data?.split(' ') ?? []
    const person = context.from?.id ?? 0
    const order = this.#may(context, 'safer') ? this.#pending.take(id, person) : undefined
    context.answerCallbackQuery().catch(() => undefined)
    if (order === undefined)
      return this.#send(context, 'too late, or done already: nothing was done now')
    if (answer !== 'yes') return this.#send(context, 'nothing was done')
    const words = [...order.words, REASON]
    const run = await this.#run(context, words, { withinMs: ORDER_MS })
    this.#options.logger.log('warn', 'chat.obeyed', {
      person,
      command: words.join(' '),
      code: run.code ?? null,
    })
    const result = cleanLines(withoutFolders(`${run.output}${run.aside}`)).trim()
    this.#send(
      context,
      run.code === 0 ? `done: ${result}` : `exit code ${run.code ?? 'none, ended'}: ${result}`,
      { urgency: 'urgent' },
    )
  }

  /** The command knows that a chat gave it, so it only proposes, and prints the plan. */
  async #propose(
    context: Context,
    { verb }: ChatOrder,
    { words }: { readonly words: readonly string[] },
  ): Promise<void> {
    const reasoned = verb === 'reload' ? words : [...words, REASON]
    const run = await this.#run(context, [verb, ...reasoned], { withinMs: PROPOSE_MS })
    this.#send(context, describeOutcome(run))
  }

  async #confirm(context: Context): Promise<void> {
    const confirmation = readConfirmation(wordsOf(context))
    if (confirmation === undefined) return this.#send(context, `/confirm: ${CONFIRM_HELP}`)
    const { id, code } = confirmation
    const run = await this.#run(context, ['confirm', id], {
      withinMs: ORDER_MS,
      input: `${code}\n`,
    })
    const command = `confirm ${id}`
    const person = context.from?.id ?? 0
    this.#options.logger.log('warn', 'chat.obeyed', { person, command, code: run.code ?? null })
    this.#send(context, describeOutcome(run))
  }

  #run(
    { from }: Context,
    words: readonly string[],
    how: Pick<VerbOptions, 'withinMs' | 'input' | 'outputCharsMax'>,
  ): Promise<VerbRun> {
    const { run, configWords } = this.#options
    return run({ words: [...words, ...configWords], ...how, by: `telegram ${from?.id ?? 0}` })
  }

  #helpFor({ from, message }: Context): string {
    const [word = ''] = message?.text?.split(/\s/) ?? []
    const isUnknown = word.startsWith('/') && !['/start', '/help'].includes(word)
    const help = commandsFor(this.#options.people.get(from?.id ?? 0) ?? new Set())
      .map((command) => `/${command.name}  ${command.help}`)
      .join('\n')
    return isUnknown ? `not known here: ${word.slice(1, WORD_SHOWN_MAX)}\n${help}` : help
  }

  async #listCommands(api: Api): Promise<void> {
    for (const [person, powers] of this.#options.people) {
      const commands = commandsFor(powers).map(({ name, help }) => ({
        command: name,
        description: help,
      }))
      // Telegram refuses this until the person has written to the bot.
      const scope = { type: 'chat', chat_id: person } as const
      await api.setMyCommands(commands, { scope }).catch(() => undefined)
    }
  }

  #send(context: Context, text: string, { extras, urgency }: SendOptions = {}): void {
    const person = context.from?.id
    if (person !== undefined) this.#outbox.add(person, { text, extras }, urgency)
  }
}

function commandsFor(
  powers: ReadonlySet<Power>,
): readonly { readonly name: string; readonly help: string }[] {
  const orders = CHAT_ORDERS.filter(({ verb }) => powers.has(powerOf(verb)))
  const confirm = powers.has('riskier') ? [{ name: 'confirm', help: CONFIRM_HELP }] : []
  return [...CHAT_QUESTIONS, ...orders, ...confirm]
}

interface SendOptions {
  readonly extras?: Parameters<Context['reply']>[1]
  readonly urgency?: Urgency
}

const OLD_SECONDS = 120

function isOld({ message }: Context): boolean {
  return message !== undefined && systemClock.now() / 1000 - message.date > OLD_SECONDS
}

function wordsOf({ match }: Context): readonly string[] {
  return typeof match === 'string' && match.trim() !== '' ? match.trim().split(/\s+/) : []
}

function describeOutcome({ code, output, aside }: VerbRun): string {
  if (code === undefined) return 'no answer in time: ask /status what is so'
  return cleanLines(withoutFolders(`${output}${aside}`)).trim() || `exit code ${code}`
}

const SOURCE = /^(?:from (?:.*journal\.sqlite|journal record )|realised is what each strategy)/

function describeRun(run: VerbRun, question: ChatQuestion): string {
  const { code, output, aside } = run
  if (code === undefined) return explainFailure(run)
  if (run.isCut) return 'the answer is too long for a chat: ask at the command line'
  try {
    const said = cleanLines(withoutFolders(aside))
      .split('\n')
      .filter((line) => line.trim() !== '' && !SOURCE.test(line))
    const remarks = said.map((line) => `\n${line}`).join('')
    const answers = splitDocuments(output).map((one) => question.describe(parseBoundedJson(one)))
    return `${answers.join('\n\n')}${remarks}`
  } catch {
    return explainFailure(run)
  }
}

function explainFailure({ code, aside }: VerbRun): string {
  if (code === undefined) return 'no answer within 20 s'
  return cleanLines(withoutFolders(aside)).trim() || `exit code ${code}`
}

/** Folders of this machine are not told to a chat server. */
function withoutFolders(text: string): string {
  return text.replace(/(?<![\w:/.])(?:\/[^\s/:;,()]+)+\/([^\s/:;,()]+)/g, '$1')
}

/** Several accounts print a document each, with indented lines. */
function splitDocuments(output: string): readonly string[] {
  return output.split(/\n(?=[[{])/)
}

/** Telegram takes 4096 characters, and 1024 below a picture. */
const TEXT_MAX = 4000
const CAPTION_MAX = 1000
/** Telegram takes about one a second in a private chat, and short bursts. */
const RATE: MessageRate = { burst: 3, everyMs: 1100 }
const STEP_MS = 250
const LATE_MS = 60_000
/** The longest that a server without an answer delays the next message. */
const CALL_MS = 10_000
const STOP_MS = 3000

type MessageExtras = Parameters<Api['sendMessage']>[2]

interface ChatMessage extends QueuedMessage {
  readonly text: string
  readonly extras?: MessageExtras
  /** PNG, with the text below. */
  readonly picture?: { readonly name: string; readonly png: Uint8Array }
}

export interface ChatOutboxOptions {
  readonly api: () => Api
  readonly token: Secret
  readonly logger: AlertLog
  readonly clock: Pick<Clock, 'now'>
  readonly timers: Timers
}

/**
 * Sends messages as alerts are sent: one at a time, within the rate, again after a failure. Each
 * person has an own queue, because Telegram limits each chat by itself.
 */
export class ChatOutbox {
  readonly #options: ChatOutboxOptions
  readonly #hidden = new HiddenTexts()
  readonly #senders = new Map<number, MessageSender<ChatMessage>>()
  readonly #ending = new AbortController()
  #cancel: (() => void) | undefined

  constructor(options: ChatOutboxOptions) {
    this.#options = options
    this.#hidden.add(options.token)
  }

  /** @param urgency urgent for the answer to a command */
  add(
    person: number,
    message: Pick<ChatMessage, 'text' | 'extras' | 'picture'>,
    urgency: Urgency = 'info',
  ): void {
    const sender = this.#senders.get(person) ?? this.#open(person)
    sender.add({ ...message, urgency, at: this.#options.clock.now() })
    sender.advance(false)
    this.#schedule()
  }

  /** @returns the number of lost messages */
  async stop(): Promise<number> {
    this.#cancel?.()
    const cancel = this.#options.timers.after(STOP_MS, () => this.#ending.abort())
    const isOver = (): boolean => this.#ending.signal.aborted
    const lost = await Promise.all(
      [...this.#senders.values()].map((sender) => sender.drain(false, isOver)),
    )
    cancel()
    return lost.reduce((sum, one) => sum + one, 0)
  }

  #open(person: number): MessageSender<ChatMessage> {
    const { logger, clock } = this.#options
    const sender = new MessageSender<ChatMessage>({
      name: `chat ${person}`,
      rate: RATE,
      hidden: this.#hidden,
      logger,
      now: () => clock.now(),
      deliver: (message, dropped) => this.#deliver(person, message, dropped),
    })
    this.#senders.set(person, sender)
    return sender
  }

  #schedule(): void {
    if (this.#cancel !== undefined) return
    this.#cancel = this.#options.timers.after(STEP_MS, () => {
      this.#cancel = undefined
      const busy = [...this.#senders.values()].filter((sender) => !sender.isIdle)
      for (const sender of busy) sender.advance(false)
      if (busy.length > 0) this.#schedule()
    })
  }

  async #deliver(
    person: number,
    { text, extras, picture, at }: ChatMessage,
    dropped: number,
  ): Promise<WebhookOutcome> {
    const isLate = this.#options.clock.now() - at > LATE_MS
    const remarks = [
      ...(dropped > 0 ? [`lost before this one: ${dropped}, which could not be sent`] : []),
      ...(isLate ? [`late: this is from ${showUtc(at)}`] : []),
    ]
    const whole = cut([...remarks, text].join('\n'), picture ? CAPTION_MAX : TEXT_MAX)
    const api = this.#options.api()
    const ended = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(CALL_MS)])
    // grammY declares the signal of a package that is older than that of Node.
    const signal = ended as Parameters<Api['getMe']>[0]
    try {
      if (picture) {
        const file = new InputFile(picture.png, `${picture.name}.png`)
        await api.sendPhoto(person, file, { caption: whole }, signal)
      } else await api.sendMessage(person, whole, extras, signal)
      return { kind: 'answered', status: 200, text: '', retryAfterMs: undefined }
    } catch (error) {
      return toOutcome(error)
    }
  }
}

function cut(text: string, max: number): string {
  return text.length > max ? `${cutText(text, max)}\n…` : text
}

/** The error of a lost connection may show the address, and so the token: its text is left out. */
function toOutcome(error: unknown): WebhookOutcome {
  if (!(error instanceof GrammyError)) return { kind: 'failed', reason: 'the call failed' }
  const { error_code: status, description: text, parameters } = error
  const seconds = parameters.retry_after
  const retryAfterMs = seconds === undefined ? undefined : seconds * 1000
  return { kind: 'answered', status, text, retryAfterMs }
}

const VALID_MS = 60_000
const PENDING_MAX = 20
const ID_BYTES = 8

interface PendingCommand {
  readonly order: AskedOrder
  readonly person: number
  /** Monotonic ms. */
  readonly until: number
}

/** Each command can be confirmed once, within a minute, by the person that gave it. */
class PendingOrders {
  readonly #monotonic: () => number
  readonly #pending = new Map<string, PendingCommand>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  add(order: AskedOrder, person: number): string {
    const id = randomHex(ID_BYTES)
    this.#pending.set(id, { order, person, until: this.#monotonic() + VALID_MS })
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= PENDING_MAX) break
      this.#pending.delete(oldest)
    }
    return id
  }

  /** @returns undefined for another person, a second time, or too late */
  take(id: string, person: number): AskedOrder | undefined {
    const found = this.#pending.get(id)
    if (found?.person !== person) return undefined
    this.#pending.delete(id)
    return this.#monotonic() < found.until ? found.order : undefined
  }
}
