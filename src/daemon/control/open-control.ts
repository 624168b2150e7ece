import { join } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import { AnsweredRequests, type AnswerStore } from '../../control/answered-requests.ts'
import type { Controlled } from '../../control/controlled.ts'
import { ControlServer } from '../../control/control-server.ts'
import { openTokens, type TokenFiles } from '../../control/access/token-file.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { CONTROL_SOCKET } from '../../assembly/state/state-place.ts'
import { DaemonControl, type DaemonControlOptions } from './daemon-control.ts'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { controlAnswerSchema } from '../../control/commands.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const TOKEN_FILE = 'control.token'
const READ_TOKEN_FILE = 'control.read.token'
const REFUSED_LOGGED_EVERY_MS = 60_000
/** How often the socket's file is checked. */
const LOOK_EVERY_MS = 2000

export interface OpenControlOptions extends Omit<DaemonControlOptions, 'isReadOnly'> {
  readonly config: Pick<DaemonConfig, 'control' | 'state'>
  /** The locked state directory. */
  readonly directory: string
  readonly logger: DaemonLogger
}

export function tokenFilesOf({ control, state }: OpenControlOptions['config']): TokenFiles {
  return {
    full: control.tokenFile ?? join(state.directory, TOKEN_FILE),
    read: control.readTokenFile ?? join(state.directory, READ_TOKEN_FILE),
  }
}

export interface OpenedControl {
  start(): Promise<void>
  stop(): Promise<void>
}

/** @throws Failure CONTROL_TOKEN_EXPOSED, CONTROL_TOKEN_INVALID, CONTROL_TOKENS_EQUAL */
export function openControl(options: OpenControlOptions): OpenedControl {
  const control = new DaemonControl({ ...options, isReadOnly: options.config.control.readOnly })
  return serveControl(control, options, control)
}

export type ServeOptions = Pick<
  OpenControlOptions,
  'config' | 'directory' | 'logger' | 'version' | 'clock' | 'timers'
>

export function serveControl(
  control: Controlled,
  options: ServeOptions,
  shown: { start(): void; stop(): void } = { start: () => undefined, stop: () => undefined },
): OpenedControl {
  const { config, directory, logger, version } = options
  const { port, host, readOnly } = config.control
  const files = tokenFilesOf(config)
  const tokens = port === undefined ? undefined : openTokens(files)
  for (const token of tokens ? [tokens.full, tokens.read] : []) logger.hide(token)
  const socket = join(directory, CONTROL_SOCKET)
  const server = new ControlServer({
    daemon: control,
    version,
    readOnly,
    socket,
    answered: new AnsweredRequests(
      createAnswerFile(directory, (reason) => logger.log('error', 'control.failed', { reason })),
    ),
    monotonic: () => options.clock.monotonic(),
    port:
      port === undefined || tokens === undefined
        ? undefined
        : {
            host,
            number: port,
            tokens,
          },
    onRefused: createRefusalLog(options),
    onBroken: (reason) => logger.log('error', 'control.failed', { reason }),
    onUnreachable: (address, reason) =>
      logger.log('warn', 'control.notListening', {
        address,
        reason,
      }),
  })
  let cancelLook: (() => void) | undefined
  const look = (): void => {
    cancelLook = options.timers.after(
      LOOK_EVERY_MS,
      () => void server.look().finally(() => cancelLook && look()),
    )
  }
  return {
    async start() {
      shown.start()
      await server.start()
      look()
      const { baseUrl } = server
      // The failure was logged.
      if (server.socket === undefined && baseUrl === undefined) return
      logger.log('info', 'control.listening', {
        ...(server.socket ? { socket } : {}),
        ...(baseUrl ? { url: baseUrl, token: files.full, readToken: files.read } : {}),
      })
      // The address contains a code, so it goes only to a terminal, not to a log that is kept.
      const address = logger.isTerminal ? server.newAddress() : undefined
      if (address) logger.log('info', 'control.dashboard', { url: address })
    },
    async stop() {
      shown.stop()
      cancelLook?.()
      cancelLook = undefined
      await server.stop()
    },
  }
}

/** Logs the first, then counts. */
function createRefusalLog({
  logger,
  clock,
}: Pick<OpenControlOptions, 'logger' | 'clock'>): (why: string) => void {
  let [loggedAt, refused] = [Number.NEGATIVE_INFINITY, 0]
  return (why) => {
    refused += 1
    const now = clock.monotonic()
    if (now - loggedAt < REFUSED_LOGGED_EVERY_MS) return
    logger.log('warn', 'control.refused', { why, sinceLastLogged: refused })
    loggedAt = now
    refused = 0
  }
}

/** In the state directory. */
const ANSWERS_FILE = 'control-answers.json'

const answersSchema = z.array(
  z.object({ digest: z.string(), answer: controlAnswerSchema, isKept: z.boolean() }),
)

/**
 * @param onTrouble the file cannot be written, so a command repeated after a restart is obeyed
 * again
 */
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
        // The file is missing or from another version. Repeated commands change nothing.
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
