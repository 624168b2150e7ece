import { resolve } from 'node:path'
import type { Command } from 'commander'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { loadChatToken } from '../../config/chat-token.ts'
import type { Power } from '../../control/powers.ts'
import { messageOf } from '../../lib/failure.ts'
import { objectToScope } from '../operator/operator-command.ts'
import { EXITS } from '../process/exit-codes.ts'
import { openLogger } from '../process/open-logger.ts'
import { print } from '../process/operator.ts'
import { addConfigOptions } from '../process/options.ts'
import { runVerb } from '../process/run-verb.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

export function addChatCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('chat'))
    .description(
      'answer by Telegram, beside the daemon, the people whom `chat` lists: questions, and commands that take risk away',
    )
    .action(async (options: ConfigOptions) => setExit(await chat(options)))
}

async function chat(options: ConfigOptions): Promise<number> {
  const request = toConfigRequest(options)
  const { config } = loadConfig(request)
  if (config.chat === undefined) {
    print('the configuration has no section `chat`: docs/chat.md says what belongs into it')
    return EXITS.configuration
  }
  const { variable, apiUrl } = config.chat
  const token = loadChatToken(config.chat, { ...request, ...options })
  const hide = (text: string): string => text.replaceAll(token.reveal(), '…')
  const logger = openLogger({ level: 'info', name: config.name, aside: false })
  // Loaded here, so that no other command pays for it.
  const { ChatBot } = await import('./chat-bot.ts')
  const file = resolve(request.cwd, request.file)
  const bot = new ChatBot({
    token,
    apiUrl,
    people: toPeople(config.chat),
    configWords: [`--config=${file}`, ...options.set.map((one) => `--set=${one}`)],
    logger,
    run: runVerb,
    objectTo: (scope) => findObjection(scope, options),
    onSilence: (reason) =>
      print(`Telegram does not answer yet, and is asked again until it does: ${hide(reason)}`),
  })
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      isStopping = true
      void bot.stop()
    })
  try {
    await bot.start()
    return 0
  } catch (error) {
    // A stop before it listens interrupts the wait for an answer, which is no error.
    if (isStopping) return 0
    const refused = hide(messageOf(error))
    // Telegram answers 401 or 404 to a wrong token, and 409 while another program polls with it.
    const isUnknown = /\b(?:401|404)\b/.test(refused)
    print(
      isUnknown
        ? `Telegram does not know the token in ${variable}: take the one that @BotFather shows (${refused})`
        : `Telegram refused: ${refused}`,
    )
    return isUnknown ? EXITS.configuration : EXITS.temporary
  }
}

export function toPeople({
  people,
  safer,
  propose,
  powers,
}: Pick<NonNullable<DaemonConfig['chat']>, 'people' | 'safer' | 'propose' | 'powers'>): ReadonlyMap<
  number,
  ReadonlySet<Power>
> {
  return new Map(
    people.map((id) => {
      const own = { safer, propose, ...powers[id] }
      const given = new Set<Power>(['look'])
      if (own.safer) given.add('safer')
      if (own.propose) given.add('riskier')
      return [id, given]
    }),
  )
}

function findObjection(scope: string, options: ConfigOptions): string | undefined {
  try {
    return objectToScope(scope, options)
  } catch {
    return undefined
  }
}
