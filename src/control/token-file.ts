import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { randomHex } from '../lib/entropy.ts'
import { Failure, messageOf } from '../lib/failure.ts'
import { Secret } from '../lib/secret.ts'

const TOKEN_BYTES = 32
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** A group may read it, such as that of Prometheus. */
const OTHERS_BUT_GROUP_READS = 0o037
const TOKEN = /^[\x21-\x7e]{32,512}$/

/** Where the tokens of the control port lie. */
export interface TokenFiles {
  /** For everything. */
  readonly full: string
  /** For looking only. */
  readonly read: string
}

/** The tokens of the control port, for everything and for looking only. */
export interface ControlTokens {
  readonly full: Secret
  readonly read: Secret
}

/**
 * The tokens of the control port; made where there are none.
 * @throws Failure CONTROL_TOKEN_EXPOSED where others may read one, CONTROL_TOKEN_INVALID where it is none,
 * CONTROL_TOKEN_UNREADABLE where it cannot be read or made, CONTROL_TOKENS_EQUAL where the one for looking could command
 */
export function openTokens({ full: fullFile, read: readFile }: TokenFiles): ControlTokens {
  const full = openToken(fullFile, OTHERS)
  const read = openToken(readFile, OTHERS_BUT_GROUP_READS)
  if (full.reveal() !== read.reveal()) return { full, read }
  throw new Failure({
    code: 'CONTROL_TOKENS_EQUAL',
    sentence: 'the token that only looks is the one that commands',
    facts: { tokenFile: fullFile, readTokenFile: readFile },
    hint: 'name two files; remove the second one, and the next start makes it',
  })
}

function openToken(file: string, forbidden: number): Secret {
  try {
    return makeOrReadToken(file, forbidden)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure({
      code: 'CONTROL_TOKEN_UNREADABLE',
      sentence: 'a token of the control port can be neither read nor made',
      facts: { file, reason: messageOf(error) },
      hint: 'make its folder, or the file itself (openssl rand -hex 32), readable by the user of the daemon',
    })
  }
}

function makeOrReadToken(file: string, forbidden: number): Secret {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) {
    writeFileSync(file, `${randomHex(TOKEN_BYTES)}\n`, { mode: OWNER_ONLY, flag: 'wx' })
    chmodSync(file, OWNER_ONLY)
  } else if ((found.mode & forbidden) !== 0 && process.platform !== 'win32') {
    const mode = forbidden === OTHERS ? '600' : '640'
    throw new Failure({
      code: 'CONTROL_TOKEN_EXPOSED',
      sentence: 'a token of the control port can be read by others',
      facts: { file, mode: (found.mode & 0o777).toString(8) },
      hint: `remove it, and the next start makes a new one; or chmod ${mode} ${file} if nobody can have read it`,
    })
  }
  return readToken(file)
}

/** @throws Failure CONTROL_TOKEN_INVALID; whatever reading the file throws */
function readToken(file: string): Secret {
  const text = readFileSync(file, 'utf8').trim()
  if (TOKEN.test(text)) return new Secret(text)
  throw new Failure({
    code: 'CONTROL_TOKEN_INVALID',
    sentence: 'a token of the control port is too short, or no line of printable characters',
    facts: { file },
    hint: 'remove the file: the next start makes one',
  })
}
