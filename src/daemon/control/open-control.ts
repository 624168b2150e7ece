import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { AnsweredRequests, type AnswerStore } from '../../control/answered-requests.ts'
import type { Controlled } from '../../control/controlled.ts'
import type { StatusView } from '../../control/views.ts'
import { ControlServer } from '../../control/control-server.ts'
import { agentPowers } from '../../control/powers.ts'
import { THREAD } from '../../control/front/listening-thread.ts'
import { openTokens, type TokenFiles } from '../../control/access/token-file.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import {
  agentSocketOf,
  agentTokenFileOf,
  CONTROL_SOCKET,
} from '../../assembly/state/state-place.ts'
import { nameHolder } from '../../assembly/state/taken-port.ts'
import { DaemonControl, type DaemonControlOptions } from './daemon-control.ts'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { OneTimeCodes } from '../../control/approval/one-time-codes.ts'
import { createPairingFile } from '../../control/approval/pairing-file.ts'
import { type ProposalNews, Proposals } from '../../control/approval/proposals.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { controlAnswerSchema } from '../../control/commands.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const TOKEN_FILE = 'control.token'
const READ_TOKEN_FILE = 'control.read.token'
const REFUSED_LOGGED_EVERY_MS = 60_000
const LOOK_EVERY_MS = 2000

export interface OpenControlOptions extends Omit<
  DaemonControlOptions,
  'isReadOnly' | 'closedPort'
> {
  readonly config: Pick<DaemonConfig, 'control' | 'state'>
  readonly directory: string
  readonly pairingFile: string
  readonly logger: DaemonLogger
  /**
   * For proposals and one-time codes. Default: the machine's, even with an accelerated simulation,
   * because an authenticator goes by the time of day.
   */
  readonly codesClock?: Clock | undefined
}

export function tokenFilesOf(config: OpenControlOptions['config']): TokenFiles {
  const { control, state } = config
  const named = [control.tokenFile, control.readTokenFile].filter((file) => file !== undefined)
  return {
    named,
    full: control.tokenFile ?? join(state.directory, TOKEN_FILE),
    read: control.readTokenFile ?? join(state.directory, READ_TOKEN_FILE),
    ...(control.agents.http && { agent: agentTokenFileOf(config) }),
  }
}

export interface OpenedControl {
  start(): Promise<void>
  stop(): Promise<void>
}

export function openControl(options: OpenControlOptions): OpenedControl {
  const isReadOnly = options.config.control.readOnly
  return serveControl(
    (closedPort) => new DaemonControl({ ...options, isReadOnly, closedPort }),
    options,
  )
}

export type ServeOptions = Pick<
  OpenControlOptions,
  'config' | 'directory' | 'pairingFile' | 'logger' | 'codesClock' | 'version' | 'clock' | 'timers'
>

type ServedControl = Controlled & { start?(): void; stop?(): void }

export function serveControl(
  create: (closedPort: () => StatusView['closedPort']) => ServedControl,
  options: ServeOptions,
): OpenedControl {
  const { config, directory, logger, version } = options
  const { port, host, readOnly } = config.control
  const files = tokenFilesOf(config)
  const tokens = port === undefined ? undefined : openTokens(files, createRenewalLog(logger))
  for (const token of [tokens?.full, tokens?.read, tokens?.agent]) if (token) logger.hide(token)
  const socket = join(directory, CONTROL_SOCKET)
  let unreachable: StatusView['closedPort']
  const control = create(() => (server.baseUrl === undefined ? unreachable : undefined))
  const server: ControlServer = new ControlServer({
    daemon: control,
    version,
    readOnly,
    socket,
    answered: new AnsweredRequests({
      store: createAnswerFile(directory, (reason) =>
        logger.log('error', 'control.failed', { reason }),
      ),
    }),
    proposals: openProposals(control, options),
    agents: config.control.agents.http
      ? { socket: agentSocketOf(config), powers: [...agentPowers(config.control, 'port')] }
      : undefined,
    monotonic: () => options.clock.monotonic(),
    port: port === undefined || tokens === undefined ? undefined : { host, number: port, tokens },
    onRefused: createRefusalLog(options),
    onBroken: (reason) => logger.log('error', 'control.failed', { reason }),
    onUnreachable: (address, cause) => {
      const reason = address === socket ? cause : nameHolder(cause, port)
      if (address !== socket) unreachable = { address, reason, since: options.clock.now() }
      logger.log('warn', 'control.notListening', {
        address,
        reason,
        advice:
          address === socket || cause.startsWith(THREAD)
            ? 'it is tried again every two seconds'
            : 'end what has the port, or set another control.port (0 takes any free one) and run `intentd reload`',
      })
    },
  })
  const announce = () => announceListening(server, { logger, files, socket })
  const lookAgain = async (): Promise<void> => {
    const before = server.baseUrl
    await server.look()
    if (before === undefined && server.baseUrl !== undefined) announce()
  }
  let cancelLook: (() => void) | undefined
  const look = (): void => {
    cancelLook = options.timers.after(
      LOOK_EVERY_MS,
      () => void lookAgain().finally(() => cancelLook && look()),
    )
  }
  return {
    async start() {
      control.start?.()
      await server.start()
      look()
      announce()
    },
    async stop() {
      control.stop?.()
      cancelLook?.()
      cancelLook = undefined
      await server.stop()
    },
  }
}

function openProposals(
  daemon: Pick<Controlled, 'planCommand'>,
  {
    pairingFile,
    logger,
    codesClock = systemClock,
  }: Pick<ServeOptions, 'pairingFile' | 'logger' | 'codesClock'>,
): Proposals {
  const store = createPairingFile(pairingFile)
  return new Proposals({
    daemon,
    clock: codesClock,
    codes: new OneTimeCodes({ store, now: () => codesClock.now() }),
    onNews: (news) => logProposal(news, logger),
  })
}

function logProposal(news: ProposalNews, logger: Pick<DaemonLogger, 'log'>): void {
  if (news.kind === 'locked') {
    const until = new Date(news.until).toISOString()
    return logger.log('error', 'control.codesLocked', { by: news.by, until })
  }
  if (news.kind === 'refused') {
    const { id, by, why } = news
    return logger.log('warn', 'control.notConfirmed', { proposal: id, by, why })
  }
  const { id, order, by, reason, changes } = news.proposal
  const { kind, ...details } = order
  logger.log('warn', 'control.proposed', {
    proposal: id,
    order: kind,
    ...details,
    by,
    reason,
    wouldChange: changes,
  })
}

interface ListeningLog {
  readonly logger: DaemonLogger
  readonly files: TokenFiles
  readonly socket: string
}

function announceListening(server: ControlServer, { logger, files, socket }: ListeningLog): void {
  const { baseUrl } = server
  if (server.socket === undefined && baseUrl === undefined) return
  logger.log('info', 'control.listening', {
    ...(server.socket ? { socket } : {}),
    ...(baseUrl ? { url: baseUrl, token: files.full, readToken: files.read } : {}),
  })
  // The address contains a code, so it must not be in a log that is kept.
  const address = logger.isTerminal ? server.newAddress() : undefined
  if (address) logger.log('info', 'control.dashboard', { url: address })
}

function createRenewalLog(logger: Pick<DaemonLogger, 'log'>): (file: string) => void {
  const advice = 'give the new one to the programs that had a copy, such as Prometheus'
  return (file) => logger.log('warn', 'control.tokenRenewed', { file, advice })
}

function createRefusalLog({
  logger,
  clock,
}: Pick<OpenControlOptions, 'logger' | 'clock'>): (why: string, count: number) => void {
  let [loggedAt, refused] = [Number.NEGATIVE_INFINITY, 0]
  return (why, count) => {
    refused += count
    const now = clock.monotonic()
    if (now - loggedAt < REFUSED_LOGGED_EVERY_MS) return
    logger.log('warn', 'control.refused', { why, sinceLastLogged: refused })
    loggedAt = now
    refused = 0
  }
}

const ANSWERS_FILE = 'control-answers.json'

const answersSchema = z.array(
  z.object({
    digest: z.string(),
    answer: controlAnswerSchema,
    isKept: z.boolean(),
    answeredAt: z.int().optional(),
  }),
)

/** @param onTrouble Without the file, a command repeated after a restart is obeyed again. */
export function createAnswerFile(
  directory: string,
  onTrouble: (reason: string) => void,
): AnswerStore {
  const file = join(directory, ANSWERS_FILE)
  return {
    load() {
      try {
        return answersSchema.parse(parseBoundedJson(readFileSync(file, 'utf8')))
      } catch {
        // The file is missing or of another version. That is bearable: repeated commands change
        // nothing.
        return []
      }
    },
    save(answers) {
      try {
        writeDurably(file, JSON.stringify(answers))
      } catch (error) {
        onTrouble(`${file}: ${messageOf(error)}`)
      }
    },
  }
}
