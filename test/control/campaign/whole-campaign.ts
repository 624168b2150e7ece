import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { agentSocketOf, CONTROL_SOCKET } from '../../../src/assembly/state/state-place.ts'
import { ChatBot } from '../../../src/cli/chat/chat-bot.ts'
import { AgentListener, createAgentServers } from '../../../src/cli/mcp/agent-server.ts'
import type { VerbOptions, VerbRun } from '../../../src/cli/process/run-verb.ts'
import { OneTimeCodes } from '../../../src/control/approval/one-time-codes.ts'
import { ControlClient } from '../../../src/control/control-client.ts'
import type { Power } from '../../../src/control/powers.ts'
import { READ_ROUTES } from '../../../src/control/routes.ts'
import { DaemonControl } from '../../../src/daemon/control/daemon-control.ts'
import { holdingOf } from '../../../src/engine/book/book.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { LoggedFact } from '../../../src/logging/logger.ts'
import { FakeTelegram } from '../../cli/chat/fake-telegram.ts'
import { TOTP_SECRET } from '../../support/approval/memory-pairing.ts'
import { ExposureWatch, readExposure } from './exposure-watch.ts'
import { HostileWords } from './hostile-words.ts'
import { InProcessVerbs } from './in-process-verbs.ts'
import { type Confirming, KnownProposals } from './known-proposals.ts'
import { OrderWatch } from './order-watch.ts'
import { SecretWatch } from './secret-watch.ts'
import { BOT_TOKEN, SECRET_VARIABLES, SIGNAL_SECRET, WholeDaemon } from './whole-daemon.ts'

/** Telegram lets a chat have one message a second, so many people ask in turn. */
const PEOPLE = Array.from({ length: 20 }, (_, index) => 100 + index)
const STRANGER = 999
const POWERS: readonly Power[] = ['look', 'research', 'safer', 'riskier']
const FILES_SEARCHED_EVERY = 20_000
const START_AT = 1_800_000_000_000

/** Errors that the campaign must notice. */
export type PlantedError =
  /** A command that is run for an assistant or a chat passes for the operator's own. */
  | 'forgetsMiddleman'
  /** Every code is right. */
  | 'anyCode'
  /** A code counts for each proposal. */
  | 'codeTwice'
  /** An answer shows the token that commands the daemon. */
  | 'tokenInAnswer'
  /** A line of the log shows the secret of a signal. */
  | 'secretInLog'

export interface CampaignOptions {
  readonly seed: string
  readonly acts: number
  readonly planted?: PlantedError
  readonly onProgress?: (done: number, found: number) => void
}

export interface CampaignResult {
  readonly acts: number
  /** By the way in. */
  readonly byWay: Readonly<Record<string, number>>
  /** Commands that an assistant or a chat has run. */
  readonly commands: number
  readonly proposed: number
  /** Risk added with a code, by kind. */
  readonly raised: Readonly<Record<string, number>>
  readonly ordersSent: number
  readonly textsSearched: number
  readonly records: number
  readonly steps: number
  readonly violations: readonly string[]
  readonly leaks: readonly string[]
}

/**
 * Whatever a whole daemon is asked by its port, by assistants, in the chat and by signals. Its time
 * is the machine's; that of proposals and codes is moved by each act.
 */
class WholeCampaign {
  readonly #options: CampaignOptions
  readonly #words: HostileWords
  readonly #verbs = new InProcessVerbs()
  readonly #telegram = new FakeTelegram(BOT_TOKEN)
  readonly #byWay: Record<string, number> = {}
  readonly #early: LoggedFact[] = []
  #now = START_AT
  #daemon!: WholeDaemon
  #exposure!: ExposureWatch
  #orders!: OrderWatch
  #secrets!: SecretWatch
  #proposals!: KnownProposals
  #socket!: ControlClient
  #bot!: ChatBot
  #botEnds!: Promise<void>
  #listener!: AgentListener
  #stdio!: Client
  #http!: Client
  /** The last code that a person typed, where others could read it. */
  #seen: string | undefined
  #found = { records: 0, steps: 0 }
  #nextPerson = 0

  constructor(options: CampaignOptions) {
    this.#options = options
    this.#words = new HostileWords(createRandom(options.seed))
  }

  async run(): Promise<CampaignResult> {
    const { acts, planted, onProgress } = this.#options
    let done = 0
    while (done < acts) {
      this.#pass()
      const what = await this.#act()
      await this.#daemon.settle()
      this.#exposure.check(what)
      done += 1
      if (done % FILES_SEARCHED_EVERY === 0) this.#searchFiles()
      if (done % 1000 === 0)
        onProgress?.(done, this.#violations.length + this.#secrets.leaks.length)
      if (planted !== undefined && this.#violations.length + this.#secrets.leaks.length > 0) break
    }
    if (planted === undefined) await this.#compare()
    return {
      acts: done,
      byWay: this.#byWay,
      commands: this.#verbs.runs,
      proposed: this.#proposals.proposed,
      raised: Object.fromEntries(this.#exposure.raised),
      ordersSent: this.#orders.sent,
      textsSearched: this.#secrets.searched,
      ...this.#found,
      violations: this.#violations,
      leaks: this.#secrets.leaks,
    }
  }

  get #violations(): readonly string[] {
    return [...this.#exposure.violations, ...this.#orders.violations]
  }

  async open(): Promise<void> {
    const { planted } = this.#options
    this.#telegram.start(STRANGER)
    const chatUrl = await this.#telegram.listen()
    this.#daemon = new WholeDaemon({
      people: PEOPLE,
      chatUrl,
      codesClock: { now: () => this.#now, monotonic: () => this.#now },
      onFact: (fact) => this.#hear(fact),
    })
    const { directory, state, file } = this.#daemon
    process.chdir(directory)
    const own = { HOME: directory, XDG_STATE_HOME: directory }
    Object.assign(process.env, SECRET_VARIABLES, own)
    await this.#daemon.start()
    this.#watch()
    if (planted !== undefined) this.#plant(planted)
    this.#socket = new ControlClient(join(state, CONTROL_SOCKET))
    this.#bot = new ChatBot({
      token: new Secret(BOT_TOKEN),
      apiUrl: chatUrl,
      people: new Map(PEOPLE.map((person) => [person, new Set(POWERS)])),
      configWords: [`--config=${file}`],
      logger: {
        log: (_level: string, event: string, fields: object) =>
          this.#secrets.search(event, JSON.stringify(fields)),
      } as never,
      run: (options) => this.#runVerb(options),
    })
    this.#botEnds = this.#bot.start()
    await this.#serveAgents()
  }

  async close(): Promise<void> {
    await this.#bot.stop()
    await this.#botEnds
    await Promise.all([this.#stdio.close(), this.#http.close()])
    await this.#listener.stop()
    await this.#socket.close()
    await this.#daemon.close()
    await this.#telegram.close()
  }

  #watch(): void {
    const daemon = this.#daemon
    const read = () => readExposure(daemon.shown, daemon.run)
    this.#exposure = new ExposureWatch(read)
    this.#orders = new OrderWatch({
      held: () => daemon.shown.book.restrictions.values(),
      netOf: (strategy, symbol) => {
        const { book } = daemon.shown
        const { longLots, shortLots } = holdingOf(book, strategy, symbol)
        return (longLots - shortLots) * Number(book.grids.get(symbol)?.lot)
      },
    })
    this.#secrets = new SecretWatch([
      ...Object.values(SECRET_VARIABLES),
      ...Object.values(daemon.tokens),
      TOTP_SECRET,
    ])
    this.#proposals = new KnownProposals({ now: () => this.#now, exposure: read })
    for (const fact of this.#early.splice(0)) this.#hear(fact)
  }

  #hear(fact: LoggedFact): void {
    // The tokens are known once the daemon listens.
    if (this.#secrets === undefined) return void this.#early.push(fact)
    this.#secrets.search(fact.event, JSON.stringify(fact.fields))
    this.#orders.hear(fact)
    this.#exposure.hear(fact)
    this.#proposals.hear(fact)
  }

  async #serveAgents(): Promise<void> {
    const { file, shown, url, tokens } = this.#daemon
    const served = {
      version: '0',
      config: { file, set: [] },
      powers: new Set(POWERS),
      run: (options: VerbOptions) => this.#runVerb(options),
    }
    this.#listener = new AgentListener(
      agentSocketOf(shown.config),
      createAgentServers({ ...served, by: 'agent mcp at the port' }),
    )
    await this.#listener.start()
    const [own, other] = InMemoryTransport.createLinkedPair()
    await createAgentServers({ ...served, by: 'agent mcp' })().connect(other)
    this.#stdio = new Client({ name: 'assistant', version: '1' })
    await this.#stdio.connect(own)
    this.#http = await connectAgain(
      () =>
        new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${tokens.agent}` } },
          // The port is another one after a reload.
          fetch: (to, init) => fetch(String(to).replace(url, this.#daemon.url), init),
        }),
    )
  }

  #plant(planted: PlantedError): void {
    switch (planted) {
      case 'forgetsMiddleman':
        this.#verbs.forgetsMiddleman = true
        return
      case 'anyCode':
        return replace(OneTimeCodes.prototype, 'use', () => ({ kind: 'right', counter: 1 }))
      case 'codeTwice': {
        const use = Reflect.get(OneTimeCodes.prototype, 'use')
        return replace(OneTimeCodes.prototype, 'use', function (this: OneTimeCodes, code) {
          const verdict = use.call(this, code)
          return verdict.kind === 'used' ? { kind: 'right', counter: 1 } : verdict
        })
      }
      case 'tokenInAnswer': {
        const { full } = this.#daemon.tokens
        const events = { ...this.#daemon.shown.config, name: full }
        return replace(DaemonControl.prototype, 'denials', () => events as never)
      }
      case 'secretInLog':
        return replace(DaemonControl.prototype, 'planCommand', () => {
          throw new Error(`cannot plan with ${SIGNAL_SECRET}`)
        })
    }
  }

  /** Time of the codes passes, files change, and now and then the operator restricts. */
  #pass(): void {
    const words = this.#words
    this.#now += words.chance(0.9)
      ? 2000
      : words.chance(0.95)
        ? 40_000
        : words.chance(0.8)
          ? 700_000
          : 90_000_000
    if (words.chance(0.001)) this.#daemon.loosen()
  }

  #act(): Promise<string> {
    const words = this.#words
    const ways: readonly (readonly [share: number, way: string, act: () => Promise<string>])[] = [
      [0.5, 'port', () => this.#askPort()],
      [0.1, 'person', () => this.#confirmAsPerson()],
      [0.2, 'assistant', () => this.#callTool()],
      [0.05, 'hostile assistant', () => this.#runAsAssistant()],
      [0.1, 'chat', () => this.#writeInChat()],
      [0.05, 'signal', () => this.#sendSignal()],
    ]
    const [, way, act] = words.pick(
      ways.flatMap((one) => Array.from({ length: Math.round(one[0] * 100) }, () => one)),
    )
    this.#byWay[way] = (this.#byWay[way] ?? 0) + 1
    return act()
  }

  /** If the daemon takes the code, by its own file, that gives a right to what was proposed. */
  async #confirming(confirming: Confirming, act: () => Promise<unknown>): Promise<void> {
    const grant = this.#proposals.grantOf(confirming)
    const before = this.#daemon.usedCounter
    await act()
    if (this.#daemon.usedCounter === before) return
    if (grant) this.#exposure.grant(grant)
    this.#proposals.noteTaken(confirming)
  }

  async #askPort(): Promise<string> {
    const words = this.#words
    const { full, read, agent } = this.#daemon.tokens
    const token = words.pick([full, full, full, full, read, agent, 'guessed', ''])
    if (words.chance(0.25)) return this.#readPort(token)
    if (words.chance(0.15)) return this.#confirmAtPort(token, this.#code())
    const path = words.pick(['/v1/commands', '/v1/commands', '/v1/commands', '/v1/proposals'])
    if (words.chance(0.1)) {
      const odd = words.pick([path, '/v1/addresses', '/v1/session', '/v1/confirmations', '/mcp'])
      await this.#post(odd, token, words.oddBody())
      return `port, odd: ${odd}`
    }
    const order = words.order()
    const requestId = words.requestId()
    if (order.kind === 'order' && order.reduceOnly === true) this.#exposure.noteClosing(requestId)
    const request = { requestId, reason: words.reason(), by: 'someone', order }
    await this.#post(path, token, request)
    return `port ${path} ${JSON.stringify(order)}`
  }

  async #readPort(token: string): Promise<string> {
    const { path } = this.#words.pick(READ_ROUTES.filter(({ path: one }) => one !== '/v1/reload'))
    const asked = this.#words.pick([
      path,
      `${path}?symbol=BTCUSDT`,
      `${path}?subject=BTCUSDT`,
      '/v1/proposals',
      '/metrics',
      '/readyz?verbose',
      '/openapi.json',
      '/../control.token',
    ])
    await this.#fetch(`${this.#daemon.url}${asked}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return `port ${asked}`
  }

  #post(path: string, token: string, body: unknown) {
    return this.#fetch(`${this.#daemon.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async #fetch(to: string, init: RequestInit): Promise<{ status: number; text: string }> {
    try {
      const answer = await fetch(to, init)
      const text = await answer.text()
      this.#secrets.search(to, `${text}${JSON.stringify([...answer.headers])}`)
      return { status: answer.status, text }
    } catch {
      // A refusal may close the connection.
      return { status: 0, text: '' }
    }
  }

  /** A person at the machine, with the authenticator: the one whose codes are right. */
  async #confirmAsPerson(): Promise<string> {
    const id = this.#proposals.ids.at(-1)
    if (id === undefined || this.#words.chance(0.2)) return 'nothing'
    const code = this.#proposals.codeNear(0)
    this.#seen = code
    await this.#confirming({ id, code, mayConfirm: true }, async () => {
      const reply = await this.#socket.confirm({ id, code, by: 'anna' })
      const text = JSON.stringify(reply)
      this.#secrets.search('socket', text)
      this.#searchForCode(code, text)
    })
    // An onlooker enters it again, for something else.
    if (this.#words.chance(0.5)) await this.#confirmAtPort(this.#daemon.tokens.full, code)
    return `person confirms ${id}`
  }

  async #confirmAtPort(token: string, code: string): Promise<string> {
    const id = this.#id()
    await this.#confirming(
      { id, code, mayConfirm: token === this.#daemon.tokens.full },
      async () => {
        const { text } = await this.#post('/v1/confirmations', token, { id, code, by: 'someone' })
        this.#searchForCode(code, text)
      },
    )
    return `port confirms ${id}`
  }

  async #callTool(): Promise<string> {
    const { name, args } = this.#words.tool(this.#exposure.isKilled)
    const way = this.#words.chance(0.03) ? this.#http : this.#stdio
    try {
      const answer = await way.callTool(
        { name, arguments: { ...args } },
        { timeout: 600_000, onprogress: () => undefined },
      )
      this.#secrets.search(`tool ${name}`, JSON.stringify(answer))
    } catch (error) {
      this.#secrets.search(`tool ${name}`, String(error))
    }
    return `tool ${name} ${JSON.stringify(args)}`
  }

  /** It has found how to run commands by itself, as far as its environment is still its server's. */
  async #runAsAssistant(): Promise<string> {
    const [id, code] = [this.#id(), this.#code()]
    const words = [...this.#words.words(id), `--config=${this.#daemon.file}`]
    const by = 'agent mcp'
    await this.#confirming({ id, code, mayConfirm: false }, () =>
      this.#runVerb({ words, by, input: `${code}\n`, withinMs: 0 }),
    )
    return `hostile assistant: ${words.join(' ')}`
  }

  async #writeInChat(): Promise<string> {
    const words = this.#words
    const [id, code] = [this.#id(), this.#code()]
    const text = words.message(id, code, this.#exposure.isKilled)
    if (words.chance(0.1)) {
      this.#telegram.say(STRANGER, text)
      return 'a stranger in the chat'
    }
    const person = PEOPLE[this.#nextPerson++ % PEOPLE.length] ?? 0
    const isConfirming = text === `/confirm ${id} ${code}`
    const ask = async (): Promise<void> => {
      const said = await this.#say(() => this.#telegram.say(person, text))
      if (isConfirming) this.#searchForCode(code, said.text)
      const [yes, no] = said.buttons
      if (yes && no) {
        const data = words.pick([yes.data, yes.data, yes.data, no.data, 'yes 00', 'yes'])
        const who = words.chance(0.9) ? person : (PEOPLE[(person + 1) % PEOPLE.length] ?? 0)
        await this.#say(() => this.#telegram.press(who, data))
      }
    }
    await this.#confirming({ id, code, mayConfirm: isConfirming }, ask)
    return `chat: ${text}`
  }

  async #say(write: () => void) {
    const before = this.#telegram.sent.length
    write()
    const said = await this.#telegram.untilSent(before + 1)
    this.#secrets.search('chat', said.text)
    return said
  }

  async #sendSignal(): Promise<string> {
    const words = this.#words
    const secret = words.pick([SIGNAL_SECRET, SIGNAL_SECRET, 'guessed', ''])
    const note = words.pick(['x', 'release the kill', `${'n'.repeat(300)}`])
    const body = words.pick<unknown>([
      { action: 'long', key: secret },
      { action: 'flat', key: secret, note },
      { action: secret, key: secret },
      { action: 'long', key: secret, more: secret },
      { [secret]: 1, key: secret },
      `{"key":"${secret}"`,
    ])
    const name = words.pick(['tv', 'tv', 'other', '../v1/commands'])
    await this.#fetch(`${this.#daemon.signalsUrl}/signals/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return `signal ${name}`
  }

  async #runVerb(options: VerbOptions): Promise<VerbRun> {
    const run = await this.#verbs.run(options)
    this.#secrets.search(String(options.words[0]), `${run.output}${run.aside}`)
    return run
  }

  #id(): string {
    const ids = this.#proposals.ids
    return this.#words.chance(0.9)
      ? (this.#words.pick(ids.length > 0 ? ids.slice(-4) : ['abcdef']) ?? 'abcdef')
      : 'abcdef'
  }

  /** What an adversary may try; often a person has been talked into telling a code. */
  #code(): string {
    const words = this.#words
    if (words.chance(0.01)) return words.guess()
    if (words.chance(0.3) && this.#seen !== undefined) return this.#seen
    return this.#proposals.codeNear(words.pick([-1, 0, 1]))
  }

  #searchForCode(code: string, text: string): void {
    if (this.#proposals.ids.includes(code) || !/^\d{6}$/.test(code)) return
    if (new RegExp(`(?<![\\w.])${code}(?![\\w.])`).test(text))
      this.#secrets.leaks.push(`the code ${code} in ${text}`)
  }

  #searchFiles(): void {
    this.#found = this.#secrets.searchFiles(this.#daemon.directory)
  }

  /** At the end the account holds what the fills say, and nothing rests. */
  async #compare(): Promise<void> {
    const { held, stated, rests } = await this.#daemon.stop()
    if (!isDeepStrictEqual(held, stated) || rests > 0)
      this.#orders.violations.push(
        `the book holds ${JSON.stringify(held)}, the exchange ${JSON.stringify(stated)}, and ${rests} orders rest`,
      )
    this.#searchFiles()
  }
}

const CONNECTS_MAX = 20

/** The daemon gives up on a server that is slow to take a connection, as all is on a busy machine. */
async function connectAgain(create: () => StreamableHTTPClientTransport): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    const client = new Client({ name: 'assistant', version: '1' })
    try {
      await client.connect(create())
      return client
    } catch (error) {
      if (attempt >= CONNECTS_MAX) throw error
    }
  }
}

const planted: (() => void)[] = []

function replace<Class extends object, Name extends keyof Class>(
  prototype: Class,
  name: Name,
  value: Class[Name],
): void {
  const before = prototype[name]
  planted.push(() => (prototype[name] = before))
  prototype[name] = value
}

/** Working folder and environment are the process's, and are put back. */
export async function runWholeCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const [directory, variables] = [process.cwd(), { ...process.env }]
  const campaign = new WholeCampaign(options)
  try {
    await campaign.open()
    return await campaign.run()
  } finally {
    for (const restore of planted.splice(0)) restore()
    await campaign.close()
    process.chdir(directory)
    for (const name of Object.keys(process.env))
      if (variables[name] === undefined) delete process.env[name]
    Object.assign(process.env, variables)
  }
}
