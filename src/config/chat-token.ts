import type { Secret } from '../lib/secret.ts'
import type { DaemonConfig } from './load-config.ts'
import { loadSecrets, type SecretsRequest, variableProblem } from './secrets.ts'
import { ConfigError } from './yaml/problem.ts'

/** A token is the number of the bot and a secret of its owner. */
const TOKEN = /^\d+:[\w-]{30,}$/

/** @throws ConfigError if it is missing, unsafe, or has not the form of a bot's token */
export function loadChatToken(
  { variable }: NonNullable<DaemonConfig['chat']>,
  request: SecretsRequest,
): Secret {
  const token = loadSecrets([variable], request).get(variable)
  if (token === undefined) throw new Error('unreachable: a missing secret is a problem')
  if (TOKEN.test(token.reveal())) return token
  const message =
    'expected the token of a bot, as @BotFather gives it: a number, a colon and 30 characters or more'
  throw new ConfigError([variableProblem(variable, message)])
}
