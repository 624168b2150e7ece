import { processVariables } from '../../config/secrets.ts'
import { type Verb, VERB_POWERS } from '../../control/powers.ts'

export const MIDDLEMAN_VARIABLE = 'INTENTD_MIDDLEMAN'

export type MiddlemanKind = 'agent' | 'chat'

export function middlemanName(): string | undefined {
  return processVariables()[MIDDLEMAN_VARIABLE]
}

/** @returns undefined for an operator at the machine */
export function middlemanKind(): MiddlemanKind | undefined {
  const by = middlemanName()
  if (by === undefined) return undefined
  return by.startsWith('telegram ') ? 'chat' : 'agent'
}

/** @returns undefined if the command is allowed: it only proposes what can add risk */
export function refuseMiddleman(
  [word = '']: readonly string[],
  kind: MiddlemanKind | undefined,
): string | undefined {
  if (kind === undefined) return undefined
  const powers: Readonly<Record<string, (typeof VERB_POWERS)[Verb]>> = VERB_POWERS
  const power = Object.hasOwn(powers, word) ? powers[word] : 'machine'
  if (power !== 'machine' && (power !== 'confirm' || kind === 'chat')) return undefined
  return `${word}: not for ${kind === 'chat' ? 'a chat' : 'an assistant'}: it is given by a person, at the machine`
}
